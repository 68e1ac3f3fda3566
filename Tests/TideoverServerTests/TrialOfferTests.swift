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

    private static let monthly = Product(
        entitlements: ["premium"],
        group: "pro",
        period: Period(months: 1),
        trial: Period(days: 3)
    )

    /// A free trial of a month.
    private static var trial: JSONObject {
        var trial = Device.transaction(1)
        trial["offerType"] = 1
        trial["offerDiscountType"] = "FREE_TRIAL"
        return trial
    }

    /// Another customer's device presents a purchase, then the device of a new customer does.
    private func server(presenting transaction: JSONObject) async throws -> TestServer {
        let server = try TestServer(
            catalogue: Catalogue(products: ["cards.pro.monthly": Self.monthly])
        )
        let signed = JSONValue.string(try server.store.sign(transaction))
        for (customer, ownership) in [("u_1", "claimed"), ("u_9", "held-by-another")] {
            let device = Device(server: server, customer: customer)
            let answer = try await device.present(["transactions": [signed]]).answer
            #expect(Device.items(answer) == ["accepted \(ownership)"])
        }
        return server
    }

    private func offered(
        _ transaction: JSONObject
    ) async throws -> (offer: JSONValue?, words: JSONValue?, why: [String]) {
        let server = try await server(presenting: transaction)
        let premium = try await premium(server)
        let response = try await server.get(
            "/v1/apps/cards/customers/u_9/explain?environment=sandbox"
        )
        let explained = JSONValue(try JSONDocument(response.body).root)["entitlements"]?["premium"]
        await server.close()
        return (
            premium?["trialOffer"], premium?["words"],
            explained?["why"]?.array?.compactMap(\.string) ?? []
        )
    }

    @Test func `a device with another customer's trial gets no offer of one`() async throws {
        let used = try await offered(Self.trial)
        #expect(used.offer?["eligibility"] == "used")
        #expect(used.words == .null)
        #expect(used.why.contains { $0.contains("that used the introductory offer") })
    }

    @Test func `a device with another customer's renewal alone has to ask its store`()
        async throws
    {
        var renewal = Device.transaction(1)
        renewal["transactionReason"] = "RENEWAL"
        let unknown = try await offered(renewal)
        #expect(unknown.offer?["eligibility"] == "unknown")
        #expect(unknown.words == .null)
        #expect(unknown.why.contains { $0.contains("may have used the introductory offer") })
    }

    @Test func `an import knows the offers that a device presented`() async throws {
        let server = try await server(presenting: Self.trial)
        var lines: [[UInt8]] = []
        var next: String?
        repeat {
            let after = next.map { "&after=\($0)" } ?? ""
            let response = try await server.get("/v1/apps/cards/export?environment=sandbox\(after)")
            let page = try JSONDocument(response.body, limits: .local).root
            if lines.isEmpty { lines.append(Array(try #require(page["header"]).source)) }
            lines += try #require(page["lines"]).elements.map { Array($0.source) }
            next = page["next"]?.string
        } while next != nil
        let other = try TestServer(
            catalogue: Catalogue(products: ["cards.pro.monthly": Self.monthly]),
            store: server.store
        )
        let body = Array(lines.joined(separator: [UInt8(ascii: "\n")]))
        let told = try await other.send("POST", "/v1/apps/cards/import", body: body)
        #expect(JSONValue(try JSONDocument(told.body).root)["refused"] == [])
        #expect(try await premium(other)?["trialOffer"]?["eligibility"] == "used")
        await other.close()
        await server.close()
    }

    @Test func `another customer's purchase without an offer leaves the trial`() async throws {
        let eligible = try await offered(Device.transaction(1))
        #expect(eligible.offer?["eligibility"] == "eligible")
        #expect(eligible.words?["key"] == "trial.offer.unpriced")
        #expect(!eligible.why.contains { $0.contains("introductory offer") })
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
