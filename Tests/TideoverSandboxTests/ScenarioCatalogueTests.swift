import Foundation
import Testing
import TideoverSandbox
import TideoverStoreKitFile

/// Scenarios with products from Xcode's StoreKit configuration file.
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

    @Test func `the store sells the products of the file`() throws {
        let scenario = try read(
            #"""
            catalogue: "Products.storekit",
            entitlements: { pro: ["premium"], "cards.pro.yearly": ["all"], "cards.lifetime": ["premium"] },
            \#(Self.season)
            """#
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
                    offers: [
                        AppStoreOffer(
                            .promotional,
                            .payAsYouGo,
                            identifier: "stay",
                            period: try period("P1M"),
                            payments: 3,
                            price: try price("4.99 USD")
                        ),
                        AppStoreOffer(
                            .winBack,
                            .payUpFront,
                            identifier: "come-back",
                            period: try period("P1M"),
                            price: try price("1.99 USD")
                        ),
                    ],
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
            scenario.app.store.oneTimeProducts == [
                AppStoreOneTimeProduct(
                    id: "cards.season",
                    kind: .nonRenewing,
                    price: try price("4.99 USD"),
                    length: try period("P3M")
                ),
                AppStoreOneTimeProduct(
                    id: "cards.lifetime",
                    kind: .nonConsumable,
                    price: try price("49.99 USD"),
                    isFamilyShareable: true
                ),
                AppStoreOneTimeProduct(
                    id: "cards.coins.100",
                    kind: .consumable,
                    price: try price("0.99 USD")
                ),
            ]
        )
        #expect(
            scenario.app.entitlements == [
                "cards.pro.monthly": ["premium"], "cards.pro.yearly": ["all"],
                "cards.lifetime": ["premium"], "cards.season": ["league"], "cards.coins.100": [],
            ]
        )
    }

    /// The data of a non-renewing subscription that the file does not contain.
    private static let season =
        #"products: { "cards.season": { kind: "nonRenewing", period: "P3M", price: "4.99 USD", "#
        + #"entitlements: ["league"] } }"#

    @Test func `introductory offers and codes of every mode are read`() throws {
        let offer = { (mode: String, count: Int) in
            #"{ "paymentMode": "\#(mode)", "displayPrice": "2.00", "subscriptionPeriod": "P1M", "#
                + #""numberOfPeriods": \#(count), "offerID": "\#(mode)" }"#
        }
        let file = """
            { "version": { "major": 4 }, "settings": { "_storefront": "DEU" }, "subscriptionGroups": [
              { "id": "1", "name": "pro", "subscriptions": [ { "productID": "cards.pro",
                "type": "RecurringSubscription", "displayPrice": "9.99",
                "recurringSubscriptionPeriod": "P1M", "introductoryOffer": \(offer("payUpFront", 2)),
                "codeOffers": [ \(offer("free", 3)), \(offer("payAsYouGo", 3)) ] } ] } ] }
            """
        let product = try #require(
            AppStoreProduct.subscriptions(of: try StoreKitFile(Array(file.utf8))).first
        )
        let introductory = try #require(product.introductory)
        #expect(introductory.mode == .payUpFront && introductory.period.text == "P2M")
        #expect(introductory.price == StorePrice(milliunits: 4000, currency: "EUR"))
        #expect(product.trial == nil && product.grace == .off)
        #expect(product.offers.map(\.kind) == [.offerCode, .offerCode])
        #expect(product.offers.map(\.mode) == [.freeTrial, .payAsYouGo])
        #expect(product.offers.map(\.payments) == [1, 3])
        #expect(product.offers.map(\.period.text) == ["P3M", "P1M"])
        #expect(product.offers.map(\.price.milliunits) == [0, 2000])
    }

    @Test func `products without entitlements and unknown products are reported`() {
        let file = #"catalogue: "Products.storekit""#
        #expect(fault(file) == .missingKey("cards.pro.monthly", in: "entitlements"))
        #expect(
            fault("\(file), entitlements: { por: [\"premium\"] }")
                == .unknown(
                    "por",
                    .product,
                    suggestion: "pro",
                    allowed: [
                        "cards.pro.monthly", "cards.pro.yearly", "cards.lifetime",
                        "cards.coins.100",
                        "cards.season", "pro",
                    ]
                )
        )
        let subscriptions = "\(file), entitlements: { pro: [\"premium\"] }"
        #expect(fault(subscriptions) == .missingKey("cards.lifetime", in: "entitlements"))
        let unlocking = #"entitlements: { pro: ["premium"], "cards.lifetime": ["premium"] }"#
        #expect(fault("\(file), \(unlocking)") == .lengthUnknown("cards.season"))
        #expect(fault("seed: 1") == .missingKey("products", in: "a scenario"))
    }
}
