#!/usr/bin/env bash
# Kills a server repeatedly during a backfill from a simulated App Store. Checks for lost data,
# duplicated work and requests above the rate limit.
#
#   scripts/kill-backfill.sh COUNT [--seed N]           exit code 1 if any was found
#   scripts/kill-backfill.sh COUNT --wrong [--seed N]   a server that skips requests; exit code 1
#                                                       if nothing was found
#
# See docs/trials.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case ${1:-} in
'' | *[!0-9]*)
    echo "usage: scripts/kill-backfill.sh COUNT [--wrong] [--seed N]" >&2
    exit 2
    ;;
esac
# shellcheck source=scripts/trials.sh
. scripts/trials.sh
# A kill takes a second or two, and the work after the last one less than a minute.
exec timeout --kill-after=10s $((180 + 5 * $1))s "$trials" backfill "$@" --server "$server"
