#!/usr/bin/env bash
# Builds the container image from this commit and tests it: it serves, is healthy, and stops.
#
#   scripts/image-test.sh     as root, on Debian 12; some minutes, most of them a release build
#
# No engine and no registry are needed: buildah builds the image. The script creates the
# Dockerfile's two base images from Debian's packages and this machine's Swift toolchain. It removes
# all its files.
set -euo pipefail
root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/require.sh
. "$root/scripts/require.sh"

missing=""
for tool in buildah debootstrap git python3; do
    command -v "$tool" >/dev/null || missing="$missing $tool"
done
require_swift
require_packages "$missing"

work=$(mktemp -d "${TMPDIR:-/tmp}/tideover-image.XXXXXX")
# The folder contains mounts and files of other users; buildah removes its own.
# shellcheck disable=SC2317 # called by the trap
clean() {
    builder rm --all >/dev/null 2>&1 || true
    builder rmi --all --force >/dev/null 2>&1 || true
    rm -rf "$work"
}
trap clean EXIT

# With a separate storage and without daemon or namespaces, it also runs inside containers.
builder() {
    BUILDAH_ISOLATION=chroot buildah --root "$work/storage" --runroot "$work/run" --storage-driver vfs "$@"
}

# Creates a base image: the smallest Debian, with further packages.
base() {
    local name=$1 path=$2 container
    shift 2
    container=$(builder from scratch)
    builder copy --quiet "$container" "$work/debian" / >/dev/null
    builder config --env "PATH=$path" "$container"
    if [ $# -gt 0 ]; then
        builder run "$container" -- apt-get -q update
        builder run "$container" -- apt-get -q install -y --no-install-recommends "$@"
    fi
    builder commit --quiet "$container" "$name" >/dev/null
    builder rm "$container" >/dev/null
}

say "making the images to start from"
paths=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
toolchain=$(dirname "$(dirname "$(readlink -f "$(command -v swift)")")")
debootstrap --variant=minbase bookworm "$work/debian" >"$work/debootstrap.log" \
    || { cat "$work/debootstrap.log" >&2; exit 1; }
# Packages come from this machine's sources.
cp -R /etc/apt/sources.list* /etc/apt/apt.conf.d "$work/debian/etc/apt/"
base docker.io/library/debian:bookworm-slim "$paths" >&2
# The packages that the toolchain's own image contains.
base docker.io/library/swift:6.3-bookworm "$toolchain/bin:$paths" binutils ca-certificates git libc6-dev \
    libgcc-12-dev libncurses6 libpython3.11 libxml2 libz3-4 tzdata zlib1g-dev >&2

say "building the image"
git clone --quiet "$root" "$work/source"
builder bud --pull-never --volume "$toolchain:$toolchain:ro" --format docker \
    --file "$work/source/Packaging/Dockerfile" --tag tideover "$work/source" >&2

say "trying it"
container=$(builder from --pull-never localhost/tideover)
builder copy --quiet "$container" "$root/Examples" /etc/tideover >/dev/null
cat >"$work/try.sh" <<TRY
set -eu
test "\$(id -u)" = 990
tideover --version
cd /var/lib/tideover
tideover serve --config /etc/tideover/tideover.json &
server=\$!
trap 'kill \$server 2>/dev/null' EXIT
check=\$(cat /health.sh)
tries=0
until bash -c "\$check"; do
    tries=\$((tries + 1))
    test \$tries -lt 60 || { echo "it never became healthy" >&2; exit 1; }
    sleep 1
done
kill -TERM \$server
wait \$server
trap - EXIT
test -s tideover.db
TRY
builder inspect "$container" | python3 -c '
import json, sys
print(json.load(sys.stdin)["Docker"]["config"]["Healthcheck"]["Test"][-1])' >"$work/health.sh"
builder copy --quiet "$container" "$work/try.sh" "$work/health.sh" / >/dev/null
builder run --user tideover "$container" -- bash /try.sh
say "the image of $(git -C "$root" rev-parse --short HEAD) builds, serves, is healthy and stops"
