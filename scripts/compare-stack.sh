#!/bin/sh
# Measures the durable intake of App Store notifications beside the usual stack in Python.
#
#   scripts/compare-stack.sh [ROUNDS [SECONDS]]    by default 3 rounds of 5 seconds
#
# Both servers get the same notifications in the same run, on the same cores as the load generator.
# Both verify all three signatures and commit each notification to SQLite before they answer. The
# stack is FastAPI with Uvicorn, one process a core, and Apple's own library for Python. It runs
# twice: as the library comes, which verifies the certificates of each document again, and with a
# memory of verified chains.
#
# The libraries come from PyPI into .build/compare. TIDEOVER_BINARY and TIDEOVER_BENCHMARKS_BINARY name
# built programs, otherwise they are built. If PyPI cannot be reached, it exits with 75.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
# shellcheck source=scripts/require.sh
. "$root/scripts/require.sh"
# shellcheck source=scripts/apple.sh
. "$root/scripts/apple.sh"

missing_for_load() {
    command -v wrk >/dev/null || echo wrk
}

require_packages "$(missing_for_building) $(missing_for_apple) $(missing_for_load)"
cd "$root"
require_benchmarks
require_apple
# shellcheck disable=SC2154 # require_apple sets it
if ! "$python" -c 'import fastapi, uvicorn, httptools, uvloop' 2>/dev/null &&
    ! "$python" -m pip --quiet install fastapi uvicorn httptools uvloop >&2; then
    echo "skipped: FastAPI could not be fetched from PyPI"
    exit 75
fi
program=$(readlink -f "$TIDEOVER_BINARY")
benchmarks=$(readlink -f "$TIDEOVER_BENCHMARKS_BINARY")
unset TIDEOVER_BINARY TIDEOVER_BENCHMARKS_BINARY # the programs read TIDEOVER_* as settings
exec "$python" -B scripts/compare_stack.py "$program" "$benchmarks" "${1:-3}" "${2:-5}"
