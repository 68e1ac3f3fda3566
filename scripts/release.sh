#!/usr/bin/env bash
# Creates the files of a release: the program as a tarball, as a Debian package and as an image, a
# bill of materials, and checksums.
#
#   scripts/release.sh FOLDER           creates them twice, compares both, and writes FOLDER
#   scripts/release.sh --once FOLDER    creates them once
#
# TIDEOVER_BINARY names a built program, otherwise one is built from this commit. It needs Debian
# 12, the Swift toolchain, dpkg-dev and python3. docs/releasing.md describes each file.
set -euo pipefail
root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/require.sh
. "$root/scripts/require.sh"

runs=2
if [ "${1:-}" = --once ]; then
    runs=1
    shift
fi
if [ $# -ne 1 ] || [ -e "$1" ]; then
    echo "usage: scripts/release.sh [--once] FOLDER, which must not exist yet" >&2
    exit 2
fi
folder=$(realpath -m "$1")
cd "$root"
# Names, order and messages must not depend on the user's settings.
export LC_ALL=C TZ=UTC
umask 022

require_swift
missing=""
command -v dpkg-shlibdeps >/dev/null || missing="dpkg-dev"
command -v python3 >/dev/null || missing="$missing python3"
require_packages "$missing"

commit=$(git rev-parse HEAD)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

fail() {
    say "$*"
    exit 65
}

# Prints the version of this commit's tag; without a tag, one that sorts before the release.
release_version() {
    local source tag
    source=$(sed -n 's/^ *static let version = "\(.*\)"$/\1/p' Sources/tideover/Tideover.swift)
    [ -n "$source" ] || fail "Sources/tideover/Tideover.swift states no version"
    tag=$(git describe --tags --exact-match --match 'v[0-9]*' 2>/dev/null || true)
    if [ -z "$tag" ]; then
        echo "$source~$(date --utc --date="@$SOURCE_DATE_EPOCH" +%Y%m%d).${commit:0:12}"
    elif [ "${tag#v}" != "$source" ]; then
        fail "the tag is $tag, but the program is $source: change Tideover.swift or move the tag"
    elif [ -n "$(git status --porcelain)" ]; then
        fail "the tree differs from $tag: commit or remove the changes"
    else
        echo "$source"
    fi
}

# Prints the program of this commit. CI tests the same build, made together with the tests.
built_program() {
    if [ -z "${TIDEOVER_BINARY:-}" ]; then
        require_packages "$(missing_for_building) $(missing_for_full_check)"
        TIDEOVER_TRIALS=1 TIDEOVER_COMMIT=$commit swift build --configuration release \
            --static-swift-stdlib --scratch-path .build/static --product tideover >&2
        TIDEOVER_BINARY=.build/static/release/tideover
    fi
    realpath "$TIDEOVER_BINARY"
}

# Writes a manual page: the program's own if it has one, otherwise its help texts.
manual() {
    local program=$1 page command
    if page=$("$program" man 2>/dev/null) && [[ $page == .TH* ]]; then
        printf '%s\n' "$page"
        return
    fi
    printf '.TH TIDEOVER 1 "%s" "tideover %s"\n.SH NAME\ntideover \\- entitlement server\n' \
        "$(date --utc --date="@$SOURCE_DATE_EPOCH" +%F)" "$version"
    printf '.SH DESCRIPTION\n.nf\n'
    "$program" --help | roff
    for command in $("$program" --help | sed -n '/^Commands$/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
        printf '.fi\n.SS tideover %s\n.nf\n' "$command"
        "$program" "$command" --help | roff
    done
    printf '.fi\n'
}

roff() {
    sed -e 's/\\/\\e/g' -e "s/^[.']/\\\\\&&/" -e 's/-/\\-/g'
}

# Creates the contents of every form of the release, as installed under /usr.
stage() {
    local usr=$1/usr doc=$1/usr/share/doc/tideover scenarios=$1/usr/share/tideover/Scenarios
    install -D --mode 755 "$work/stripped" "$usr/bin/tideover"
    install -d "$doc/examples" "$scenarios"
    install -m 644 LICENSE "$doc/copyright"
    install -m 644 README.md CHANGELOG.md SECURITY.md "$doc/"
    install -m 644 Examples/tideover.json "$doc/examples/"
    install -m 644 Scenarios/*.json5 Scenarios/README.md "$scenarios/"
}

# Creates a tar archive that depends only on names, modes and contents.
archive() {
    local from=$1
    shift
    tar --create --directory "$from" --sort=name --format=gnu --owner=0 --group=0 --numeric-owner \
        --mtime="@$SOURCE_DATE_EPOCH" "$@"
}

tarball() {
    local tree=$1 out=$2 name=tideover-$version-linux-$machine
    mv "$tree" "$work/$name"
    install -D -m 644 Packaging/tideover.service "$work/$name/tideover.service"
    archive "$work" "$name" | gzip --no-name >"$out/$name.tar.gz"
    rm -r "${work:?}/$name"
}

debian_package() {
    local tree=$1 out=$2 size
    install -d "$tree/etc/tideover" "$tree/usr/lib/systemd/system" "$tree/usr/share/man/man1"
    sed 's,/usr/local/bin/,/usr/bin/,' Packaging/tideover.service \
        >"$tree/usr/lib/systemd/system/tideover.service"
    manual "$program" | gzip --no-name -9 >"$tree/usr/share/man/man1/tideover.1.gz"
    size=$(du --apparent-size --summarize --block-size=1K "$tree" | cut -f1)
    install -d "$tree/DEBIAN"
    install -m 755 Packaging/debian/* "$tree/DEBIAN/"
    (cd "$tree" && find usr etc -type f -print0 | sort -z | xargs -0 md5sum) >"$tree/DEBIAN/md5sums"
    cat >"$tree/DEBIAN/control" <<CONTROL
Package: tideover
Version: $version
Architecture: $architecture
Maintainer: The Tideover contributors
Section: web
Priority: optional
Installed-Size: $size
Depends: $(dependencies "$tree/usr/bin/tideover"), ca-certificates, passwd
Description: entitlement server for subscription apps
 Answers whether a customer may use something right now, until when, and why,
 from what the App Store and Google Play have signed. It also rehearses any
 back end against simulated stores.
CONTROL
    find "$tree" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --root-owner-group -Zgzip -z6 --build "$tree" "$out/tideover_${version}_$architecture.deb" \
        >&2
}

# Prints the libraries that the program needs, from Debian's symbol files.
dependencies() {
    mkdir -p "$work/shlibs/debian"
    printf 'Source: tideover\n\nPackage: tideover\nArchitecture: any\n' >"$work/shlibs/debian/control"
    (cd "$work/shlibs" && dpkg-shlibdeps --warnings=0 -O "$1") | sed -n 's/^shlibs:Depends=//p'
}

make_files() {
    local out=$1
    mkdir -p "$out"
    stage "$work/tar"
    tarball "$work/tar" "$out"
    stage "$work/deb"
    debian_package "$work/deb" "$out"
    stage "$work/image"
    python3 scripts/release_image.py "$work/image" "$out/tideover-$version-image-$machine.tar" \
        --version "$version" --commit "$commit" --architecture "$architecture"
    python3 scripts/release_sbom.py "$program" "$out/tideover-$version-sbom.cdx.json" \
        --version "$version" --commit "$commit" --architecture "$architecture"
    rm -r "$work/deb" "$work/image"
    (cd "$out" && sha256sum -- * >"$work/sums" && mv "$work/sums" SHA256SUMS)
}

work=$(mktemp -d "${TMPDIR:-/tmp}/tideover-release.XXXXXX")
trap 'rm -rf "$work"' EXIT
version=$(release_version)
program=$(built_program)
machine=$(uname -m)
architecture=$(dpkg --print-architecture)
says=$("$program" --version)
case $says in
"tideover ${version%%~*}" | "tideover ${version%%~*} (${commit:0:12})") ;;
*) fail "$program is '$says', but this commit is $version: build it again" ;;
esac

strip -o "$work/stripped" "$program"

for ((run = 1; run <= runs; run++)); do make_files "$work/run$run"; done
if [ "$runs" -eq 2 ]; then
    diff --recursive "$work/run1" "$work/run2" \
        || fail "two runs made different files: the release cannot be reproduced"
    say "two runs made the same bytes"
fi
mkdir -p "$(dirname "$folder")"
cp -R "$work/run1" "$folder"
cat "$folder/SHA256SUMS"
