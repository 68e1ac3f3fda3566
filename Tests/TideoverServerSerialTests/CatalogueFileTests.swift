import Foundation
import Testing
import TideoverConfiguration
import TideoverCore
import TideoverServer

@testable import TideoverTestServer

/// `apps[].catalogue`: Xcode's StoreKit configuration file.
@Suite struct CatalogueFileTests: ConfigurationSuite {
    static func file() throws -> [UInt8] {
        let example = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Examples/Products.storekit")
        return Array(try Data(contentsOf: example))
    }

    private func text(_ members: String) -> String {
        app(#"appStore: { bundleId: "a.b" }, catalogue: "Products.storekit", \#(members)"#)
    }

    private static let unlocking = #"""
        entitlements: { "pro": ["premium"], "cards.lifetime": ["premium", "archive"],
          "cards.season": ["league"] }
        """#

    @Test func `products of the file unlock the entitlements of their names or groups`() throws {
        let configuration = try load(
            text(Self.unlocking),
            files: ["etc/Products.storekit": try Self.file()]
        )
        let catalogue = try #require(configuration.apps.first?.catalogue)
        let price = { (milliunits: Int64) in Money(milliunits: milliunits, currency: "USD") }
        #expect(
            catalogue.products == [
                "cards.pro.monthly": Product(
                    entitlements: ["premium"],
                    group: "pro",
                    period: Period(months: 1),
                    trial: Period(days: 3),
                    price: price(9990),
                    store: .appStore
                ),
                "cards.pro.yearly": Product(
                    entitlements: ["premium"],
                    group: "pro",
                    period: Period(iso8601: "P1Y"),
                    price: price(79_990),
                    store: .appStore
                ),
                "cards.lifetime": Product(
                    entitlements: ["premium", "archive"],
                    kind: .nonConsumable,
                    price: price(49_990),
                    store: .appStore
                ),
                "cards.coins.100": Product(
                    entitlements: [],
                    kind: .consumable,
                    price: price(990),
                    store: .appStore
                ),
                "cards.season": Product(
                    entitlements: ["league"],
                    kind: .nonRenewing,
                    price: price(4990),
                    store: .appStore
                ),
            ]
        )
    }

    @Test func `a listed product overrides the product of the file`() throws {
        let own = #"products: { "cards.season": { entitlements: ["a"], kind: "nonConsumable" } }"#
        let configuration = try load(
            text("\(Self.unlocking), \(own)"),
            files: ["etc/Products.storekit": try Self.file()]
        )
        let catalogue = try #require(configuration.apps.first?.catalogue)
        #expect(catalogue["cards.season"] == Product(entitlements: ["a"], kind: .nonConsumable))
        #expect(catalogue.products.count == 5)
    }

    @Test func `a non-renewing product of the file needs a length in the configuration`() throws {
        let files = ["etc/Products.storekit": try Self.file()]
        let found = try load(text(Self.unlocking), files: files).notices
        let notice = try #require(found.first)
        #expect(found.count == 1)
        #expect(notice.hasPrefix("apps[0].catalogue states no length of `cards.season`"))
        #expect(notice.hasSuffix(#"such as `period: "P3M"`"#))
        let own = #"""
            products: { "cards.season":
              { entitlements: ["league"], kind: "nonRenewing", period: "P3M" } }
            """#
        #expect(try load(text("\(Self.unlocking), \(own)"), files: files).notices == [])
        let locked = #"entitlements: { pro: ["a"], "cards.lifetime": ["a"], "cards.season": [] }"#
        #expect(try load(text(locked), files: files).notices == [])
    }

    @Test func `products without entitlements and unknown names are reported`() throws {
        let members = #"entitlements: { "por": ["premium"], "cards.season": [] }"#
        let files = ["etc/Products.storekit": try Self.file()]
        #expect(
            reasons(text(members), files: files) == [
                .unlocksNothing(product: "cards.pro.monthly"),
                .unlocksNothing(product: "cards.pro.yearly"),
                .unlocksNothing(product: "cards.lifetime"),
                .unknownKey("por", closest: "pro"),
            ]
        )
        #expect(
            reasons(app(#"appStore: { bundleId: "a.b" }, entitlements: { "pro": ["a"] }"#))
                == [.missing(.fileName)]
        )
    }

    @Test func `a malformed file is reported with its position`() throws {
        let files = ["etc/Products.storekit": Array("{}".utf8)]
        let found = problems(text(Self.unlocking), files: files)
        #expect(found.count == 1)
        #expect(found.first?.contains("etc/Products.storekit:1:1: this is no StoreKit") == true)
        #expect(problems(text(Self.unlocking)).first?.contains("cannot be read") == true)
    }
}
