#!/usr/bin/env bash
# Draws where the processor time of durable notifications goes, and prints the shares as a table.
#
#   scripts/flame-graph.sh docs/pictures/durable.svg
#
# It builds a release, sends notifications to `tideover serve` as `scripts/benchmarks.sh durable` does, and
# samples the server for eight seconds. It needs permission to sample other processes: root, or
# kernel.perf_event_paranoid of 1 at most. With TIDEOVER_BINARY and TIDEOVER_BENCHMARKS_BINARY nothing
# is built.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/require.sh
. scripts/require.sh

[ $# -eq 1 ] || {
    echo "usage: scripts/flame-graph.sh FILE.svg" >&2
    exit 2
}

missing_for_samples() {
    command -v wrk >/dev/null || echo wrk
    command -v taskset >/dev/null || echo util-linux
    command -v perf >/dev/null || echo linux-perf
    command -v python3 >/dev/null || echo python3
}

require_swift
require_packages "$(missing_for_building) $(missing_for_samples)"
require_benchmarks

# Next to the build, on a disk: /tmp may be memory.
mkdir -p .build
folder=$(mktemp -d "$PWD/.build/samples-XXXXXX")
trap 'rm -rf "$folder"' EXIT
"$TIDEOVER_BENCHMARKS_BINARY" run --tideover "$TIDEOVER_BINARY" --folder "$folder" durable \
    --rounds 1 --seconds 14 >"$folder/report" 2>&1 &
benchmark=$!

# Prints the server that the benchmark sends to, once the load generator runs.
server_under_load() {
    local child
    for _ in $(seq 300); do
        kill -0 "$benchmark" 2>/dev/null || break
        if pgrep --parent "$benchmark" --exact wrk >/dev/null; then
            child=$(pgrep --parent "$benchmark" --exact tideover) && echo "$child" && return
        fi
        sleep 0.2
    done
    cat "$folder/report" >&2
    return 1
}

server=$(server_under_load)
sleep 3
# Library functions of the system have no frame pointers: stacks are recorded, and unwound afterwards.
perf record --quiet --freq 497 --event cpu-clock --call-graph dwarf,16384 --pid "$server" \
    --output "$folder/perf.data" -- sleep 8
wait "$benchmark"
grep -A 3 '^measured' "$folder/report" >&2
perf script --input "$folder/perf.data" --fields comm,ip,sym,dso 2>/dev/null |
    python3 scripts/flame_graph.py "$1"
