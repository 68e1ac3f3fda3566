#!/bin/sh
# Checks the recipes of docs/mirror.md with a real PostgreSQL.
#
#   scripts/mirror-test.sh [SEED]    1 by default; it decides the order of deliveries
#
# Starts a PostgreSQL of its own in a temporary directory, reachable by a socket there only. Plays
# a story in the simulated stores against a Tideover server, on loopback, and delivers the server's
# webhooks to the receivers of Examples/Mirror: in order, and also doubled, late and shuffled. After
# each step every row must equal the server's answer. The last line is
# `failures: N, steps: N, rows: N, deliveries: N`.
#
# The Supabase function is compiled with its types checked, and run by Node with the two members of
# Deno that it uses (scripts/edge_function.mjs). Its calls of /rest/v1/rpc are answered from the
# same PostgreSQL, in the role `service_role`.
#
# TIDEOVER_BINARY names a built program, otherwise it is built.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
# shellcheck source=scripts/require.sh
. "$root/scripts/require.sh"

cd "$root"
require_program
require_packages "$(missing_for_mirror)"
programs=$(find /usr/lib/postgresql -path '*/bin/postgres' | sort -V | tail -n 1)
programs=${programs%/postgres}

folder=$(mktemp -d)
database=$folder/postgres
stop() {
    if [ -e "$database/data/postmaster.pid" ]; then
        as_owner "$programs/pg_ctl" -D "$database/data" -m immediate -w -t 30 stop >/dev/null
    fi
    rm -rf "$folder"
}

# PostgreSQL refuses to run as root.
as_owner() {
    if [ "$(id -u)" -eq 0 ]; then
        (cd / && setpriv --reuid=nobody --regid=nogroup --clear-groups -- env HOME="$database" "$@")
    else
        "$@"
    fi
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

chmod 711 "$folder"
mkdir -m 700 "$database"
[ "$(id -u)" -ne 0 ] || chown nobody:nogroup "$database"
as_owner "$programs/initdb" -D "$database/data" --username=mirror --auth=trust --encoding=UTF8 \
    --no-sync >"$folder/initdb.log" || {
    cat "$folder/initdb.log" >&2
    exit 1
}
as_owner "$programs/pg_ctl" -D "$database/data" -l "$database/log" -w -t 60 start \
    -o "-c listen_addresses= -c unix_socket_directories=$database -c fsync=off" >/dev/null || {
    cat "$database/log" >&2
    exit 1
}

tsc --strict --target es2022 --module es2022 --lib es2022,dom --outDir "$folder/compiled" \
    scripts/edge_function.d.ts Examples/Mirror/supabase/functions/tideover/index.ts
mv "$folder/compiled/index.js" "$folder/compiled/index.mjs"

PGHOST=$database PGUSER=mirror PYTHONPATH=$root/Clients/python/src timeout 600 \
    /usr/bin/python3 -B scripts/mirror_test.py \
    "$program" "$folder/compiled/index.mjs" "${1:-1}"
