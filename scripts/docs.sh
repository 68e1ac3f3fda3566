#!/usr/bin/env bash
# Creates the documentation of every module with public declarations, and fails on a broken link.
#
#   scripts/docs.sh [SCRATCH]    SCRATCH contains a finished build; .build by default
#
# The result is one archive. To read it, serve the folder and open /documentation:
#
#   python3 -m http.server --directory .build/documentation/tideover.doccarchive 8000
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scratch=${1:-.build}
toolchain=$(dirname "$(readlink -f "$(command -v swift)")")
made=.build/documentation
compiled=$scratch/debug/Modules
[ -d "$compiled" ] || compiled=$scratch/release/Modules
if [ ! -d "$compiled" ]; then
    echo "there is no build in $scratch; make one with: swift build" >&2
    exit 66
fi
rm -rf "$made"
mkdir -p "$made/symbols" "$made/modules"

imports=(-I "$compiled")
for headers in Sources/CTideover*; do
    imports+=(-I "$headers")
done

# Extracts a module's declarations from the build, without a second compilation.
extract() {
    "$toolchain/swift-symbolgraph-extract" -module-name "$1" "${imports[@]}" \
        -target "$(uname -m)-unknown-linux-gnu" -minimum-access-level public \
        -output-dir "$made/symbols/$1"
}

document() {
    local module=$1 catalogue=()
    if [ -d "Sources/$module/$module.docc" ]; then
        catalogue=("Sources/$module/$module.docc")
    fi
    mkdir -p "$made/symbols/$module"
    extract "$module"
    "$toolchain/docc" convert "${catalogue[@]}" \
        --additional-symbol-graph-dir "$made/symbols/$module" \
        --fallback-display-name "$module" --fallback-bundle-identifier "$module" \
        --warnings-as-errors --output-path "$made/modules/$module.doccarchive"
}

count=0
for folder in Sources/Tideover*; do
    if grep -rqE '^ *public ' --include='*.swift' "$folder"; then
        document "$(basename "$folder")"
        count=$((count + 1))
    fi
done
"$toolchain/docc" merge "$made"/modules/*.doccarchive \
    --synthesized-landing-page-name Tideover \
    --synthesized-landing-page-topics-style list --output-path "$made/tideover.doccarchive"
echo "documented $count modules: $made/tideover.doccarchive"
