#!/usr/bin/env bash
# Fuzzes the parsers of external data.
#
#   scripts/fuzz.sh smoke [--built]             every fuzzer some seconds, and the canaries
#   scripts/fuzz.sh NAME SECONDS [FOLDER...]    one fuzzer; inputs in the folders are tried too
#   scripts/fuzz.sh all SECONDS                 every fuzzer, one for each core at a time
#   scripts/fuzz.sh NAME FILE                   one input again, such as one that was found
#   scripts/fuzz.sh list                        the names
#   scripts/fuzz.sh build [FLAGS...]            only builds, for `smoke --built` afterwards
#
# The exit code is 1 if a fault was found, or if a canary's planted fault was not. Failing inputs
# stay in .build/fuzzing/found/NAME, and the corpus for the next run in .build/fuzzing/NAME/corpus.
# See docs/fuzzing.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

work=$PWD/.build/fuzzing
binary=.build/fuzz/release/TideoverFuzz
# A smoke run is short, because CI has two cores and other checks to run.
smoke_seconds=3
# It also starts from the same number each time, so that a change is not refused for an older
# fault that it does not touch. `all` and single runs start from another number each time.
smoke_seed=-seed=1
canary_seconds=240
# The time limit of one input, in seconds on a busy machine.
patience=10
export SWIFT_BACKTRACE=enable=no
export LSAN_OPTIONS="suppressions=$PWD/scripts/lsan.supp:print_suppressions=0"
export TIDEOVER_FUZZ_ORIGINALS=$work/originals.json

usage() {
    sed -n 's/^#   \(scripts.*\)/\1/p' "$0" >&2
    exit 2
}

build() {
    TIDEOVER_FUZZ=1 swift build --configuration release --product TideoverFuzz \
        --scratch-path .build/fuzz --sanitize=address "$@" >&2
    mkdir -p "$work/found"
    TIDEOVER_FUZZ_PREPARE=$work "$binary"
}

names() { TIDEOVER_FUZZ_LIST=1 "$binary"; }

# Runs one fuzzer for some seconds. Its output and its final statistics go to its log.
run() {
    local name=$1 seconds=$2 log=$work/$1.log words=()
    shift 2
    # libFuzzer rejects an empty dictionary.
    if [ -s "$work/$name/words" ]; then words=(-dict="$work/$name/words"); fi
    mkdir -p "$work/$name/corpus" "$work/found/$name"
    # The limit is longer than the run, for an input that hangs and for the final output.
    TIDEOVER_FUZZER=$name timeout --kill-after=10s $((2 * seconds + 60))s "$binary" \
        -max_total_time="$seconds" -timeout=$patience -rss_limit_mb=2048 -print_final_stats=1 \
        -max_len="$(cat "$work/$name/limit")" \
        "${words[@]}" -artifact_prefix="$work/found/$name/" \
        "$work/$name/corpus" "$work/$name/seeds" "$@" >"$log" 2>&1
}

executions() { sed -n 's/^stat::number_of_executed_units: *//p' "$work/$1.log"; }

fuzz() {
    local name=$1 began=$SECONDS
    if run "$@"; then
        echo "$name: $(executions "$name") executions in $((SECONDS - began)) s, nothing found"
    else
        grep -E '^== the promise|ERROR|SUMMARY|Test unit written' "$work/$name.log" >&2 || true
        echo "$name: found something after $(executions "$name") executions; see $work/$name.log" >&2
        return 1
    fi
}

# A canary passes if its fault is found by the mechanism that it tests.
canary() {
    local name=$1 sign=$2 began=$SECONDS
    rm -rf "${work:?}/$name/corpus"
    if run "$name" $canary_seconds || ! grep -q "$sign" "$work/$name.log"; then
        echo "$name: the planted fault was not found, so nothing else would be" >&2
        return 1
    fi
    echo "$name: found after $(executions "$name") executions in $((SECONDS - began)) s, as it must be"
    rm -rf "${work:?}/found/$name"
}

canaries() {
    canary canary-oracle "^== the promise is broken: the canary's own"
    canary canary-memory '^SUMMARY: AddressSanitizer: heap-buffer-overflow'
}

# Runs one fuzzer per core at a time.
fuzz_all() {
    local seconds=$1 name failed=0 running=0 most
    shift
    most=$(nproc)
    while read -r name; do
        case $name in canary-*) continue ;; esac
        if [ "$running" -ge "$most" ]; then
            wait -n || failed=1
            running=$((running - 1))
        fi
        fuzz "$name" "$seconds" "$@" &
        running=$((running + 1))
    done < <(names)
    while [ "$running" -gt 0 ]; do
        wait -n || failed=1
        running=$((running - 1))
    done
    return $failed
}

case ${1:-} in
build)
    shift
    build "$@"
    ;;
smoke)
    # A second build would compile everything again, although nothing has changed.
    [ "${2:-}" = --built ] || build
    canaries
    fuzz_all $smoke_seconds $smoke_seed
    ;;
list)
    build
    names
    ;;
all)
    [ $# -eq 2 ] || usage
    build
    canaries
    fuzz_all "$2"
    ;;
'' | -*) usage ;;
*)
    [ $# -ge 2 ] || usage
    build
    names | grep -x -- "$1" >/dev/null || usage
    case $2 in
    *[!0-9]*)
        TIDEOVER_FUZZER=$1 exec "$binary" -timeout=$patience "$2"
        ;;
    *) fuzz "$@" ;;
    esac
    ;;
esac
