#!/usr/bin/env bash
# Kills the primary of a PostgreSQL pair under load repeatedly, and promotes its replica.
#
#   scripts/failover-test.sh [COUNT] [--remote-apply] [--seed N]   exit code 1 if anything was lost
#   scripts/failover-test.sh [COUNT] --wrong [--seed N]            a replica that was cut off;
#                                                                  exit code 1 if nothing was lost
#   scripts/failover-test.sh [COUNT] --restart [--wrong] [--seed N]
#                                                    starts it again instead, for three servers;
#                                                    --wrong: commits do not wait for its disk
#
# Ten times by default. Both PostgreSQL servers and the Tideover servers are on loopback.
#
# See docs/trials.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

count=10
case ${1:-} in
-* | '') ;;
*[!0-9]*)
    sed -n '2,11s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
*)
    count=$1
    shift
    ;;
esac
pair=() fault=fail-over planted=lose servers=2 passed=()
for word in "$@"; do
    case $word in
    --remote-apply) pair+=("$word") ;;
    --restart) pair+=(--alone) fault=restart planted=forget servers=3 ;;
    --wrong) passed+=(--lossy) ;;
    *) passed+=("$word") ;;
    esac
done
if [[ " ${passed[*]} " == *" --lossy "* ]]; then fault=$planted; fi
# shellcheck source=scripts/require.sh
. scripts/require.sh
require_packages "$(missing_for_postgres)"
# shellcheck source=scripts/trials.sh
. scripts/trials.sh

folder=$(mktemp -d)
end() {
    [ ! -e "$folder/pair" ] || python3 -B scripts/failover_pair.py stop "$folder/pair" || true
    rm -rf "$folder"
}
trap end EXIT
# PostgreSQL runs as another user than root.
chmod 711 "$folder"
address=$(python3 -B scripts/failover_pair.py start "$folder/pair" "${pair[@]}")
addresses=()
for ((number = 0; number < servers; number++)); do addresses+=("$address"); done
# A round takes a few seconds, most of them for the new replica.
timeout --kill-after=10s $((120 + 40 * count))s "$trials" outages "$count" \
    --postgres "${addresses[*]}" --audit "$address" --server "$server" "${passed[@]}" \
    --fault "python3 -B $PWD/scripts/failover_pair.py $fault $folder/pair"
