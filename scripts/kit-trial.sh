#!/usr/bin/env bash
# Compares TideoverKit with `tideover serve` on a loopback socket: the kit on the stand-in for
# StoreKit, the simulated App Store behind it, and the program, which follows the store's clock. All
# scenarios of the App Store, every cause of drift, a sandbox with months of three minutes, and
# stories generated from seeds. The answers of device and server are compared at every step. The app
# is also killed before each of its effects, on every way in which a purchase arrives.
#
#   scripts/kit-trial.sh                  200 stories
#   scripts/kit-trial.sh --stories 1000   more
#   scripts/kit-trial.sh --in-process     the server as a function, without program and socket
#
# TIDEOVER_BINARY is a built program; by default it is built. TIDEOVER_KIT_SCRATCH contains a finished
# build of the tests; by default they are built, optimized.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

stories=200 place=program
while [ $# -gt 0 ]; do
    case $1 in
    --stories) stories=$2 && shift 2 ;;
    --in-process) place=inProcess && shift ;;
    *)
        echo "usage: scripts/kit-trial.sh [--stories NUMBER] [--in-process]" >&2
        exit 64
        ;;
    esac
done

scratch=${TIDEOVER_KIT_SCRATCH:-}
if [ -z "$scratch" ]; then
    scratch=.build/kit-trial
    # Only the tests of the kit are compiled.
    others=$(cd Tests && printf '%s\n' *Tests | grep -v '^TideoverKit' | tr '\n' ' ')
    export TIDEOVER_OPTIMIZED_TESTS=1 TIDEOVER_WITHOUT_TESTS=$others
    swift build --product tideoverPackageTests --scratch-path "$scratch" >&2
    [ -n "${TIDEOVER_BINARY:-}" ] || swift build --product tideover --scratch-path "$scratch" >&2
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
# A commit in memory costs no disk.
folder=${TMPDIR:-/tmp}
if [ -w /dev/shm ]; then folder=/dev/shm; fi
TMPDIR=$folder TIDEOVER_KIT_STORIES=$stories TIDEOVER_KIT_SERVER=$place \
    swift test --skip-build --disable-xctest --scratch-path "$scratch" \
    --filter '^TideoverKit(Rehearsal)?Tests[.](FinishLaw|KilledApp|SameAnswer|ServedProgram)Tests' \
    >"$log" 2>&1 || status=$?
grep -E '^✘|error:|Issue|recorded an issue' "$log" >&2 || true
awk -v place="$place" -v stories="$stories" '
    $1 == "compared" {
        lives++; answers += $3; differences += $5; healed += $7; drifts += $12
        if (/: Generated from /) generated++
    }
    END {
        printf "%d lives (%d generated) with the server as %s:\n", lives, generated, place
        printf "  %d answers compared, %d differences\n", answers, differences
        printf "  %d differences healed after a fault, %d drifts recorded\n", healed, drifts
        exit !(lives > 60 && generated == stories && answers > 0 && differences == 0)
    }
' "$log" || status=1
exit "$status"
