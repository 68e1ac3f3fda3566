#!/usr/bin/env bash
# Plants faults in the rules, one after the other, and reports which of them the conformance tables
# find. A table that passes with a broken rule does not test it.
#
#   scripts/mutation-check.sh             every fault of scripts/mutations/faults.txt
#   scripts/mutation-check.sh --first 3   the first three, as a smoke test
#
# It works in a copy with only TideoverCalendar, TideoverJSON, TideoverCore, the tables and a small
# runner. It fails if a fault no longer fits the code, if the tables fail on the unchanged code, or if
# more than one fault is missed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

faults=scripts/mutations/faults.txt
limit=1000
allowed=1
# A fault may make the rules run forever.
patience=60

if [ "${1:-}" = --first ] && [[ ${2:-} =~ ^[1-9][0-9]*$ ]]; then
    limit=$2
elif [ $# -gt 0 ]; then
    echo "usage: scripts/mutation-check.sh [--first N]" >&2
    exit 2
fi

# --- the copy

copy=$(mktemp -d "${TMPDIR:-/tmp}/tideover-mutations.XXXXXX")
trap 'rm -rf "$copy"' EXIT
mkdir -p "$copy/Sources/Runner"
cp -R Sources/TideoverCalendar Sources/TideoverJSON Sources/TideoverCore "$copy/Sources/"
cp scripts/mutations/runner.swift "$copy/Sources/Runner/main.swift"
cat >"$copy/Package.swift" <<'MANIFEST'
// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]
let package = Package(
    name: "mutations",
    targets: [
        // No fault is planted here, and the tables are long.
        .target(name: "TideoverCalendar", swiftSettings: settings + [.unsafeFlags(["-O"])]),
        .target(name: "TideoverJSON", swiftSettings: settings + [.unsafeFlags(["-O"])]),
        .target(
            name: "TideoverCore",
            dependencies: ["TideoverCalendar", "TideoverJSON"],
            resources: [.embedInCode("Answer/messages.json")],
            swiftSettings: settings
        ),
        .executableTarget(name: "Runner", dependencies: ["TideoverCore"], swiftSettings: settings),
    ]
)
MANIFEST

build() {
    swift build --package-path "$copy" --disable-index-store -debug-info-format none --product Runner \
        >"$copy/build.log" 2>&1
}

# Whether every case of every table passes. tables.log has the differences of the first failure.
tables_pass() {
    : >"$copy/tables.log"
    local table
    for table in Conformance/*.json; do
        timeout "$patience" "$copy/.build/debug/Runner" <"$table" >"$copy/tables.log" 2>&1 || return 1
    done
}

# --- the faults

# The parts of each fault, at the same index: its name, its file, the old text, the new text.
names=() files=() befores=() afters=()

read_faults() {
    local part='' line number=-1
    while IFS= read -r line || [ -n "$line" ]; do
        case $line in
        '@ fault '*)
            number=$((number + 1)) part=''
            names[number]=${line#@ fault } files[number]='' befores[number]='' afters[number]=''
            ;;
        '@ file '*) files[number]=Sources/TideoverCore/${line#@ file } ;;
        '@ was') part=befores ;;
        '@ becomes') part=afters ;;
        '') part='' ;;
        *)
            case $part in
            befores) befores[number]+=$line$'\n' ;;
            afters) afters[number]+=$line$'\n' ;;
            esac
            ;;
        esac
    done <"$faults"
}

occurrences() {
    local text=$1 part=$2 without
    without=${text//"$part"/}
    echo $(((${#text} - ${#without}) / ${#part}))
}

# Each fault must fit at exactly one place; otherwise the list is stale.
check_faults() {
    local number stale=0 count
    for number in "${!names[@]}"; do
        count=0
        if [ -f "${files[number]}" ] && [ -n "${befores[number]}" ]; then
            count=$(occurrences "$(cat "${files[number]}")"$'\n' "${befores[number]}")
        fi
        if [ "$count" -ne 1 ]; then
            echo "stale: \"${names[number]}\" fits at $count places of ${files[number]}" >&2
            stale=1
        fi
    done
    return "$stale"
}

plant() {
    local text
    text=$(cat "${files[$1]}")$'\n'
    printf '%s' "${text/"${befores[$1]}"/"${afters[$1]}"}" >"$copy/${files[$1]}"
}

uproot() { cp "${files[$1]}" "$copy/${files[$1]}"; }

# --- the check

read_faults
check_faults
build || { tail -20 "$copy/build.log" >&2 && exit 1; }
tables_pass || { cat "$copy/tables.log" >&2 && echo "the tables do not pass on the code as it is" >&2 && exit 1; }

found=0 missed=0
for number in "${!names[@]}"; do
    [ "$number" -lt "$limit" ] || break
    began=$SECONDS
    plant "$number"
    if ! build; then
        echo "does not build: \"${names[number]}\"" >&2
        grep error: "$copy/build.log" >&2
        exit 1
    fi
    if tables_pass; then
        verdict=missed missed=$((missed + 1)) by=''
    else
        verdict=found found=$((found + 1))
        by=$(grep -m1 . "$copy/tables.log" || echo "it crashed or did not end")
    fi
    uproot "$number"
    printf '%2d  %-6s  %3d s  %s\n' $((number + 1)) "$verdict" $((SECONDS - began)) "${names[number]}"
    [ -z "$by" ] || printf '                     %s\n' "${by:0:110}"
done
printf '\nfaults: %d, found: %d\n' $((found + missed)) "$found"
[ "$missed" -le "$allowed" ]
