#!/usr/bin/env bash
# Builds an external package that depends on TideoverKit by URL, as an app's developer does.
#
#   scripts/kit-consumer.sh
#
# It uses the last commit of this checkout. The built package must not need a system library.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

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
swift run --package-path "$folder/consumer" -Xswiftc -warnings-as-errors Consumer >"$folder/out"
grep -qx 'premium: denied' "$folder/out"
built=$(cd "$folder/consumer/.build/debug/Modules" && printf '%s\n' *.swiftmodule | sort)
expected=$(printf '%s.swiftmodule\n' Consumer TideoverASN1 TideoverAppStore TideoverCore TideoverHTTP \
    TideoverJSON TideoverKit | sort)
if [ "$built" != "$expected" ]; then
    echo "an app's developer has to build something else than TideoverKit's own modules:" >&2
    diff <(echo "$expected") <(echo "$built") >&2 || true
    exit 1
fi
echo "TideoverKit builds alone: $(tr '\n' ' ' <<<"$built")"
