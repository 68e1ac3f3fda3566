#!/usr/bin/env bash
# Measures how long writes and reads take when the database is further away.
#
#   scripts/measure-distance.sh [MILLISECONDS...]    of a round trip; 0, 1 and 10 by default
#
# Takes half a minute. Prints the median and the longest of 30 grants and of 30 reads, one after
# another over one connection. The distance is simulated on loopback (scripts/database_proxy.py).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/require.sh
. scripts/require.sh
require_packages "$(missing_for_postgres)"
require_program

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
ends = [socket.socket() for _ in range(3)]
for end in ends:
    end.bind(("127.0.0.1", 0))
    print(end.getsockname()[1])
')
TIDEOVER_POSTGRES_PORT=${ports[0]} scripts/postgres.sh start "$folder/postgres" >/dev/null
if [ $# -eq 0 ]; then set -- 0 1 10; fi
for distance in "$@"; do
    TIDEOVER_PROXY_DELAY=$(python3 -c "print($distance / 2000)") \
        python3 -B scripts/database_proxy.py serve "${ports[@]}" >"$folder/proxy" &
    proxy=$!
    for _ in {1..100}; do
        if [ -s "$folder/proxy" ]; then break; fi
        sleep 0.1
    done
    python3 -B scripts/measure_distance.py "$program" "${ports[1]}" "${ports[2]}" "$distance"
    kill "$proxy"
    wait "$proxy" || true
    : >"$folder/proxy"
done
