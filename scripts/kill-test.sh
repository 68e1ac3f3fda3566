#!/usr/bin/env bash
# Kills a server under load repeatedly, on one file. Checks for lost data and duplicated work.
#
#   scripts/kill-test.sh COUNT [--seed N]           exit code 1 if any was found
#   scripts/kill-test.sh COUNT --wrong [--seed N]   a server that answers before it commits; exit
#                                                   code 1 if nothing was found
#
# With --postgres ADDRESS, in an empty PostgreSQL database (scripts/postgres.sh) instead of a file,
# and with --servers N with several servers on it. With --orderly they are stopped by SIGTERM instead, as
# in a rolling restart.
#
# See docs/trials.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case ${1:-} in
'' | *[!0-9]*)
    echo "usage: scripts/kill-test.sh COUNT [--wrong | --orderly] [--seed N] [--postgres ADDRESS [--servers N]]" >&2
    exit 2
    ;;
esac
# shellcheck source=scripts/trials.sh
. scripts/trials.sh
# Three seconds for each kill is several times its usual duration, also of three servers.
exec timeout --kill-after=10s $((120 + 3 * $1))s "$trials" kill "$@" --server "$server"
