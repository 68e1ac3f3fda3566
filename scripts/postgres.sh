#!/bin/sh
# Starts and stops a PostgreSQL for tests, with a folder of its own.
#
#   scripts/postgres.sh start FOLDER    prints its address, for TIDEOVER_TEST_POSTGRES
#   scripts/postgres.sh crash FOLDER    ends it as a power cut would, and starts it again
#   scripts/postgres.sh stop FOLDER     stops it and removes the folder
#
# It listens only on a socket in FOLDER, and on loopback if TIDEOVER_POSTGRES_PORT names a port. It
# confirms writes on the disk as PostgreSQL does by default. FOLDER must not exist.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
# shellcheck source=scripts/require.sh
. "$root/scripts/require.sh"

programs=$(find /usr/lib/postgresql -path '*/bin/postgres' 2>/dev/null | sort -V | tail -n 1)
programs=${programs%/postgres}

# PostgreSQL refuses to run as root.
as_owner() {
    if [ "$(id -u)" -eq 0 ]; then
        (cd / && setpriv --reuid=nobody --regid=nogroup --clear-groups -- env HOME="$folder" "$@")
    else
        "$@"
    fi
}

control() {
    as_owner "$programs/pg_ctl" -D "$folder/data" -w -t 60 "$@" >/dev/null
}

listening() {
    if [ -n "${TIDEOVER_POSTGRES_PORT:-}" ]; then
        echo "-c listen_addresses=127.0.0.1 -c port=$TIDEOVER_POSTGRES_PORT"
    else
        echo "-c listen_addresses="
    fi
}

start() {
    control -l "$folder/log" start -o \
        "$(listening) -c unix_socket_directories=$folder -c max_connections=900" || {
        cat "$folder/log" >&2
        exit 1
    }
}

if [ $# -ne 2 ]; then
    sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
    exit 64
fi
folder=$(realpath -m "$2")
case $1 in
start)
    require_packages "$(missing_for_postgres)"
    programs=$(find /usr/lib/postgresql -path '*/bin/postgres' | sort -V | tail -n 1)
    programs=${programs%/postgres}
    mkdir -m 700 "$folder"
    [ "$(id -u)" -ne 0 ] || chown nobody:nogroup "$folder"
    as_owner "$programs/initdb" -D "$folder/data" --username=tideover --auth=trust \
        --encoding=UTF8 --locale=C.UTF-8 --no-sync >/dev/null
    start
    echo "postgres://tideover@/postgres?host=$folder${TIDEOVER_POSTGRES_PORT:+&port=$TIDEOVER_POSTGRES_PORT}"
    ;;
crash)
    control -m immediate stop
    start
    ;;
stop)
    [ ! -e "$folder/data/postmaster.pid" ] || control -m immediate stop
    rm -rf "$folder"
    ;;
*)
    say "unknown command: $1"
    exit 64
    ;;
esac
