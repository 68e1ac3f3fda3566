#!/usr/bin/env bash
# Lets things go wrong for a server one at a time, and prints what came of each.
#
#   scripts/fault-trials.sh [NAME...]           about four minutes for all; times are judged
#   scripts/fault-trials.sh --short [NAME...]   a few seconds each; times are only told
#
# File systems are mounted where nobody else sees them; without the right to, those trials are skipped
# and say so. docs/trials.md tells more.
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
