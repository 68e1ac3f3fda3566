#!/usr/bin/env bash
# Tests the files of scripts/release.sh: each form is unpacked or installed, and started.
#
#   scripts/release-test.sh FOLDER            as root, on Debian 12
#   scripts/release-test.sh --short FOLDER    without a bare Debian, which needs a mirror
#
# The package is installed into a Debian that mmdebstrap creates. The image runs in its own root,
# without a container engine. Every program has a time limit, listens on loopback, and ends with the
# script.
set -euo pipefail
# The service's user must be able to enter the unpacked folders.
umask 022
root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/require.sh
. "$root/scripts/require.sh"

short=no
if [ "${1:-}" = --short ]; then
    short=yes
    shift
fi
if [ $# -ne 1 ] || [ ! -f "$1/SHA256SUMS" ]; then
    echo "usage: scripts/release-test.sh [--short] FOLDER, as scripts/release.sh made it" >&2
    exit 2
fi
if [ "$(id -u)" -ne 0 ]; then
    say "run this as root: it changes the root folder of what it starts"
    exit 77
fi
if [ "${TIDEOVER_RELEASE_TEST:-}" != inside ]; then
    missing=""
    command -v python3 >/dev/null || missing="python3"
    if [ $short = no ] && ! command -v mmdebstrap >/dev/null; then missing="$missing mmdebstrap"; fi
    require_packages "$missing"
    # Private mounts and processes, which end with the script, and a /proc that shows them: Swift's
    # library of queues reads its own threads there, and ends the process if it finds another's.
    words=("$1")
    if [ $short = yes ]; then words=(--short "$1"); fi
    TIDEOVER_RELEASE_TEST=inside exec timeout --kill-after=10s 15m \
        unshare --mount --propagation private --pid --fork --kill-child --mount-proc \
        "$0" "${words[@]}"
fi
folder=$(realpath "$1")
work=$(mktemp -d "${TMPDIR:-/tmp}/tideover-release-test.XXXXXX")

# shellcheck disable=SC2317 # called by the trap
clean() {
    # Nothing may be mounted in a removed folder.
    for place in "$work"/*/proc "$work"/*/dev; do
        if mountpoint --quiet "$place"; then umount "$place"; fi
    done
    rm -rf "$work"
}
trap clean EXIT

the_file() {
    find "$folder" -maxdepth 1 -type f -name "$1" | grep . || {
        say "$folder has no $1"
        exit 1
    }
}

service_user() {
    sed -n 's/^tideover:[^:]*:\([0-9]*:[0-9]*\):.*/\1/p' "$1/etc/passwd"
}

mount_kernel() {
    mkdir -p "$1/proc" "$1/dev"
    mount -t proc proc "$1/proc"
    mount --bind /dev "$1/dev"
}

# Tests the version, the demo, and a server that answers on loopback and stops.
try_program() {
    local place=$1 log=$work/serve.log server address
    # As the service's user, without this script's variables.
    local tideover=(env --ignore-environment PATH="$PATH" timeout --kill-after=5s 120s
        chroot --userspec="$(service_user "$place")" "$place" /usr/bin/tideover)
    "${tideover[@]}" --version
    "${tideover[@]}" demo --no-serve >"$work/demo.txt"
    "${tideover[@]}" serve --config /etc/tideover/tideover.json >"$log" 2>&1 &
    server=$!
    address=$(wait_for_address "$log") || { cat "$log" >&2; exit 1; }
    python3 - "$address/healthz" <<'PYTHON'
import sys, urllib.request
with urllib.request.urlopen(sys.argv[1], timeout=10) as answer:
    print(sys.argv[1], answer.status)
PYTHON
    kill -TERM "$server"
    wait "$server" || { cat "$log" >&2; exit 1; }
}

wait_for_address() {
    local tries=0
    until grep -oE 'http://127\.0\.0\.1:[0-9]+' "$1"; do
        tries=$((tries + 1))
        [ "$tries" -lt 300 ] || { say "the server never listened"; return 1; }
        sleep 0.1
    done | head -n 1
}

configuration() {
    cat >"$1" <<'JSON5'
{
  server: { listen: "127.0.0.1:0" },
  storage: "sqlite:/var/lib/tideover/tideover.db",
  apps: [{ id: "cards", environments: ["sandbox"], appStore: { bundleId: "com.example.cards" } }],
}
JSON5
    chmod 0644 "$1"
}

try_checksums() {
    (cd "$folder" && sha256sum --check --quiet --strict SHA256SUMS)
}

# The bill of materials must contain each library that the program names, and Swift.
try_bill() {
    PYTHONPATH=$root/scripts python3 - "$(the_file '*-sbom.cdx.json')" "$1" <<'PYTHON'
import json, sys
from release_packages import needed_names, owners, shared_libraries
bill, program = json.load(open(sys.argv[1])), sys.argv[2]
assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.5")
versions = {part["name"]: part["version"] for part in bill["components"]}
direct = " ".join(bill["dependencies"][0]["dependsOn"])
owned = {path.name: package for path, package in owners(shared_libraries(program)).items()}
for name in needed_names(program):
    package = owned[name].split(":")[0]
    assert versions.get(package), f"{package} ({name}) is not listed"
    assert f"/{package.replace('+', '%2B')}@" in direct, f"{package} is no dependency"
assert versions["swift"] and "swift@" in direct
references = [part["bom-ref"] for part in bill["components"]]
assert len(references) == len(set(references))
print(f"{len(versions)} components:", ", ".join(f"{n} {v}" for n, v in sorted(versions.items())))
PYTHON
}

try_tarball() {
    mkdir "$work/tar"
    tar --extract --gzip --file "$(the_file '*-linux-*.tar.gz')" --directory "$work/tar" \
        --strip-components=1
    "$root/scripts/check-program.sh" "$work/tar/usr/bin/tideover"
    "$work/tar/usr/bin/tideover" --version
    "$work/tar/usr/bin/tideover" sandbox run \
        "$work/tar/usr/share/tideover/Scenarios/app-store-recovered-in-grace.json5" >/dev/null
    test -s "$work/tar/tideover.service"
    try_bill "$work/tar/usr/bin/tideover"
}

# Reads the image as engines do: by its index, then layer by layer.
try_image() {
    mkdir "$work/layout" "$work/image"
    tar --extract --file "$(the_file '*-image-*.tar')" --directory "$work/layout"
    python3 - "$work/layout" "$work/image" <<'PYTHON'
import gzip, hashlib, json, pathlib, sys, tarfile
layout, root = map(pathlib.Path, sys.argv[1:])
def blob(part):
    content = (layout / "blobs" / part["digest"].replace(":", "/")).read_bytes()
    digest = "sha256:" + hashlib.sha256(content).hexdigest()
    assert (digest, len(content)) == (part["digest"], part["size"]), part
    return content
(entry,) = json.loads((layout / "index.json").read_bytes())["manifests"]
manifest = json.loads(blob(entry))
config = json.loads(blob(manifest["config"]))
(old,) = json.loads((layout / "manifest.json").read_bytes())
assert old["Config"].endswith(manifest["config"]["digest"].split(":")[1])
assert config["config"]["User"] == "990:990"
for part, wanted in zip(manifest["layers"], config["rootfs"]["diff_ids"], strict=True):
    content = blob(part)
    assert "sha256:" + hashlib.sha256(gzip.decompress(content)).hexdigest() == wanted
    with tarfile.open(layout / "blobs" / part["digest"].replace(":", "/")) as tar:
        tar.extractall(root)
PYTHON
    mount_kernel "$work/image"
    configuration "$work/image/etc/tideover/tideover.json"
    try_program "$work/image"
    test -s "$work/image/var/lib/tideover/tideover.db"
}

# Checks the package's contents without installing it.
try_package_file() {
    local package
    package=$(the_file '*.deb')
    dpkg-deb --contents "$package" >"$work/contents"
    for path in ./usr/bin/tideover ./etc/tideover/ ./usr/lib/systemd/system/tideover.service \
        ./usr/share/man/man1/tideover.1.gz ./usr/share/doc/tideover/copyright; do
        grep -q " root/root .* $path\$" "$work/contents" || { say "no $path"; exit 1; }
    done
    dpkg-deb --field "$package" Package Version Architecture Depends
    # A file, because `grep -q` ends at the first match, and a writer to its pipe may fail then.
    dpkg-deb --fsys-tarfile "$package" \
        | tar --extract --to-stdout ./usr/lib/systemd/system/tideover.service >"$work/unit"
    grep -q '^ExecStart=/usr/bin/tideover serve ' "$work/unit"
}

# Runs a command in the bare Debian, as root.
in_debian() {
    DEBIAN_FRONTEND=noninteractive timeout --kill-after=5s 300s chroot "$work/debian" "$@"
}

# Installs the package with apt into the smallest Debian, uses it, reinstalls it, and removes it.
try_package() {
    local place=$work/debian config=$work/debian/etc/tideover/tideover.json
    mmdebstrap --quiet --variant=apt --mode=root bookworm "$place" >&2
    # Packages come from this machine's sources.
    rm -f "$place/etc/apt/sources.list"
    cp -R /etc/apt/sources.list* /etc/apt/apt.conf.d "$place/etc/apt/"
    mount_kernel "$place"
    install -m 644 "$(the_file '*.deb')" "$place/tideover.deb"
    in_debian apt-get -q update >&2
    in_debian apt-get -q install -y --no-install-recommends /tideover.deb >&2
    test "$(in_debian stat --format=%a:%U:%G /etc/tideover)" = 750:root:tideover
    test "$(in_debian stat --format=%a:%U:%G /var/lib/tideover)" = 700:tideover:tideover
    test ! -e "$config"
    in_debian gzip --test /usr/share/man/man1/tideover.1.gz
    configuration "$config"
    cp "$config" "$work/before"
    try_program "$place"
    in_debian apt-get -q install -y --reinstall /tideover.deb >&2
    cmp "$work/before" "$config"
    in_debian apt-get -q purge -y tideover >&2
    cmp "$work/before" "$config"
    test ! -e "$place/usr/bin/tideover"
    test -s "$place/var/lib/tideover/tideover.db"
}

say "checksums"
try_checksums
say "the tarball"
try_tarball
say "the package as a file"
try_package_file
say "the image, in its own root"
try_image
if [ $short = no ]; then
    say "the package, in a bare Debian"
    try_package
fi
say "everything in $folder installs, answers and stops"
