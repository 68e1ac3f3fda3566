#!/usr/bin/env bash
# Compares TideoverKit with `tideover serve` on a loopback socket: the kit on the stand-in for
# StoreKit, the simulated App Store behind it, and the program, which follows the store's clock. The
# answers of device and server are compared at every step.
#
#   scripts/kit-trial.sh                  all parts, with 200 stories
#   scripts/kit-trial.sh scenarios        all scenarios of the App Store, every cause of drift, a
#                                         sandbox with months of three minutes, and passes
#   scripts/kit-trial.sh stories          stories generated from seeds
#   scripts/kit-trial.sh kills            the app is killed before each of its effects, on every way
#                                         in which a purchase arrives
#   --stories 1000                        more stories
#   --stories 41-80                       the stories of these seeds
#   --in-process                          the server as a function, without program and socket
#
# TIDEOVER_BINARY is a built program; by default it is built. TIDEOVER_KIT_SCRATCH contains a finished
# build of the tests; by default they are built, optimized.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    echo "usage: scripts/kit-trial.sh [scenarios|stories|kills]... [--stories NUMBER|FIRST-LAST]" \
        "[--in-process]" >&2
    exit 64
}

stories=200 place=program parts=()
while [ $# -gt 0 ]; do
    case $1 in
    scenarios | stories | kills) parts+=("$1") && shift ;;
    --stories)
        [[ ${2:-} =~ ^[1-9][0-9]*(-[1-9][0-9]*)?$ ]] || usage
        stories=$2 && shift 2
        ;;
    --in-process) place=inProcess && shift ;;
    *) usage ;;
    esac
done
[ ${#parts[@]} -gt 0 ] || parts=(scenarios stories kills)
suites=()
for part in "${parts[@]}"; do
    case $part in
    scenarios) suites+=(SameAnswer ServedProgram) ;;
    stories) suites+=(GeneratedStory) ;;
    kills) suites+=(FinishLaw KilledApp) ;;
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
names=$(IFS='|' && echo "${suites[*]}")
TMPDIR=$folder TIDEOVER_KIT_STORIES=$stories TIDEOVER_KIT_SERVER=$place \
    swift test --skip-build --disable-xctest --scratch-path "$scratch" \
    --filter "^TideoverKit(Rehearsal)?Tests[.]($names)Tests" >"$log" 2>&1 || status=$?
grep -E '^✘|error:|Issue|recorded an issue' "$log" >&2 || true
awk -v place="$place" -v stories="$stories" -v parts=" ${parts[*]} " '
    $1 == "compared" {
        if (/: Generated from /) { generated++; open += $7 - $9 } else scenarios++
        answers += $3; differences += $5; differed += $7; healed += $9; drifts += $11
    }
    $1 == "killed" && $2 == "machine:" { decided += $3; courses++ }
    $1 == "killed" && $2 != "machine:" { stopped += $3; ways++ }
    END {
        split(stories, bounds, "-")
        wanted = bounds[2] ? bounds[2] - bounds[1] + 1 : bounds[1]
        print "With the server as " place ":"
        isWhole = 1
        if (scenarios + generated > 0) {
            printf "  %d scenarios and %d stories, %d answers compared: %d differences outside of faults\n",
                scenarios, generated, answers, differences
            printf "  %d answers differed in a fault, %d healed by the report of the device, %d drifts recorded\n",
                differed, healed, drifts
            isWhole = answers > 0 && differences == 0 && open == 0
        }
        if (parts ~ / scenarios /) isWhole = isWhole && scenarios > 60
        if (parts ~ / stories /) isWhole = isWhole && generated == wanted
        if (parts ~ / kills /) {
            printf "  the app killed %d times on %d ways with the server, at every effect\n", stopped, ways
            printf "  its decisions killed %d times on %d ways, at every effect\n", decided, courses
            isWhole = isWhole && stopped > 0 && decided > 0
        }
        exit !isWhole
    }
' "$log" || status=1
[ "$status" = 0 ] && echo "  no purchase lost, every check passed"
exit "$status"
