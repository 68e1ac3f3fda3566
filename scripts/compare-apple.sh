#!/bin/sh
# Asks Apple's own library for Python and `tideover inspect` about the same signed data, sound and damaged.
#
#   scripts/compare-apple.sh [INPUTS [SEED]]    2400 inputs of seed 1 unless told otherwise
#
# The last line is `looser: N, stricter: N, inputs: N`. It fails where Tideover accepts what Apple's library
# refuses, or refuses what it accepts without a reason on the list in compare_apple.py. The library comes from
# PyPI into .build/compare; TIDEOVER_BINARY names a built program, otherwise one is built.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
# shellcheck source=scripts/require.sh
. "$root/scripts/require.sh"

missing=$(missing_for_building)
command -v python3 >/dev/null || missing="$missing python3"
python3 -c 'import ensurepip' 2>/dev/null || missing="$missing python3-venv"
require_packages "$missing"
cd "$root"
if [ -z "${TIDEOVER_BINARY:-}" ]; then
    swift build --product tideover >&2
    TIDEOVER_BINARY=.build/debug/tideover
fi
python=.build/compare/bin/python
if ! "$python" -c 'import appstoreserverlibrary' 2>/dev/null; then
    python3 -m venv .build/compare
    "$python" -m pip --quiet install 'app-store-server-library==3.1.2' >&2
fi
exec "$python" scripts/compare_apple.py --binary "$TIDEOVER_BINARY" --inputs "${1:-2400}" --seed "${2:-1}"
