#!/bin/sh
# Compares Apple's own library for Python with `tideover inspect` on valid and on changed data.
#
#   scripts/compare-apple.sh [INPUTS [SEED]]    by default 2400 inputs of seed 1
#   scripts/compare-apple.sh --planted          checks that faults are found: see below
#
# Half of the inputs have a certificate that was changed and then signed again by the right issuer.
# The last line is `looser: N`. The script fails if Tideover accepts an input that Apple's library
# rejects, or if both decode a value differently. It also fails if Tideover rejects an input that
# Apple's library accepts, without a reason on the list in compare_apple.py. The library comes from
# PyPI into .build/compare. TIDEOVER_BINARY names a built program, otherwise one is built.
#
# --planted changes Tideover's answers before the comparison: one run accepts a class of inputs that
# Tideover rejected, another changes a decoded date. It succeeds if both comparisons fail.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
# shellcheck source=scripts/require.sh
. "$root/scripts/require.sh"
# shellcheck source=scripts/apple.sh
. "$root/scripts/apple.sh"

require_packages "$(missing_for_apple)"
cd "$root"
require_program
require_apple

compare() {
    # shellcheck disable=SC2154 # require_apple sets it
    "$python" -B scripts/compare_apple.py --binary "$program" "$@"
}

# A comparison with a planted fault must fail, and its report must contain this line.
find_planted() {
    if report=$(compare --inputs 400 --planted "$1") || ! echo "$report" | grep "$2"; then
        echo "not found: the planted $1"
        exit 1
    fi
}

if [ "${1:-}" = --planted ]; then
    find_planted verdict '^looser: [1-9]'
    find_planted value '^unequal: [1-9]'
    echo "both planted faults were found"
    exit 0
fi
compare --inputs "${1:-2400}" --seed "${2:-1}"
