#!/usr/bin/env bash
# Kills a server again and again while it asks a simulated App Store for what it missed, and looks for
# what it lost, did twice or asked too fast.
#
#   scripts/kill-backfill.sh COUNT [--seed N]           exit code 1 if anything was
#   scripts/kill-backfill.sh COUNT --wrong [--seed N]   one that marks as asked what was not; exit code 1
#                                                       if nothing was found
#
# docs/trials.md tells more.
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
# A kill takes a second or two, and what follows the last one less than a minute.
exec timeout --kill-after=10s $((180 + 5 * $1))s "$trials" backfill "$@" --server "$server"
