import Testing
import TideoverCore
import TideoverGooglePlay
import TideoverHTTP
import TideoverJSON
import TideoverSQLite
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// Google Play notifications through the route, with the store available, unavailable, and without
/// credentials.
struct PlayIngestTests {
    private static let end = "2026-06-01T10:00:00Z"
    private static let active = TestPlay.subscription("ACTIVE", until: end)

    private func push(
        _ server: TestServer,
        _ content: JSONObject,
        _ messageId: String = "1",
        claims: JSONObject = [:]
    ) async throws -> (status: Int, word: String?) {
        let request = try TestPlay.push(
            content,
            messageId: messageId,
            at: server.now,
            claims: claims
        )
        let response = try await server.service.handler(request)
        let root = try JSONDocument(response.body).root
        return (response.status, (root["type"] ?? root["status"])?.string)
    }

    private func facts(_ server: TestServer, _ environment: Environment) throws -> [Fact] {
        try server.storage.lineages(
            in: AppScope("cards", environment),
            after: nil,
            limit: 10
        ).flatMap(\.facts)
    }

    @Test func `a notification prompts a read, and the answer decides`() async throws {
        let play = TestPlay()
        let server = try TestServer(googlePlay: play.trust())
        play.answer("token-1", Self.active)
        // The notification reports an end that is not true.
        let pushed = try await push(server, TestPlay.notice(13))
        #expect(pushed == (200, "committed"))
        #expect(play.questions == ["subscriptionsv2/tokens/token-1"])
        #expect(try await server.premium() == "active paid access")
        await server.close()
    }

    @Test func `a failed payment links to the page of the subscription`() async throws {
        let play = TestPlay()
        let server = try TestServer(googlePlay: play.trust())
        play.answer("token-1", TestPlay.subscription("ON_HOLD", until: "2026-05-01T10:00:03Z"))
        #expect(try await push(server, TestPlay.notice(5)) == (200, "committed"))
        let target = "/v1/apps/cards/customers/\(TestServer.anna)?environment=sandbox"
        let snapshot = try JSONDocument(try await server.get(target).body).root
        let page =
            "https://play.google.com/store/account/subscriptions"
            + "?sku=cards.pro.monthly&package=com.example.cards"
        let entitlement = snapshot["entitlements"]?["premium"]
        #expect(entitlement?["advice"]?["kind"]?.string == "fixPayment")
        #expect(entitlement?["advice"]?["url"]?.string == page)
        #expect(snapshot["prompt"]?["action"]?["url"]?.string == page)
        await server.close()
    }

    @Test func `a repeated message changes nothing`() async throws {
        let play = TestPlay()
        let server = try TestServer(googlePlay: play.trust())
        play.answer("token-1", Self.active)
        #expect(try await push(server, TestPlay.notice(4)) == (200, "committed"))
        let known = try facts(server, .sandbox)
        #expect(try await push(server, TestPlay.notice(4)) == (200, "duplicate"))
        #expect(try facts(server, .sandbox) == known)
        await server.close()
    }

    @Test(arguments: [500, 503, 429, 403, 401])
    func `while the store is down the last answer remains, and the push is repeated`(
        status: Int
    ) async throws {
        let play = TestPlay()
        let server = try TestServer(googlePlay: play.trust())
        play.answer("token-1", Self.active)
        _ = try await push(server, TestPlay.notice(4))
        play.answer("token-1", status: status)
        let (found, word) = try await push(server, TestPlay.notice(12), "2")
        #expect(found == 503)
        #expect(word?.hasSuffix("store-not-asked") == true)
        #expect(try await server.premium() == "active paid access")
        let inquiries = try facts(server, .sandbox).filter { fact in
            if case .inquiry = fact.assertion { true } else { false }
        }
        #expect(inquiries.map(\.source) == [.playAPI])
        play.answer(
            "token-1",
            TestPlay.subscription("EXPIRED", until: "2026-05-01T10:00:01Z")
        )
        #expect(try await push(server, TestPlay.notice(12), "2") == (200, "committed"))
        #expect(try await server.premium().hasSuffix("none"))
        await server.close()
    }

    @Test func `an incomplete answer is requested again`() async throws {
        let play = TestPlay()
        let server = try TestServer(googlePlay: play.trust())
        play.answer("token-1", ["lineItems": []])
        let (status, word) = try await push(server, TestPlay.notice(4))
        #expect(status == 503)
        #expect(word?.hasSuffix("store-answer-not-understood") == true)
        #expect(try facts(server, .sandbox).isEmpty)
        await server.close()
    }

    @Test func `a purchase that the store does not know after an hour is an answer without facts`()
        async throws
    {
        let play = TestPlay()
        let server = try TestServer(googlePlay: play.trust())
        let told = { (ago: Milliseconds) -> JSONObject in
            var content = TestPlay.notice(4)
            let instant = server.now - ago
            content["eventTimeMillis"] = .string("\(instant.millisecondsSince1970)")
            return content
        }
        #expect(try await push(server, told(.zero)).status == 503)
        #expect(try await push(server, told(.minutes(59))).status == 503)
        #expect(try await push(server, told(.minutes(60))).status == 200)
        #expect(try facts(server, .sandbox).isEmpty)
        await server.close()
    }

    @Test func `a purchase that the store knows only later is stored with the next push`()
        async throws
    {
        let play = TestPlay()
        let server = try TestServer(googlePlay: play.trust())
        #expect(try await push(server, TestPlay.notice(4)).status == 503)
        play.answer("token-1", Self.active)
        #expect(try await push(server, TestPlay.notice(4)) == (200, "committed"))
        await server.close()
    }

    @Test func `a token joins the chain of its linked tokens`() async throws {
        let play = TestPlay()
        let server = try TestServer(googlePlay: play.trust())
        play.answer("token-1", Self.active)
        let linked: (String) -> JSONObject = { ["linkedPurchaseToken": .string($0)] }
        play.answer("token-2", TestPlay.subscription("ACTIVE", until: Self.end, linked("token-1")))
        play.answer("token-3", TestPlay.subscription("ACTIVE", until: Self.end, linked("token-2")))
        for (number, token) in ["token-1", "token-2", "token-3"].enumerated() {
            _ = try await push(server, TestPlay.notice(4, token), "\(number)")
        }
        #expect(Set(try facts(server, .sandbox).map(\.lineage)).count == 1)
        #expect(try facts(server, .sandbox).count == 3)
        await server.close()
    }

    @Test func `without credentials the type decides, and a test causes no request`() async throws {
        let play = TestPlay()
        let server = try TestServer(googlePlay: play.trust(asksStore: false))
        #expect(try await push(server, TestPlay.test, "0") == (200, "committed"))
        #expect(try facts(server, .simulated).isEmpty)
        #expect(try await push(server, TestPlay.notice(4)) == (200, "committed"))
        let facts = try facts(server, .simulated)
        #expect(facts.map(\.rank) == [.inferred])
        #expect(facts.map(\.source) == [.playNotification])
        #expect(play.questions.isEmpty)
        await server.close()
    }

    @Test func `an unknown type without credentials is counted and states no facts`() async throws {
        let server = try TestServer(googlePlay: TestPlay().trust(asksStore: false))
        #expect(try await push(server, TestPlay.notice(99)) == (200, "committed"))
        let counts = try await server.counts()
        let name = "subscriptionNotification.notificationType=99"
        #expect(counts == ["unrecognised \(name) 1"])
        let series = "tideover_unrecognised_words_total{app=\"cards\",field="
        #expect(try await server.samples().contains { $0.hasPrefix(series) && $0.hasSuffix(" 1") })
        await server.close()
    }

    @Test(
        arguments: [
            (["aud": "https://other.example"], "push-token-audience"),
            (["email": "other@p.example"], "push-token-sender"),
            (["email_verified": false], "push-token-sender-unverified"),
            (["exp": 5], "push-token-expired"), (["iss": "https://x.example"], "push-token-issuer"),
        ] as [(JSONObject, String)]
    )
    func `a push without a token of Pub/Sub is rejected with 401`(
        claims: JSONObject,
        code: String
    ) async throws {
        let play = TestPlay()
        let server = try TestServer(googlePlay: play.trust())
        play.answer("token-1", Self.active)
        let (status, word) = try await push(server, TestPlay.notice(4), claims: claims)
        #expect(status == 401)
        #expect(word?.hasSuffix(code) == true)
        #expect(play.questions.isEmpty)
        #expect(try await server.counts() == ["refusal \(code) 1"])
        await server.close()
    }

    @Test func `a push for another app is rejected, and an app without Google Play has no route`()
        async throws
    {
        let server = try TestServer(googlePlay: TestPlay().trust())
        var other = TestPlay.notice(4)
        other["packageName"] = "x.y"
        #expect(try await push(server, other).status == 422)
        await server.close()
        let without = try TestServer()
        #expect(try await push(without, TestPlay.test).status == 404)
        await without.close()
    }

    @Test func `a replay of the stored evidence adds no facts`() async throws {
        let play = TestPlay()
        let server = try TestServer(googlePlay: play.trust())
        play.answer("token-1", Self.active)
        _ = try await push(server, TestPlay.notice(4))
        let report = try await server.service.replayed()
        #expect(report["status"]?.string == "completed")
        #expect(report["evidence"]?.int64 == 1)
        #expect(report["added"]?["count"]?.int64 ?? 0 == 0)
        #expect(report["unread"]?["count"]?.int64 ?? 0 == 0)
        #expect(report["unreadable"] == [:])
        await server.close()
    }

    @Test func `no purchase token and no customer reaches the log`() async throws {
        let play = TestPlay()
        let server = try TestServer(googlePlay: play.trust())
        play.answer("token-1", Self.active)
        _ = try await push(server, TestPlay.notice(4))
        play.answer("token-1", status: 503)
        _ = try await push(server, TestPlay.notice(4), "2")
        for line in server.logged {
            #expect(!line.contains("token-1"))
            #expect(!line.contains(TestServer.anna))
        }
        await server.close()
    }
}
