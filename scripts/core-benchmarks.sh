#!/usr/bin/env bash
# Measures the cost of a standing, a timeline and a report, and its growth with the history.
#
#   scripts/core-benchmarks.sh                    about two minutes, on an idle machine
#   scripts/core-benchmarks.sh --chart FILE.svg   also draws the growth
#
# Builds the core only. docs/performance.md has the results.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

TIDEOVER_BENCHMARKS=1 swift build --configuration release --product TideoverCoreBenchmarks >&2
exec "$(TIDEOVER_BENCHMARKS=1 swift build --configuration release --show-bin-path)/TideoverCoreBenchmarks" \
    measure "$@"
