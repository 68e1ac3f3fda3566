"""Writes the provenance of packed clients as an in-toto statement, or checks one.

    pack_provenance.py FOLDER --commit C [--modified]    writes FOLDER/provenance.intoto.json
    pack_provenance.py FOLDER --check                    exits with 1 if a package differs from it

The predicate is SLSA provenance, version 1. The statement is not signed: it names what was packed
from what, and proves nothing to who does not trust the folder. Sign it before publication.
"""

import argparse
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
from datetime import datetime, timezone

NAME = "provenance.intoto.json"
TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://slsa.dev/provenance/v1"
TOOLS = {
    "node": ("node", "--version"),
    "typescript": ("tsc", "--version"),
    "python": ("/usr/bin/python3", "--version"),
    "setuptools": ("/usr/bin/python3", "-c", "import setuptools; print(setuptools.__version__)"),
}


def subjects(folder):
    files = [file for file in folder.iterdir() if re.search(r"\.(tgz|whl|tar\.gz)$", file.name)]
    return [
        {"name": file.name, "digest": {"sha256": hashlib.sha256(file.read_bytes()).hexdigest()}}
        for file in sorted(files)
    ]


def version(command):
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return re.search(r"\d+(\.\d+)+\S*", text).group()


def statement(folder, commit, is_modified):
    epoch = int(os.environ["SOURCE_DATE_EPOCH"])
    source = {"uri": "git+file:.", "digest": {"gitCommit": commit}}
    return {
        "_type": TYPE,
        "subject": subjects(folder),
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "buildDefinition": {
                "buildType": "urn:tideover:scripts/pack.sh",
                "externalParameters": {"commit": commit, "modified": is_modified},
                "internalParameters": {
                    "SOURCE_DATE_EPOCH": datetime.fromtimestamp(epoch, timezone.utc).isoformat()
                },
                "resolvedDependencies": [
                    source,
                    *({"name": name, "uri": f"pkg:generic/{name}@{version(command)}"}
                      for name, command in TOOLS.items()),
                ],
            },
            "runDetails": {"builder": {"id": "urn:tideover:unsigned"}},
        },
    }


def differences(folder):
    stated = json.loads((folder / NAME).read_text())
    if (stated["_type"], stated["predicateType"]) != (TYPE, PREDICATE_TYPE):
        return [f"{NAME} is of another type"]
    expected = {subject["name"]: subject["digest"] for subject in stated["subject"]}
    found = {subject["name"]: subject["digest"] for subject in subjects(folder)}
    return [
        f"{name} {'is missing' if name not in found else 'differs from the statement'}"
        if name in expected
        else f"{name} is not in the statement"
        for name in sorted(expected | found)
        if expected.get(name) != found.get(name)
    ]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--commit")
    parser.add_argument("--modified", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.check:
        found = differences(options.folder)
        print("\n".join(found), end="\n" if found else "", file=sys.stderr)
        sys.exit(1 if found else 0)
    if options.commit is None:
        parser.error("--commit is missing")
    text = json.dumps(statement(options.folder, options.commit, options.modified), indent=2)
    (options.folder / NAME).write_text(text + "\n")
    print(options.folder / NAME)


if __name__ == "__main__":
    main()
