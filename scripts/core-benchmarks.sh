#!/usr/bin/env bash
# Measures what thinking costs: standing, timeline and report, and how that grows with the history.
#
#   scripts/core-benchmarks.sh                    about two minutes, on a machine left alone
#   scripts/core-benchmarks.sh --chart FILE.svg   and draws the growth
#
# Only the core is built. docs/performance.md tells what was found.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

TIDEOVER_BENCHMARKS=1 swift build --configuration release --product TideoverCoreBenchmarks >&2
exec "$(TIDEOVER_BENCHMARKS=1 swift build --configuration release --show-bin-path)/TideoverCoreBenchmarks" \
    measure "$@"
