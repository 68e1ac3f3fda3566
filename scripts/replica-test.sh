#!/usr/bin/env bash
# Checks reads from a PostgreSQL replica that falls behind, is lost and returns.
#
#   scripts/replica-test.sh    exit code 1 if an answer lacked what it had to have
#
# Both PostgreSQL servers and the Tideover server are on loopback. It takes a minute.
#
# See docs/trials.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ $# -gt 0 ]; then
    sed -n '2,4s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
fi
# shellcheck source=scripts/require.sh
. scripts/require.sh
require_packages "$(missing_for_postgres)"
program=${TIDEOVER_BINARY:-}
if [ -z "$program" ]; then
    swift build --product tideover >&2
    program=.build/debug/tideover
fi

folder=$(mktemp -d)
end() {
    [ ! -e "$folder/pair" ] || python3 -B scripts/failover_pair.py stop "$folder/pair" || true
    rm -rf "$folder"
}
trap end EXIT
# PostgreSQL runs as another user than root.
chmod 711 "$folder"
python3 -B scripts/failover_pair.py start "$folder/pair" >/dev/null
python3 -B scripts/replica_test.py "$folder/pair" "$(readlink -f "$program")"
