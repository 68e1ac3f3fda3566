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
# shellcheck source=scripts/apple.sh
. "$root/scripts/apple.sh"

require_packages "$(missing_for_building) $(missing_for_apple)"
cd "$root"
if [ -z "${TIDEOVER_BINARY:-}" ]; then
    swift build --product tideover >&2
    TIDEOVER_BINARY=.build/debug/tideover
fi
require_apple
# shellcheck disable=SC2154 # require_apple sets it
exec "$python" scripts/compare_apple.py --binary "$TIDEOVER_BINARY" --inputs "${1:-2400}" --seed "${2:-1}"
