"""Writes the image of a release: an OCI layout in one tar archive, which `docker load` reads too.

    release_image.py TREE FILE --version V --commit C --architecture A

TREE is what the release installs. The image has it, the shared libraries that its program loads,
the certificates that TLS connections begin with, and nothing else: no shell and no package manager.
The libraries are those of this Debian machine. The result depends on files and SOURCE_DATE_EPOCH.
"""

import argparse
import gzip
import hashlib
import io
import json
import os
import pathlib
import tarfile
from datetime import datetime, timezone

from release_packages import owners, shared_libraries, status_of

EPOCH = int(os.environ["SOURCE_DATE_EPOCH"])
USER = 990
PASSWD = f"""root:x:0:0:root:/root:/usr/sbin/nologin
tideover:x:{USER}:{USER}::/var/lib/tideover:/usr/sbin/nologin
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
"""
GROUP = f"root:x:0:\ntideover:x:{USER}:\nnogroup:x:65534:\n"
RESOLVING = "passwd: files\ngroup: files\nhosts: files dns\n"


class Layer:
    """Files of the image, written in the order of their names."""

    def __init__(self):
        self.entries = {}

    def add(self, name, content=b"", mode=0o644, kind=tarfile.REGTYPE, link="", owner=0):
        entry = tarfile.TarInfo(name)
        entry.type, entry.mode, entry.linkname = kind, mode, link
        entry.uid = entry.gid = owner
        entry.mtime, entry.size = EPOCH, len(content)
        for parent in reversed(pathlib.PurePosixPath(name).parents[:-1]):
            if str(parent) not in self.entries:
                self.folder(str(parent))
        self.entries[name] = (entry, content)

    def folder(self, name, mode=0o755, owner=0):
        self.add(name, mode=mode, kind=tarfile.DIRTYPE, owner=owner)

    def link(self, name, target):
        self.add(name, mode=0o777, kind=tarfile.SYMTYPE, link=target)

    def copy(self, path, name=None):
        path = pathlib.Path(path)
        mode = 0o755 if os.access(path, os.X_OK) else 0o644
        self.add(name or str(path).lstrip("/"), path.read_bytes(), mode)

    def archive(self):
        return archive(self.entries[name] for name in sorted(self.entries))


def archive(entries):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for entry, content in entries:
            tar.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def system_layer(program):
    """The libraries of the program, with the packages that they come from."""
    layer = Layer()
    for name in ("bin", "sbin", "lib", "lib64"):
        layer.folder(f"usr/{name}")
        layer.link(name, f"usr/{name}")
    for name, mode, owner in [
        ("tmp", 0o1777, 0), ("proc", 0o555, 0), ("sys", 0o555, 0), ("dev", 0o755, 0),
        ("etc/tideover", 0o755, 0), ("var/lib/tideover", 0o700, USER),
    ]:  # fmt: skip
        layer.folder(name, mode, owner)
    for name, text in [("passwd", PASSWD), ("group", GROUP), ("nsswitch.conf", RESOLVING)]:
        layer.add(f"etc/{name}", text.encode())
    layer.copy("/usr/lib/os-release")
    layer.link("etc/os-release", "../usr/lib/os-release")
    layer.copy("/etc/ssl/certs/ca-certificates.crt")
    layer.copy("/etc/ssl/openssl.cnf")
    for name, target in [("certs", "/etc/ssl/certs"), ("openssl.cnf", "/etc/ssl/openssl.cnf")]:
        layer.link(f"usr/lib/ssl/{name}", target)
    libraries = shared_libraries(program)
    for path in libraries:
        folder = str(path.parent.resolve()).removeprefix("/usr")
        layer.copy(path, f"usr{folder}/{path.name}")
    for package in sorted({*owners(libraries).values(), "ca-certificates", "openssl"}):
        plain = package.split(":")[0]
        layer.add(f"var/lib/dpkg/status.d/{plain}", status_of(package).encode())
        licence = pathlib.Path(f"/usr/share/doc/{plain}/copyright")
        if licence.is_file():
            layer.add(str(licence).lstrip("/"), licence.read_bytes())
    return layer


def program_layer(tree):
    layer = Layer()
    for path in sorted(tree.rglob("*")):
        if path.is_file():
            layer.copy(path, str(path.relative_to(tree)))
    return layer


class Image:
    """Blobs by digest, as both OCI and `docker load` name them."""

    def __init__(self):
        self.blobs = {}

    def blob(self, content, media):
        digest = hashlib.sha256(content).hexdigest()
        self.blobs[f"blobs/sha256/{digest}"] = content
        kind = f"application/vnd.oci.image.{media}"
        return {"mediaType": kind, "digest": f"sha256:{digest}", "size": len(content)}

    def json(self, value, media):
        return self.blob(encoded(value), media)


def encoded(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def configuration(options, created, layers):
    return {
        "architecture": options.architecture,
        "os": "linux",
        "created": created,
        "config": {
            "User": f"{USER}:{USER}",
            "WorkingDir": "/var/lib/tideover",
            "Entrypoint": ["/usr/bin/tideover"],
            "Cmd": ["serve", "--config", "/etc/tideover/tideover.json"],
            "Env": [
                "PATH=/usr/bin",
                "TIDEOVER_SERVER_LISTEN=0.0.0.0:8080",
                "TIDEOVER_STORAGE=sqlite:/var/lib/tideover/tideover.db",
            ],
            "ExposedPorts": {"8080/tcp": {}},
            "Volumes": {"/var/lib/tideover": {}},
            "StopSignal": "SIGTERM",
            "Labels": {
                "org.opencontainers.image.title": "tideover",
                "org.opencontainers.image.version": options.version,
                "org.opencontainers.image.revision": options.commit,
                "org.opencontainers.image.licenses": "Apache-2.0",
            },
        },
        "rootfs": {
            "type": "layers",
            "diff_ids": ["sha256:" + hashlib.sha256(tar).hexdigest() for tar in layers],
        },
        "history": [
            {"created": created, "created_by": f"tideover {name}"} for name in ("system", "program")
        ],
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tree", type=pathlib.Path)
    parser.add_argument("file", type=pathlib.Path)
    for name in ("--version", "--commit", "--architecture"):
        parser.add_argument(name, required=True)
    options = parser.parse_args()
    created = datetime.fromtimestamp(EPOCH, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    image = Image()
    tars = [
        system_layer(options.tree / "usr/bin/tideover").archive(),
        program_layer(options.tree).archive(),
    ]
    layers = [image.blob(gzip.compress(tar, 6, mtime=0), "layer.v1.tar+gzip") for tar in tars]
    config = image.json(configuration(options, created, tars), "config.v1+json")
    manifest = image.json(
        {
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": config,
            "layers": layers,
        },
        "manifest.v1+json",
    )
    # A tag must not contain `~`.
    name = f"tideover:{options.version.replace('~', '-')}"
    manifest["annotations"] = {
        "org.opencontainers.image.ref.name": name.split(":")[1],
        "io.containerd.image.name": f"docker.io/library/{name}",
    }
    paths = ["blobs/" + part["digest"].replace(":", "/") for part in [config, *layers]]
    files = {
        **image.blobs,
        "oci-layout": encoded({"imageLayoutVersion": "1.0.0"}),
        "index.json": encoded({"schemaVersion": 2, "manifests": [manifest]}),
        # `docker load` reads this file.
        "manifest.json": encoded([{"Config": paths[0], "RepoTags": [name], "Layers": paths[1:]}]),
    }
    outer = Layer()
    for path, content in files.items():
        outer.add(path, content)
    options.file.write_bytes(outer.archive())


if __name__ == "__main__":
    main()
