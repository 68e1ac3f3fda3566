#!/bin/sh
# Measures Tideover beside what this machine can do at most; what that needs and is missing is
# installed first.
#
#   scripts/benchmarks.sh                     everything: some minutes, on a machine left alone
#   scripts/benchmarks.sh in-process http     some of: in-process http durable read scale
#   scripts/benchmarks.sh --json --rounds 5   further options go to the benchmarks themselves
#   scripts/benchmarks.sh device              receipts and passes, beside RSA and Ed25519 of OpenSSL
#   scripts/benchmarks.sh simulation          a year of subscribers in the simulated stores
#
# The report is on standard output, everything else on standard error. The exit code is 0 whatever the
# figures are: they are reported, not tested. docs/performance.md says what they mean.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
# shellcheck source=scripts/require.sh
. "$root/scripts/require.sh"

# What loads the servers, what they are compared with, and what keeps each to its core.
missing_for_benchmarks() {
    command -v wrk >/dev/null || echo wrk
    command -v openssl >/dev/null || echo openssl
    command -v taskset >/dev/null || echo util-linux
}

build() {
    # As it is deployed: the runtime inside the executable.
    TIDEOVER_BENCHMARKS=1 swift build --package-path "$root" --configuration release \
        --static-swift-stdlib "$@"
}

require_swift
require_packages "$(missing_for_building) $(missing_for_benchmarks)"
say "building (minutes the first time)"
build --product tideover >&2
build --product TideoverBenchmarks >&2
bin=$(build --show-bin-path)
case ${1:-} in
device)
    # On the core that OpenSSL is measured on.
    exec taskset -c 0 "$bin/TideoverBenchmarks" "$@" --folder "$root/.build"
    ;;
simulation)
    exec taskset -c 0 "$bin/TideoverBenchmarks" "$@"
    ;;
esac
# Databases are made beside the build: /tmp may be memory, which confirms every write at once.
exec "$bin/TideoverBenchmarks" run --tideover "$bin/tideover" --folder "$root/.build" "$@"
