#!/usr/bin/env bash
# Injects one fault at a time into a server, and prints the result of each.
#
#   scripts/fault-trials.sh [NAME...]           all in about four minutes; times are judged
#   scripts/fault-trials.sh --short [NAME...]   a few seconds each; times are only printed
#
# File systems are mounted in a private namespace. Without the permission, those trials are skipped,
# and the script reports it. See docs/trials.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# shellcheck source=scripts/trials.sh
. scripts/trials.sh
own_mounts=(unshare --mount --propagation private)
command=("$trials" faults --server "$server")
if "${own_mounts[@]}" true 2>/dev/null; then
    command=("${own_mounts[@]}" "${command[@]}" --may-mount)
fi
exec timeout --kill-after=10s 15m "${command[@]}" "$@"
