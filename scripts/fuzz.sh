#!/usr/bin/env bash
# Fuzzes what reads bytes from outside.
#
#   scripts/fuzz.sh smoke [--built]             every fuzzer some seconds, and the canaries, which must be found
#   scripts/fuzz.sh NAME SECONDS [FOLDER...]    one fuzzer; inputs in the folders are tried too
#   scripts/fuzz.sh all SECONDS                 every fuzzer, one for each core at a time
#   scripts/fuzz.sh NAME FILE                   one input again, such as one that was found
#   scripts/fuzz.sh list                        the names
#   scripts/fuzz.sh build                       only builds, for `smoke --built` afterwards
#
# The exit code is 1 if anything was found. Found inputs stay in .build/fuzzing/found/NAME, what is worth
# starting from the next time in .build/fuzzing/NAME/corpus. docs/fuzzing.md tells more.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

work=$PWD/.build/fuzzing
binary=.build/fuzz/release/TideoverFuzz
# A smoke run is for CI, which has two cores and other things to do.
smoke_seconds=3
canary_seconds=90
# The slowest input that is not a fault, in seconds of a busy machine.
patience=10
export SWIFT_BACKTRACE=enable=no
export LSAN_OPTIONS="suppressions=$PWD/scripts/lsan.supp:print_suppressions=0"
export TIDEOVER_FUZZ_ORIGINALS=$work/originals.json

usage() {
    sed -n 's/^#   \(scripts.*\)/\1/p' "$0" >&2
    exit 2
}

# Both are needed: with --sanitize alone the compiler leaves out what tells libFuzzer how far an input got.
build() {
    TIDEOVER_FUZZ=1 swift build --configuration release --product TideoverFuzz \
        --scratch-path .build/fuzz --sanitize=fuzzer --sanitize=address \
        -Xswiftc -sanitize=fuzzer,address >&2
    mkdir -p "$work/found"
    TIDEOVER_FUZZ_PREPARE=$work "$binary"
}

names() { TIDEOVER_FUZZ_LIST=1 "$binary"; }

# One fuzzer for some seconds. What it says goes to its log; the figures at its end are returned by it.
run() {
    local name=$1 seconds=$2 log=$work/$1.log words=()
    shift 2
    # libFuzzer refuses an empty dictionary.
    if [ -s "$work/$name/words" ]; then words=(-dict="$work/$name/words"); fi
    mkdir -p "$work/$name/corpus" "$work/found/$name"
    # Twice the time is for an input that hangs and for the last words.
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

# A canary is in order when its fault is found, by the part of the machinery that it is about.
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

# One for each core at a time.
fuzz_all() {
    local seconds=$1 name failed=0 running=0 most
    most=$(nproc)
    while read -r name; do
        case $name in canary-*) continue ;; esac
        if [ "$running" -ge "$most" ]; then
            wait -n || failed=1
            running=$((running - 1))
        fi
        fuzz "$name" "$seconds" &
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
    build
    ;;
smoke)
    # A second build compiles it all again, although nothing has changed.
    [ "${2:-}" = --built ] || build
    canaries
    fuzz_all $smoke_seconds
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
