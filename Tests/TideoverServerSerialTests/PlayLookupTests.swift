import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer

@testable import TideoverTestServer

/// Lookup of a Google Play purchase's owner, by the ids that a buyer or a developer can quote.
@Suite struct PlayLookupTests {
    private static let order = "GPA.3312-5543-1234-56789"

    /// Creates two months of Anna's, with an upgrade to a separate token between them.
    private func server() async throws -> TestServer {
        let play = TestPlay()
        let server = try TestServer(googlePlay: play.trust())
        func item(_ order: String) -> JSONObject {
            [
                "lineItems": [
                    [
                        "productId": "cards.pro.monthly", "expiryTime": "2026-06-01T10:00:00Z",
                        "latestSuccessfulOrderId": .string(order),
                        "autoRenewingPlan": ["autoRenewEnabled": true],
                    ]
                ]
            ]
        }
        var second = item("GPA.9999-0000-0000-00000")
        second["linkedPurchaseToken"] = "token-1"
        let end = "2026-06-01T10:00:00Z"
        play.answer(
            "token-1",
            TestPlay.subscription("ACTIVE", until: end, item("\(Self.order)..0"))
        )
        play.answer("token-2", TestPlay.subscription("ACTIVE", until: end, second))
        for token in ["token-1", "token-2"] {
            let push = try TestPlay.push(
                TestPlay.notice(4, token),
                messageId: token,
                at: server.now
            )
            #expect(try await server.service.handler(push).status == 200)
        }
        return server
    }

    private func look(_ server: TestServer, _ query: String) async throws -> [JSONValue] {
        let response = try await server.get("/v1/apps/cards/lookup?\(query)")
        #expect(response.status == 200)
        let root = try JSONDocument(response.body).root
        return try #require(root["purchases"]).elements.map { JSONValue($0) }
    }

    @Test(arguments: [
        "token=token-1", "token=token-2", "token=\(TestServer.anna)", "order=\(order)",
        "order=\(order)..0", "order=\(order)..7", "order=GPA.9999-0000-0000-00000..1",
    ])
    func `a lookup finds a purchase by each of its tokens and orders`(query: String) async throws {
        let server = try await server()
        let found = try await look(server, query)
        #expect(found.count == 1)
        #expect(found.first?["customer"]?.string == TestServer.anna)
        #expect(found.first?["store"]?.string == "googlePlay")
        #expect(found.first?["productId"]?.string == "cards.pro.monthly")
        #expect(found.first?["purchasedAt"]?.string == "2026-05-01T10:00:00.000Z")
        #expect(found.first?["orderId"]?.string?.hasPrefix("GPA.") == true)
        await server.close()
    }

    @Test func `an unknown token or order is not found and not requested from the App Store`()
        async throws
    {
        let server = try await server()
        for query in ["token=token-3", "order=GPA.1111-2222-3333-44444", "token=u_42"] {
            #expect(try await look(server, query).isEmpty, "\(query)")
        }
        await server.close()
    }

    @Test(arguments: ["order=GPA.1", "order=GPA.1..0", "order=GPA.1..7"])
    func `an order that only RevenueCat reported finds the purchase`(query: String) async throws {
        let play = TestPlay()
        play.answer("token-1", TestPlay.subscription("ACTIVE", until: "2026-06-01T10:00:00Z"))
        let server = try TestServer(
            googlePlay: play.trust(),
            revenueCat: TestRevenueCat().trust(),
            environments: [.production, .sandbox]
        )
        let event = TestRevenueCat.event("INITIAL_PURCHASE", id: "1", TestRevenueCat.play)
        #expect(try await server.hear(event) == "200 committed")
        let relayed = try await look(server, query)
        #expect(relayed.count == 1)
        #expect(relayed.first?["customer"]?.string == TestServer.anna)
        #expect(relayed.first?["lineage"]?.string == "googlePlay:GPA.1")
        #expect(relayed.first?["productId"]?.string == "cards.pro.monthly")
        #expect(relayed.first?["orderId"]?.string == "GPA.1..0")
        #expect(relayed.first?["transactionId"] == .null)
        // Once the store reports the purchase, its own name counts.
        let push = try TestPlay.push(TestPlay.notice(4), messageId: "1", at: server.now)
        #expect(try await server.service.handler(push).status == 200)
        let stored = try await look(server, query)
        #expect(stored.count == 1)
        #expect(stored.first?["lineage"]?.string != "googlePlay:GPA.1")
        #expect(stored.first?["customer"]?.string == TestServer.anna)
        await server.close()
    }

    /// Creates a server without notifications, and a store that knows one order.
    private func uninformed(_ play: TestPlay) throws -> TestServer {
        play.answer(
            Self.order,
            [
                "orderId": .string(Self.order), "purchaseToken": "token-9",
                "lineItems": [["productId": "cards.pro.monthly", "subscriptionDetails": [:]]],
            ]
        )
        return try TestServer(googlePlay: play.trust(), sleep: { _ in { _ in } })
    }

    @Test func `an unknown order is requested, and its purchase is stored`() async throws {
        let play = TestPlay()
        let server = try uninformed(play)
        play.answer("token-9", TestPlay.subscription("ACTIVE", until: "2026-06-01T10:00:00Z"))
        let found = try await look(server, "order=\(Self.order)")
        #expect(found.map { $0["customer"]?.string } == [TestServer.anna])
        #expect(
            play.questions == [
                "com.example.cards/orders/\(Self.order)", "subscriptionsv2/tokens/token-9",
            ]
        )
        // The purchase is now also known by its token.
        #expect(try await look(server, "token=token-9") == found)
        await server.close()
    }

    @Test func `an order of a one-time product finds the purchase`() async throws {
        let play = TestPlay()
        let server = try TestServer(
            catalogue: TestPlay.catalogue,
            googlePlay: play.trust(),
            sleep: { _ in { _ in } }
        )
        play.answer(
            "GPA.2",
            [
                "orderId": "GPA.2", "purchaseToken": "token-8",
                "lineItems": [["productId": "cards.lifetime", "oneTimePurchaseDetails": [:]]],
            ]
        )
        play.answerProduct("token-8", TestPlay.lifetime)
        let found = try await look(server, "order=GPA.2")
        #expect(found.map { $0["productId"]?.string } == ["cards.lifetime"])
        await server.close()
    }

    @Test(arguments: [400, 404])
    func `an order that the store does not know has no owner`(status: Int) async throws {
        let play = TestPlay()
        let server = try uninformed(play)
        play.answer(Self.order, status: status)
        #expect(try await look(server, "order=\(Self.order)").isEmpty)
        await server.close()
    }

    @Test(arguments: [(503, nil), (401, nil), (nil, 503)] as [(Int?, Int?)])
    func `an unreachable store does not mean that the order is unknown`(
        order: Int?,
        token: Int?
    ) async throws {
        let play = TestPlay()
        let server = try uninformed(play)
        if let order { play.answer(Self.order, status: order) }
        if let token { play.answer("token-9", status: token) }
        let response = try await server.get("/v1/apps/cards/lookup?order=\(Self.order)")
        #expect(response.status == 503)
        let problem = try JSONDocument(response.body).root
        #expect(problem["type"]?.string == "/problems/store-did-not-answer")
        #expect(problem["detail"]?.string?.contains("Google Play") == true)
        await server.close()
    }

    @Test func `an unclaimed purchase has instructions to claim it`() async throws {
        let play = TestPlay()
        let server = try TestServer(googlePlay: play.trust())
        play.answer(
            "token-1",
            TestPlay.subscription(
                "ACTIVE",
                until: "2026-06-01T10:00:00Z",
                ["externalAccountIdentifiers": [:]]
            )
        )
        let push = try TestPlay.push(TestPlay.notice(4), messageId: "1", at: server.now)
        _ = try await server.service.handler(push)
        let found = try await look(server, "token=token-1")
        #expect(found.first?["customer"] == .null)
        #expect(found.first?["claim"]?["how"]?.string?.contains("purchaseToken") == true)
        await server.close()
    }
}
