#!/usr/bin/env bash
# Kills servers under load that reach PostgreSQL through PgBouncer in transaction mode.
#
#   scripts/pgbouncer-test.sh COUNT [--servers N] [--seed N]    exit code 1 if anything was lost
#   scripts/pgbouncer-test.sh COUNT --wrong [--seed N]    a server that answers before it commits;
#                                                         exit code 1 if nothing was lost
#
# PgBouncer has two connections to the database for all servers, so that every transaction of a
# server is likely to get another session.
#
# See docs/trials.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case ${1:-} in
'' | *[!0-9]*)
    sed -n '2,5s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
# shellcheck source=scripts/require.sh
. scripts/require.sh
require_packages "$(missing_for_pgbouncer)"

folder=$(mktemp -d)
pooler=
end() {
    [ -z "$pooler" ] || kill "$pooler" 2>/dev/null || true
    scripts/postgres.sh stop "$folder/postgres" || true
    rm -rf "$folder"
}
trap end EXIT
# PostgreSQL and PgBouncer run as another user than root.
chmod 711 "$folder"
scripts/postgres.sh start "$folder/postgres" >/dev/null

mkdir -m 700 "$folder/pooler"
cat >"$folder/pooler/pgbouncer.ini" <<END
[databases]
postgres = host=$folder/postgres user=tideover
[pgbouncer]
listen_addr =
unix_socket_dir = $folder/pooler
listen_port = 6432
auth_type = any
pool_mode = transaction
max_client_conn = 200
default_pool_size = 2
max_db_connections = 2
server_idle_timeout = 1
server_lifetime = 20
logfile = $folder/pooler/log
END
as=()
if [ "$(id -u)" -eq 0 ]; then
    chown -R nobody:nogroup "$folder/pooler"
    as=(setpriv --reuid=nobody --regid=nogroup --clear-groups --)
fi
(cd "$folder/pooler" && exec "${as[@]}" "$(command -v pgbouncer || echo /usr/sbin/pgbouncer)" \
    -q pgbouncer.ini) &
pooler=$!
address="postgres://tideover@/postgres?host=$folder/pooler&port=6432"

sql() {
    psql -X -q -At "$address" -c "$1"
}

for _ in {1..600}; do
    if [ "$(sql 'SELECT 1' 2>/dev/null)" = 1 ]; then break; fi
    sleep 0.1
done
mode=$(psql -X -q -At "postgres://tideover@/pgbouncer?host=$folder/pooler&port=6432" \
    -c "SHOW CONFIG" | sed -n 's/^pool_mode|\([a-z]*\).*/\1/p')
if [ "$mode" != transaction ]; then
    echo "PgBouncer is not in transaction mode: ${mode:-no answer}" >&2
    exit 1
fi
# shellcheck source=scripts/trials.sh
. scripts/trials.sh
timeout --kill-after=10s $((120 + 6 * $1))s "$trials" kill "$@" --postgres "$address" \
    --server "$server"
