#!/usr/bin/env bash
# Builds an external package that depends on TideoverKit by URL, as an app's developer does.
#
#   scripts/kit-consumer.sh          in Swift 6 mode, which includes strict concurrency; no warnings
#   scripts/kit-consumer.sh --size   also the size of an optimized build, by module
#
# It uses the last commit of this checkout. The built package must not need a system library; nor may
# the manifest as a Mac reads it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case ${1:-} in
'' | --size) ;;
*)
    echo "usage: scripts/kit-consumer.sh [--size]" >&2
    exit 64
    ;;
esac

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
git clone --quiet --no-hardlinks . "$folder/tideover"
revision=$(git -C "$folder/tideover" rev-parse HEAD)
mkdir -p "$folder/consumer/Sources/Consumer"
cat >"$folder/consumer/Package.swift" <<SWIFT
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "consumer",
    platforms: [.iOS(.v17), .macOS(.v14)],
    dependencies: [.package(url: "file://$folder/tideover", revision: "$revision")],
    targets: [
        .executableTarget(
            name: "Consumer",
            dependencies: [.product(name: "TideoverKit", package: "tideover")]
        )
    ],
    swiftLanguageModes: [.v6]
)
SWIFT
cat >"$folder/consumer/Sources/Consumer/Main.swift" <<'SWIFT'
import TideoverCore
import TideoverKit

@main
struct Consumer {
    @MainActor
    static func main() async {
        guard let customer = CustomerID("u_42") else { return }
        let store = Tideover.start(
            Tideover.Configuration(
                bundleId: "com.example.cards",
                customer: customer,
                products: [SoldProduct("cards.pro.monthly", unlocks: ["premium"])]
            ),
            source: StoreSource(
                read: { StoreReading() },
                updates: { AsyncStream { $0.finish() } },
                finish: { _ in },
                sync: {}
            ),
            file: KeptFile(read: { nil }, write: { _ in }),
            network: { _ in throw CancellationError() },
            verify: { _, _, _ in false }
        )
        for await state in store.changes where state.isAnswered {
            print("premium: \(state["premium"].access)")
            return
        }
    }
}
SWIFT
swift run --package-path "$folder/consumer" --disable-index-store -debug-info-format none \
    -Xswiftc -warnings-as-errors Consumer >"$folder/out"
grep -qx 'premium: denied' "$folder/out"
built=$(cd "$folder/consumer/.build/debug/Modules" && printf '%s\n' *.swiftmodule | sort)
expected=$(printf '%s.swiftmodule\n' Consumer TideoverASN1 TideoverAppStore TideoverCalendar TideoverCore \
    TideoverHTTP TideoverJSON TideoverKit | sort)
if [ "$built" != "$expected" ]; then
    echo "an app's developer has to build something else than TideoverKit's own modules:" >&2
    diff <(echo "$expected") <(echo "$built") >&2 || true
    exit 1
fi
echo "TideoverKit builds alone: $(tr '\n' ' ' <<<"$built")"
needed=$(objdump --private-headers "$folder/consumer/.build/debug/Consumer" | awk '$1 == "NEEDED" { print $2 }')
if grep -E 'ssl|crypto|sqlite|curl|microhttpd' <<<"$needed" >&2; then
    echo "an app's developer has to link a system library" >&2
    exit 1
fi
echo "It links no OpenSSL, SQLite, curl or libmicrohttpd: $(tr '\n' ' ' <<<"$needed")"

# The manifest of a Mac: what is inside `#if os(Linux)` is absent.
sed 's/^#if os(Linux)$/#if os(Windows)/' Package.swift >"$folder/tideover/Package.swift"
swift package --package-path "$folder/tideover" dump-package >"$folder/manifest.json"
python3 - "$folder/manifest.json" <<'PYTHON'
import json
import sys

manifest = json.load(open(sys.argv[1], encoding="utf-8"))
targets = {target["name"]: target for target in manifest["targets"]}
systems = [name for name, target in targets.items() if target["type"] == "system"]
assert not systems, f"a Mac's manifest has system libraries: {systems}"
assert not manifest["dependencies"], "a Mac's manifest has dependencies"
built, waiting = set(), ["TideoverKit"]
while waiting:
    name = waiting.pop()
    if name in built:
        continue
    built.add(name)
    for dependency in targets[name]["dependencies"]:
        waiting.append((dependency.get("byName") or dependency.get("target"))[0])
expected = {f"Tideover{name}" for name in ("ASN1", "AppStore", "Calendar", "Core", "HTTP", "JSON", "Kit")}
assert built == expected, f"a Mac builds {sorted(built)}"
print("A Mac's manifest has no system library, and builds:", " ".join(sorted(built)))
PYTHON
[ "${1:-}" = --size ] || exit 0

# Machine code and constants. An app's linker leaves out what the app does not use.
git -C "$folder/tideover" checkout --quiet Package.swift
swift build --package-path "$folder/consumer" --configuration release --product Consumer >&2
release=$folder/consumer/.build/release
for module in ASN1 Calendar JSON Core HTTP AppStore Kit; do
    size --totals "$release/Tideover$module.build"/*.o |
        awk -v module="Tideover$module" '$NF == "(TOTALS)" { printf "%-18s %5d KiB\n", module, ($1 + $2) / 1024 }'
done
strip -o "$folder/stripped" "$release/Consumer"
printf '%-18s %5d KiB\n' "linked, stripped" $(($(stat --format %s "$folder/stripped") / 1024))
