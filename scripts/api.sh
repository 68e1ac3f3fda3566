#!/usr/bin/env bash
# Compares the public API of the library products with docs/api/*.txt.
#
#   scripts/api.sh [SCRATCH]           fail if a declaration was removed, changed or not recorded
#   scripts/api.sh --write [SCRATCH]   record the current declarations
#
# SCRATCH contains a finished build; .build by default. A removed or changed line is a
# breaking change for apps. The files list what Linux compiles: declarations of Apple platforms
# alone, such as the views of TideoverKit, are absent.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mode=check
if [ "${1:-}" = --write ]; then
    mode="write"
    shift
fi
scratch=${1:-.build}
compiled=$scratch/debug/Modules
[ -d "$compiled" ] || compiled=$scratch/release/Modules
if [ ! -d "$compiled" ]; then
    echo "There is no build in $scratch. Make one with: swift build" >&2
    exit 66
fi
toolchain=$(dirname "$(readlink -f "$(command -v swift)")")
symbols=$(mktemp -d)
trap 'rm -rf "$symbols"' EXIT
imports=(-I "$compiled")
for headers in Sources/CTideover*; do
    imports+=(-I "$headers")
done
for module in TideoverCore TideoverKit TideoverSandbox; do
    "$toolchain/swift-symbolgraph-extract" -module-name "$module" "${imports[@]}" \
        -target "$(uname -m)-unknown-linux-gnu" -minimum-access-level public \
        -skip-synthesized-members -output-dir "$symbols" >/dev/null
    python3 scripts/api.py "$mode" "$symbols" "$module"
done
