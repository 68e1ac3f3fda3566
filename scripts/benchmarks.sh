#!/bin/sh
# Measures Tideover relative to this machine's maximum, after installing missing packages.
#
#   scripts/benchmarks.sh                     everything but PostgreSQL: some minutes, on an idle
#                                             machine
#   scripts/benchmarks.sh in-process http     some of: in-process http durable read scale portfolio
#                                             dashboard postgres
#   scripts/benchmarks.sh --json --rounds 5   further options go to the benchmarks themselves
#   scripts/benchmarks.sh device              receipts and passes, relative to OpenSSL's operations
#   scripts/benchmarks.sh simulation          a year of subscribers in the simulated stores
#   scripts/benchmarks.sh growth --customers 1000000
#                                             reads, deadlines and notifications beside those of few
#   scripts/benchmarks.sh growth postgres --customers 1000000
#                                             the same on PostgreSQL
#   scripts/benchmarks.sh vacuum              what notifications leave for PostgreSQL's vacuum
#
# The report is on standard output, everything else on standard error. The exit code is 0 for all
# results: they are reported, not tested. docs/performance.md explains them.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
# shellcheck source=scripts/require.sh
. "$root/scripts/require.sh"

# The load generator, the comparison, the command that binds processes to cores, and the one that
# multiplies customers.
missing_for_benchmarks() {
    command -v wrk >/dev/null || echo wrk
    command -v curl >/dev/null || echo curl
    command -v openssl >/dev/null || echo openssl
    command -v taskset >/dev/null || echo util-linux
    command -v sqlite3 >/dev/null || echo sqlite3
}

build() {
    # As deployed: with the runtime inside the executable.
    TIDEOVER_BENCHMARKS=1 swift build --package-path "$root" --configuration release \
        --static-swift-stdlib "$@"
}

require_swift
require_packages "$(missing_for_building) $(missing_for_benchmarks)"
case " $* " in
*" postgres "* | *" vacuum "*) require_packages "$(missing_for_postgres)" ;;
esac
say "building (minutes the first time)"
build --product tideover >&2
build --product TideoverBenchmarks >&2
bin=$(build --show-bin-path)
case ${1:-} in
device)
    # On the same core as OpenSSL.
    exec taskset -c 0 "$bin/TideoverBenchmarks" "$@" --folder "$root/.build"
    ;;
simulation)
    exec taskset -c 0 "$bin/TideoverBenchmarks" "$@"
    ;;
esac
# Databases are in .build: /tmp may be memory, which confirms every write immediately.
asked=" $* "
if [ "${1:-}" = growth ] && [ "${2:-}" = postgres ]; then
    shift 2
    set -- growth "$@"
fi
case ${1:-} in
growth | vacuum) set -- "$@" --tideover "$bin/tideover" --folder "$root/.build" ;;
*) set -- run --tideover "$bin/tideover" --folder "$root/.build" "$@" ;;
esac
case $asked in
*" postgres "* | *" vacuum "*)
    # Its owner may be another user, who cannot enter every folder.
    folder=$(mktemp -d "$root/.build/postgres-XXXXXX")
    chmod 711 "$folder"
    trap '"$root/scripts/postgres.sh" stop "$folder/data"; rm -rf "$folder"' EXIT
    set -- "$@" --postgres "$("$root/scripts/postgres.sh" start "$folder/data")"
    ;;
esac
"$bin/TideoverBenchmarks" "$@"
