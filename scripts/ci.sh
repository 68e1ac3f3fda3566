#!/usr/bin/env bash
# Everything that must hold, step by step, each with its duration.
#
#   scripts/ci.sh fast    format, build without warnings, tests: before each commit
#   scripts/ci.sh full    also scripts, PostgreSQL, documentation, sanitizers, fuzzers, and the
#                         release build with a smoke test and short trials
#
# It installs nothing (scripts/test.sh does). Logs of the test runs stay in .build/ci/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# A sanitizer reports by itself, and a crash in a test should not wait for a backtrace.
export SWIFT_BACKTRACE=enable=no
export LSAN_OPTIONS="suppressions=$PWD/scripts/lsan.supp:print_suppressions=0"
# Swift Testing starts every test at once. Each test of the server has a database open, and together
# they came close to the number of files that a process may open. With 512 at once on two
# processors, a task waited up to fifteen seconds for its turn, longer than some limits under test.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=64
strict=(--explicit-target-dependency-import-check error -Xswiftc -warnings-as-errors)
logs=.build/ci
# Longer than any test run takes; a deadlock must not hold the machine.
patience=30m
# What builds and test runs say that nobody needs to see while it goes well.
noise='^(◇|✔ (Test "|Test case|Suite))|^\[[0-9]+/[0-9]+\]|ld\.gold: warning: Cannot export local symbol'

# A folder in memory for the databases of tests, where a commit costs no disk; empty without 1 GiB
# free there.
memory=/dev/shm
free=$(df --output=avail --block-size=1M "$memory" 2>/dev/null | tail -n 1) || free=0
if [ ! -w "$memory" ] || [ "$free" -lt 1024 ]; then memory=; fi
databases=${memory:-${TMPDIR:-/tmp}}

step() {
    local name=$1 began=$SECONDS
    shift
    printf '\n== %s\n' "$name"
    "$@"
    printf '== %s took %d s\n' "$name" $((SECONDS - began))
}

# Runs a step in the background, beside the steps before the next `joined`. For steps that keep one
# core busy, or wait. Its output is printed when it has ended.
beside=()
beside() {
    mkdir -p "$logs"
    step "$@" >"$logs/beside-${#beside[@]}.log" 2>&1 &
    beside+=($!)
}

joined() {
    local number status=0
    for number in "${!beside[@]}"; do
        wait "${beside[$number]}" || status=$?
        cat "$logs/beside-$number.log"
    done
    beside=()
    return "$status"
}

# Ends the background steps if another step fails.
end_beside() {
    [ "${#beside[@]}" -eq 0 ] || kill "${beside[@]}" 2>/dev/null || true
}
trap end_beside EXIT

format() {
    swift format lint --strict --recursive --parallel Sources Tests StandIns Examples Trials Benchmarks Fuzz Package.swift
}

shell_scripts() {
    shellcheck --external-sources scripts/*.sh Clients/typescript/scripts/*.sh Packaging/debian/* .ci/run
}

build_tests() {
    swift build --build-tests "${strict[@]}" "$@"
}

# Apart from .build/debug: a build with other flags would throw away what `swift build` has there.
checked=(--scratch-path .build/checked)

without_noise() {
    grep -vE "$noise" || true
}

# Runs the tests; what passed is only in the log. No tests at all is a failure, which `swift test`
# does not see.
run_tests() {
    local log=$logs/$1.log status=0
    shift
    mkdir -p "$logs"
    TMPDIR=$databases timeout --foreground "$patience" \
        swift test --disable-xctest "$@" >"$log" 2>&1 || status=$?
    without_noise <"$log"
    if [ "$status" -ne 0 ]; then
        echo "the tests failed ($status); all they said is in $log" >&2
        return 1
    elif ! grep -qE 'Test run with [1-9][0-9]* tests? ' "$log"; then
        echo "no test ran; all that was said is in $log" >&2
        return 1
    fi
}

# Tests that wait for sockets and deadlines run by themselves: beside all others they would find out how
# busy the machine is.
sockets='^TideoverHTTP(Server|Client)Tests[.]'
sockets+='|^TideoverTests[.](GoogleConnection|(Kept|Wall)?ControlServer|ControlServerOfBothStores)Tests'
# Clients, commands and servers here give up after some seconds.
sockets+='|^TideoverTests[.](FollowedClock|LockWait|Trouble)Tests'
sockets+='|^TideoverServerSerialTests[.](Backup|Log|Revocation|Supervisor)ProgramTests'
# The kit gives up on a request after some seconds, and says what it knows without the server.
sockets+='|^TideoverKitRehearsalTests[.]ServedProgramTests'

# With all of them at once, a task waits for its turn as long as a client waits for an answer: on a
# busy machine that failed with 32 at once, but not with eight.
run_sockets() {
    local -x SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=8
    run_tests "$@"
}

all_tests() {
    local name=$1
    shift
    run_tests "$name" "$@" --skip "$sockets"
    run_sockets "$name-sockets" "$@" --filter "$sockets"
}

# The tests of the storage on PostgreSQL, which are skipped elsewhere, beside one started for them.
postgres_tests() {
    local name=$1 parent status=0
    shift
    parent=$(mktemp -d -p "$databases")
    # PostgreSQL runs as another user than root.
    chmod 711 "$parent"
    local -x TIDEOVER_TEST_POSTGRES
    TIDEOVER_TEST_POSTGRES=$(scripts/postgres.sh start "$parent/data")
    run_tests "$name" "$@" --filter '^TideoverPostgreSQLTests[.]' || status=$?
    scripts/postgres.sh stop "$parent/data"
    rmdir "$parent"
    return "$status"
}

# Failed tests name their lines themselves, and reports of a sanitizer the functions: without debug
# information a build takes a fifth less. Of the index only what finds the tests is needed.
lean=(-debug-info-format none -Xswiftc -index-ignore-system-modules)

# The release build with its tests: they run the modules that users get. One manifest for all the
# products: what they share is compiled once. Programs contain Swift's runtime, and tests are linked with
# it: the modules of the tests' libraries are only beside the latter, and what the former's Foundation
# consists of is only beside the former.
release() {
    local -x TIDEOVER_TESTED_RELEASE=1 TIDEOVER_TRIALS=1 TIDEOVER_BENCHMARKS=1
    local toolchain modules=$PWD/.build/test-modules
    toolchain=$(dirname "$(dirname "$(readlink -f "$(command -v swift)")")")
    mkdir -p "$modules"
    ln -sfn "$toolchain"/lib/swift/linux/{*Testing*,XCTest*}.swift* "$modules"
    build_tests --configuration release --static-swift-stdlib --scratch-path .build/tested "${lean[@]}" \
        -Xswiftc -I -Xswiftc "$modules" -Xlinker -L"$toolchain/lib/swift_static/linux"
}
release_built=(--configuration release --scratch-path .build/tested --skip-build)
programs=$PWD/.build/tested/release
server=$programs/tideover
trials=$programs/TideoverTrials

release_tests() {
    all_tests release "${release_built[@]}"
    postgres_tests release-postgres "${release_built[@]}"
}

# What is left out by each sanitizer is what it could find nothing in, after minutes: the simulated
# stores have neither a thread nor a pointer of their own.
sanitizer_flags() {
    without=()
    skipped=$sockets
    sanitized=(--sanitize="$1" "${lean[@]}")
    export TIDEOVER_SHORT_RUNS=1
    case $1 in
    # Rooms without a second thread, and programs, whose server is tried here without them. Building
    # the program and its tests would take longer than all that remains to be run. The tests of
    # PostgreSQL skip without a database. The suites left out calculate, or refuse one request after
    # the other. Asynchronous rooms are not optimized: optimized code reads in place what a
    # continuation handed over, and the runtime does not tell the sanitizer about a continuation that
    # is resumed before it is awaited.
    thread)
        sanitized+=(--scratch-path .build/thread)
        export TIDEOVER_OPTIMIZED_TESTS=1
        without=(ASN1 AppStore Calendar Core Dashboard Doctor GooglePlay JSON KitRehearsal PostgreSQL RevenueCat Sandbox ServerSerial Storage StoreKitFile Tidy "")
        skipped+='|^TideoverSignaturesTests[.](CertificateForm|Mutation|OCSP|P256Numbers|Property|Refusal|Wycheproof)Tests'
        skipped+='|^TideoverServerTests[.]RefusalTests'
        ;;
    # Rooms without pointers; the core's few are on the way of every other test. All of the server's
    # are in rooms below it. The tests of PostgreSQL need the whole server, and skip without a
    # database. The modules are those of the fuzzers.
    address)
        sanitized+=(--configuration release --scratch-path .build/fuzz)
        export TIDEOVER_FUZZ=1 TIDEOVER_TESTED_RELEASE=1
        without=(AppStore Core Dashboard Doctor GooglePlay Kit KitRehearsal PostgreSQL RevenueCat Sandbox Server ServerSerial StoreKitFile Tidy "")
        ;;
    esac
    export TIDEOVER_WITHOUT_TESTS
    TIDEOVER_WITHOUT_TESTS=$(printf 'Tideover%sTests ' "${without[@]}")
}

# Only what the remaining tests need is compiled.
sanitized_build() (
    sanitizer_flags "$1"
    swift build --product tideoverPackageTests "${sanitized[@]}" | without_noise
)

sanitized_tests() (
    sanitizer_flags "$1"
    run_tests "$1" "${sanitized[@]}" --skip-build --skip "$skipped"
    run_sockets "$1-sockets" "${sanitized[@]}" --skip-build --filter "$sockets"
)

documentation() {
    scripts/docs.sh .build/tested | grep -v '^$'
}

sanitizers_and_fuzzers() {
    local thread status=0
    sanitized_build thread &
    thread=$!
    {
        sanitized_build address &&
            TIDEOVER_TESTED_RELEASE=1 TIDEOVER_SHORT_RUNS=1 scripts/fuzz.sh build "${lean[@]}"
    } || status=$?
    wait "$thread" || status=$?
    return "$status"
}

# The release build is a chain of modules, each of which waits for the one below, and these are chains
# of larger parts. They use idle processor time, first beside the release build, then beside its tests.
other_builds() {
    chrt --idle --pid 0 "$BASHPID" || echo "chrt cannot be used: the builds share the processors equally"
    step "builds for the sanitizers and the fuzzers" sanitizers_and_fuzzers
    step "an app's package with TideoverKit alone" scripts/kit-consumer.sh
}

laws() {
    "$programs/TideoverLaws" try --seeds 2000
    "$programs/TideoverLaws" experiments --seeds 20
}

smoke() {
    ls -l "$server"
    scripts/check-program.sh "$server"
    "$server" --version
    "$server" demo --no-serve
    "$server" sandbox run Scenarios/*.json5
    stories
    "$programs/TideoverBenchmarks" smoke
    "$programs/TideoverCoreBenchmarks" measure --short
}

# What users install: made twice of the program that was built, compared, unpacked and started.
release_files() {
    local files=$logs/release
    rm -rf "$files"
    TIDEOVER_BINARY=$server scripts/release.sh "$files"
    if [ "$(id -u)" -ne 0 ]; then
        echo "skipped: scripts/release-test.sh needs root"
        return
    fi
    scripts/release-test.sh --short "$files"
}

release_files_and_clients() {
    release_files
    clients
}

# Stories of both stores, fewer than scripts/stories.sh plays; in memory, where a commit costs no disk,
# three times as many in the same time.
stories() {
    local seeds=12
    if [ -n "$memory" ]; then seeds=36; fi
    TMPDIR=$databases "$server" sandbox stories --seeds "$seeds"
}

# What stands for a store in tests must pass for it with the store's own library.
judged() {
    local status=0
    TIDEOVER_BINARY=$server TIDEOVER_TRIALS_BINARY=$trials "$@" || status=$?
    # 75: the library could not be had, and the script has said so.
    [ "$status" -eq 0 ] || [ "$status" -eq 75 ]
}

# Webhooks against a receiver that knows only the specification, the receivers of docs/webhooks.md, and
# the mirrors of docs/mirror.md.
webhooks() {
    judged scripts/verify-webhooks.sh --short messages guard
    TIDEOVER_BINARY=$server scripts/webhook-receivers.sh
    TIDEOVER_BINARY=$server scripts/mirror-test.sh
}

# One after the other: webhooks and packaging install libraries into one folder.
webhooks_and_packaging() {
    webhooks
    TIDEOVER_BINARY=$server scripts/packaging-test.sh
    TIDEOVER_BINARY=$server scripts/replica-test.sh
}

# Types, tests and packages of what apps and back ends ask the server with.
clients() {
    TIDEOVER_BINARY=$server scripts/clients.sh
}

# Each time in an empty database.
kill_test_on_postgres() {
    local parent address status=0
    parent=$(mktemp -d)
    chmod 711 "$parent"
    address=$(scripts/postgres.sh start "$parent/data")
    scripts/kill-test.sh "$@" --postgres "$address" || status=$?
    scripts/postgres.sh stop "$parent/data"
    rmdir "$parent"
    return "$status"
}

# What users get is killed, starved and abused; first it is made sure that a loss would be seen.
short_trials() {
    local -x TIDEOVER_BINARY=$server TIDEOVER_TRIALS_BINARY=$trials
    scripts/kill-test.sh 3 --wrong
    scripts/kill-test.sh 15
    kill_test_on_postgres 3 --wrong
    kill_test_on_postgres 10 --servers 3
    kill_test_on_postgres 3 --servers 3 --orderly
    scripts/pgbouncer-test.sh 5 --servers 2
    scripts/failover-test.sh 2
    scripts/failover-test.sh 3 --restart
    # With twelve kills one run in thirteen lost nothing, and so found nothing.
    scripts/kill-backfill.sh 40 --wrong
    scripts/kill-backfill.sh 3
    scripts/fault-trials.sh --short
}

case ${1:-} in
fast)
    step "format" format
    TIDEOVER_TRIALS=1 step "build" build_tests "${checked[@]}"
    step "tests" all_tests tests "${strict[@]}" "${checked[@]}"
    ;;
full)
    step "format" format
    step "scripts" shell_scripts
    beside "all other builds" other_builds
    step "release build, with its tests" release
    step "tests" release_tests
    step "documentation" documentation
    step "public declarations" scripts/api.sh .build/tested
    joined
    step "tests under the thread sanitizer" sanitized_tests thread
    step "tests under the address sanitizer" sanitized_tests address
    beside "smoke of the fuzzers" scripts/fuzz.sh smoke --built
    step "smoke of the release build" smoke
    joined
    beside "faults that the conformance tables find" scripts/mutation-check.sh --first 3
    beside "laws of the core over 6,000 lives" laws
    beside "files of a release, and the clients beside the release build" release_files_and_clients
    step "the simulated Google, judged by Google's library" judged scripts/verify-google.sh
    step "the simulated App Store, judged by Apple's library" judged scripts/verify-apple.sh
    step "the proxy in front of RevenueCat's SDKs" judged scripts/verify-proxy.sh
    step "clients of RevenueCat's SDKs, simulated" judged scripts/verify-revenuecat-sdk.sh
    joined
    beside "webhooks, mirrors, files for operators, and a replica" webhooks_and_packaging
    step "short trials of the release build" short_trials
    joined
    ;;
*)
    echo "usage: scripts/ci.sh fast|full" >&2
    exit 2
    ;;
esac
printf '\n== all of it took %d min %d s\n' $((SECONDS / 60)) $((SECONDS % 60))
