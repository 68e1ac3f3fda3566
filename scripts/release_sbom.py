"""Writes what a program is made of, as CycloneDX 1.5.

    release_sbom.py PROGRAM FILE --version V --commit C --architecture A

Listed are the Debian packages of every shared library that the program loads, with their versions
on this machine, and the Swift toolchain, whose runtime is inside the program.
"""

import argparse
import json
import os
import pathlib
import re
import uuid
from datetime import datetime, timezone
from urllib.parse import quote

from release_packages import fields, needed_names, output, owners, shared_libraries

# Any fixed value works: only this project has names under it.
NAMESPACE = uuid.UUID("5f0f6c1e-52c3-4f0e-9e5c-6b1c1d3c7a10")


def package_component(package):
    name, version, architecture, source, source_version = fields(
        package, "Package", "Version", "Architecture", "source:Package", "source:Version"
    )
    purl = f"pkg:deb/debian/{quote(name, safe='')}@{quote(version, safe='')}"
    return {
        "type": "library",
        "bom-ref": f"{purl}?arch={architecture}&distro=debian-12",
        "name": name,
        "version": version,
        "purl": f"{purl}?arch={architecture}&distro=debian-12",
        "properties": [{"name": "debian:source", "value": f"{source} {source_version}"}],
    }


def swift_component():
    text = output("swift", "--version")
    version = re.search(r"Swift version (\S+)", text).group(1)
    return {
        "type": "framework",
        "bom-ref": f"swift@{version}",
        "name": "swift",
        "version": version,
        "description": "compiler and the runtime that is linked into the program",
        "licenses": [{"license": {"id": "Apache-2.0"}}],
        "purl": f"pkg:generic/swift@{quote(version, safe='')}",
        "properties": [{"name": "swift:version", "value": text.splitlines()[0]}],
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("file", type=pathlib.Path)
    for name in ("--version", "--commit", "--architecture"):
        parser.add_argument(name, required=True)
    options = parser.parse_args()
    owned = owners(shared_libraries(options.program))
    packages = {library.name: package for library, package in owned.items()}
    components = {name: package_component(name) for name in sorted(set(packages.values()))}
    swift = swift_component()
    itself = {
        "type": "application",
        "bom-ref": f"tideover@{options.version}",
        "name": "tideover",
        "version": options.version,
        "licenses": [{"license": {"id": "Apache-2.0"}}],
        "properties": [{"name": "git:commit", "value": options.commit}],
    }
    direct = {components[packages[name]]["bom-ref"] for name in needed_names(options.program)}
    created = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), timezone.utc)
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": uuid.uuid5(NAMESPACE, f"{options.commit} {options.architecture}").urn,
        "version": 1,
        "metadata": {
            "timestamp": created.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": itself,
        },
        "components": [swift, *components.values()],
        "dependencies": [
            {"ref": itself["bom-ref"], "dependsOn": [swift["bom-ref"], *sorted(direct)]}
        ],
    }
    options.file.write_text(json.dumps(bill, indent=2) + "\n")


if __name__ == "__main__":
    main()
