#!/usr/bin/env bash
# Kills a server under load again and again, on one file, and looks for what it lost or did twice.
#
#   scripts/kill-test.sh COUNT [--seed N]           exit code 1 if anything was
#   scripts/kill-test.sh COUNT --wrong [--seed N]   a server that answers before it commits; exit code
#                                                   1 if nothing was found
#
# docs/trials.md tells more.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case ${1:-} in
'' | *[!0-9]*)
    echo "usage: scripts/kill-test.sh COUNT [--wrong] [--seed N]" >&2
    exit 2
    ;;
esac
# shellcheck source=scripts/trials.sh
. scripts/trials.sh
# Three seconds for each is several times what it takes.
exec timeout --kill-after=10s $((120 + 3 * $1))s "$trials" kill "$@" --server "$server"
