#!/bin/sh
# Packs the clients for publication: tarballs for npm, a wheel and a source archive for Python.
#
#   scripts/pack.sh [FOLDER]    .build/clients by default
#
# Each tarball contains the `files` of its package.json, and names its commit. Equal sources give
# equal tarballs and wheels. provenance.intoto.json, which is not signed, has their checksums, the
# commit and the tools. The script prints the created files.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
# shellcheck source=scripts/require.sh
. "$root/scripts/require.sh"
require_packages "$(missing_for_clients)"

folder=${1:-$root/.build/clients}
mkdir -p "$folder"
folder=$(CDPATH='' cd -- "$folder" && pwd)
staging=$(mktemp -d)
trap 'rm -rf "$staging"' EXIT
commit=$(git -C "$root" rev-parse HEAD)
SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct)
export SOURCE_DATE_EPOCH

# Prints a member of a package.json; for a list, one element per line.
member() {
    node -p "[].concat(require('$1/package.json')['$2']).join('\n')"
}

pack_package() {
    source=$staging/Clients/typescript/$1
    tsc -p "$source"
    mkdir -p "$staging/$1/package"
    cp "$root/LICENSE" "$staging/$1/package/"
    member "$source" files | while read -r name; do
        [ "$name" = LICENSE ] || cp -R "$source/$name" "$staging/$1/package/"
    done
    node -e "const it = require('$source/package.json'); it.gitHead = '$commit';
        process.stdout.write(JSON.stringify(it, null, 2) + '\n')" >"$staging/$1/package/package.json"
    tarball=$folder/tideover-$1-$(member "$source" version).tgz
    tar -C "$staging/$1" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
        --mode=u+rw,go+r-w -cf - package | gzip -n9 >"$tarball"
    echo "$tarball"
}

# In a copy, so that no files remain among the sources.
cp -R "$root/Clients" "$staging/"
rm -rf "$staging"/Clients/typescript/*/dist
"$staging/Clients/typescript/scripts/modules.sh"
for package in client react react-native node; do
    pack_package "$package"
done

# Debian's Python, because its setuptools needs no registry.
cp "$root/LICENSE" "$staging/Clients/python/"
cd "$staging/Clients/python"
/usr/bin/python3 -c 'from setuptools import build_meta as it
it.build_wheel("dist"); it.build_sdist("dist")' >"$staging/python.log" 2>&1 || {
    cat "$staging/python.log" >&2
    exit 1
}
for file in dist/*; do
    cp "$file" "$folder/"
    echo "$folder/$(basename "$file")"
done
modified=
[ -z "$(git -C "$root" status --porcelain -- Clients LICENSE)" ] || modified=--modified
# shellcheck disable=SC2086 # nothing or one word
/usr/bin/python3 "$root/scripts/pack_provenance.py" "$folder" --commit "$commit" $modified
