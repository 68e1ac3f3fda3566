#!/usr/bin/env bash
# Cuts, stalls and delays the connections of two servers to PostgreSQL, under load.
#
#   scripts/partition-test.sh [COUNT] [--seed N]           exit code 1 if anything was lost
#   scripts/partition-test.sh [COUNT] --wrong [--seed N]   servers that answer before they commit;
#                                                          exit code 1 if nothing was lost
#
# Nine times by default, which is every fault of scripts/database_proxy.py once.
#
# See docs/trials.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

count=9
case ${1:-} in
-* | '') ;;
*[!0-9]*)
    sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
*)
    count=$1
    shift
    ;;
esac
# shellcheck source=scripts/require.sh
. scripts/require.sh
require_packages "$(missing_for_postgres)"
# shellcheck source=scripts/trials.sh
. scripts/trials.sh

folder=$(mktemp -d)
proxy=
end() {
    [ -z "$proxy" ] || kill "$proxy" 2>/dev/null || true
    [ ! -e "$folder/postgres" ] || scripts/postgres.sh stop "$folder/postgres" || true
    rm -rf "$folder"
}
trap end EXIT
# PostgreSQL runs as another user than root.
chmod 711 "$folder"
mapfile -t ports < <(python3 -B -c '
import socket
ends = [socket.socket() for _ in range(4)]
for end in ends:
    end.bind(("127.0.0.1", 0))
    print(end.getsockname()[1])
')
TIDEOVER_POSTGRES_PORT=${ports[0]} scripts/postgres.sh start "$folder/postgres" >/dev/null
python3 -B scripts/database_proxy.py serve "${ports[@]}" >"$folder/proxy" &
proxy=$!
for _ in {1..100}; do
    if [ -s "$folder/proxy" ]; then break; fi
    sleep 0.1
done
address() {
    echo "postgres://tideover@127.0.0.1:$1/postgres"
}
# A round takes its fault, at most 25 seconds, and what the servers need afterwards.
timeout --kill-after=10s $((120 + 60 * count))s "$trials" outages "$count" \
    --postgres "$(address "${ports[2]}") $(address "${ports[3]}")" \
    --audit "$(address "${ports[0]}")" --server "$server" "$@" \
    --fault "python3 -B $PWD/scripts/database_proxy.py fault ${ports[1]}"
