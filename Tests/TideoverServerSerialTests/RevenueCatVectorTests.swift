import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverRevenueCat
import TideoverUnionChecker

@testable import TideoverTestServer

/// The responses in the test suites of RevenueCat's SDKs.
@Suite(.enabled(if: Vectors.present, "the outside data are not beside the project"))
struct RevenueCatVectorTests {
    @Test(
        arguments: [
            ("CustomerInfo", ["premium": false, "tip": true]),
            ("CustomerInfoWithoutOriginalSource", ["premium": false, "tip": true]),
            ("CustomerInfo-v2", ["premium": true]),
        ] as [(String, [String: Bool])]
    )
    func `a customer info is read as both SDKs read it`(
        file: String,
        active: [String: Bool]
    ) throws {
        let checker = try UnionChecker(decoding: Vectors.bytes("revenuecat/\(file).json"))
        #expect(Set(checker.entitlements.keys) == Set(active.keys))
        for (entitlement, isActive) in active {
            for platform in [UnionChecker.Platform.ios, .android] {
                #expect(checker.isActive(entitlement, on: platform) == isActive, "\(entitlement)")
            }
        }
    }

    @Test func `the mapping of products to entitlements is produced`() throws {
        let catalogue = Catalogue(products: [
            "com.revenuecat.foo_1": Product(entitlements: ["pro_1"], period: Period(months: 1)),
            "com.revenuecat.foo_2": Product(
                entitlements: ["pro_1", "pro_2"],
                period: Period(months: 1)
            ),
            "com.revenuecat.foo_3": Product(entitlements: ["pro_2"], period: Period(months: 1)),
        ])
        var writer = JSONWriter()
        writer.object(SDKCatalogue(catalogue, in: .appStore).writeMapping)
        let recorded = try JSONDocument(try Vectors.bytes("revenuecat/ProductsEntitlements.json"))
        #expect(try JSONValue(JSONDocument(writer.bytes).root) == JSONValue(recorded.root))
    }
}
