import Foundation
import Testing
import TideoverSandbox

/// Scenarios whose products come from Xcode's StoreKit configuration file.
@Suite struct ScenarioCatalogueTests {
    private static func example() throws -> [UInt8] {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Examples/Products.storekit")
        return Array(try Data(contentsOf: file))
    }

    private func read(_ products: String) throws -> Scenario {
        let text = """
            { scenario: "s", source: "t", app: { id: "cards", bundleId: "com.example.cards" },
              \(products), customers: { anna: {} }, start: "2026-05-01T10:00:00Z", steps: [
              { at: "2026-05-01T10:00:00Z", do: "subscribe", product: "cards.pro.monthly" } ] }
            """
        return try Scenario(reading: Array(text.utf8)) { path in
            #expect(path == "Products.storekit")
            return try Self.example()
        }
    }

    private func fault(_ products: String) -> ScenarioError.Reason? {
        do {
            _ = try read(products)
            return nil
        } catch {
            return (error as? ScenarioError)?.reason
        }
    }

    @Test func `the store sells what the file says`() throws {
        let scenario = try read(
            #"catalogue: "Products.storekit", entitlements: { pro: ["premium"], "cards.pro.yearly": ["all"] }"#
        )
        let price = { (text: String) in try #require(StorePrice(text)) }
        let period = { (text: String) in try #require(StorePeriod(iso: text)) }
        #expect(
            scenario.app.store.products == [
                AppStoreProduct(
                    id: "cards.pro.monthly",
                    group: "pro",
                    level: 2,
                    period: try period("P1M"),
                    trial: try period("P3D"),
                    price: try price("9.99 USD"),
                    grace: .sixteenDays
                ),
                AppStoreProduct(
                    id: "cards.pro.yearly",
                    group: "pro",
                    level: 1,
                    period: try period("P1Y"),
                    price: try price("79.99 USD"),
                    grace: .sixteenDays,
                    isFamilyShareable: true
                ),
            ]
        )
        #expect(
            scenario.app.entitlements
                == ["cards.pro.monthly": ["premium"], "cards.pro.yearly": ["all"]]
        )
    }

    @Test func `what unlocks nothing, or is not there, is told`() {
        let file = #"catalogue: "Products.storekit""#
        #expect(fault(file) == .missingKey("cards.pro.monthly", in: "entitlements"))
        #expect(
            fault("\(file), entitlements: { por: [\"premium\"] }")
                == .unknown(
                    "por",
                    .product,
                    suggestion: "pro",
                    allowed: ["cards.pro.monthly", "cards.pro.yearly", "pro"]
                )
        )
        #expect(fault("seed: 1") == .missingKey("products", in: "a scenario"))
    }
}
