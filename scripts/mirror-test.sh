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

folder=$(mktemp -d)
database=$folder/postgres
stop() {
    "$root/scripts/postgres.sh" stop "$database"
    rm -rf "$folder"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# PostgreSQL runs as another user than root.
chmod 711 "$folder"
"$root/scripts/postgres.sh" start "$database" >/dev/null

tsc --strict --target es2022 --module es2022 --lib es2022,dom --outDir "$folder/compiled" \
    scripts/edge_function.d.ts Examples/Mirror/supabase/functions/tideover/index.ts
mv "$folder/compiled/index.js" "$folder/compiled/index.mjs"

PGHOST=$database PGUSER=tideover PYTHONPATH=$root/Clients/python/src timeout 600 \
    /usr/bin/python3 -B scripts/mirror_test.py \
    "$program" "$folder/compiled/index.mjs" "${1:-1}"
