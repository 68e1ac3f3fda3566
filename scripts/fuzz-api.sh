#!/bin/sh
# Fuzzes every route of a built server with Schemathesis, by its own /openapi.json, over loopback.
#
#   scripts/fuzz-api.sh             60 seconds
#   scripts/fuzz-api.sh SECONDS     at least 20
#
# The last line is `held: N of N`. Schemathesis comes from PyPI into .build/fuzz-api. If it or
# Python is not available, the script reports it and exits with 75 (neither passed nor failed).
# TIDEOVER_BINARY names a built program, otherwise one is built. Logs stay in .build/fuzz-api/logs.
# See docs/fuzzing.md.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
# shellcheck source=scripts/require.sh
. "$root/scripts/require.sh"

seconds=${1:-60}
case $seconds in
'' | *[!0-9]*)
    echo "usage: scripts/fuzz-api.sh [SECONDS]" >&2
    exit 2
    ;;
esac
if [ "$seconds" -lt 20 ]; then seconds=20; fi
cd "$root"
if ! python3 -c 'import ensurepip' 2>/dev/null; then
    echo "skipped: python3 with python3-venv is not installed"
    exit 75
fi
python=.build/fuzz-api/bin/python
if ! "$python" -c 'import schemathesis' 2>/dev/null; then
    python3 -m venv .build/fuzz-api
    if ! "$python" -m pip --quiet install 'schemathesis==4.32.5' >&2; then
        echo "skipped: Schemathesis could not be fetched from PyPI"
        exit 75
    fi
fi
require_program
# The limit is twice the time plus three minutes, for the start, the replays and the restart.
exec timeout --kill-after=10s $((2 * seconds + 180))s \
    "$python" -B scripts/fuzz_api.py "$program" "$seconds" .build/fuzz-api/logs
