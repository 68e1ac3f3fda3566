import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer

@testable import TideoverTestServer

/// The trial that a customer is offered, in the routes' responses.
@Suite struct TrialOfferTests {
    private static let ours = Product(
        entitlements: ["premium"],
        group: "pro",
        period: Period(months: 1),
        trial: Period(days: 3)
    )
    private static let googles = Product(
        entitlements: ["premium"],
        group: "play",
        period: Period(months: 1),
        trial: Period(days: 7)
    )

    private func premium(
        _ server: TestServer,
        _ store: String? = nil
    ) async throws -> JSONValue? {
        let query = "environment=sandbox" + (store.map { "&store=\($0)" } ?? "")
        let response = try await server.get("/v1/apps/cards/customers/u_9?\(query)")
        let root = JSONValue(try JSONDocument(response.body).root)
        if response.status != 200 { return root }
        return root["entitlements"]?["premium"]
    }

    @Test func `a device without purchases makes a new customer eligible, with a text`()
        async throws
    {
        let server = try TestServer(catalogue: Catalogue(products: ["cards.pro": Self.ours]))
        let before = try await premium(server)
        #expect(before?["trialOffer"]?["eligibility"] == "unknown")
        #expect(before?["words"] == .null)
        let device = Device(server: server, customer: "u_9")
        _ = try await device.present(["nothing": true], environment: "sandbox")
        let after = try await premium(server)
        #expect(after?["trialOffer"]?["eligibility"] == "eligible")
        #expect(after?["trialOffer"]?["store"] == "appStore")
        #expect(after?["words"]?["key"] == "trial.offer.unpriced")
        await server.close()
    }

    @Test(arguments: [
        ("&store=appStore", "appStore", "eligible"), ("&store=appStore", "googlePlay", "unknown"),
        ("&store=googlePlay", "googlePlay", "eligible"), ("", "appStore", "unknown"),
    ])
    func `a request that names its store makes its customer eligible there`(
        device: String,
        asked: String,
        eligibility: String
    ) async throws {
        let server = try TestServer(
            catalogue: Catalogue(
                products: ["cards.pro": Self.ours, "cards.play:monthly": Self.googles]
            ),
            googlePlay: TestPlay().trust(asksStore: false)
        )
        let request = "/v1/apps/cards/customers/u_9/reconcile?environment=sandbox\(device)"
        _ = try await server.send("POST", request, body: Array(#"{"nothing": true}"#.utf8))
        let offer = try await premium(server, asked)?["trialOffer"]
        #expect(offer?["eligibility"]?.string == eligibility)
        #expect(offer?["store"]?.string == asked)
        await server.close()
    }

    @Test func `the offer contains a product of the requested store`() async throws {
        let server = try TestServer(
            catalogue: Catalogue(
                products: ["cards.pro": Self.ours, "cards.play:monthly": Self.googles]
            ),
            googlePlay: TestPlay().trust(asksStore: false)
        )
        let cases = [("appStore", "cards.pro"), ("googlePlay", "cards.play:monthly")]
        for (store, product) in cases {
            let offer = try await premium(server, store)?["trialOffer"]
            #expect(offer?["productId"]?.string == product)
            #expect(offer?["store"]?.string == store)
        }
        #expect(slug(try await premium(server, "amazon") ?? .null) == "unknown-store")
        await server.close()
    }
}
