import Testing
import TideoverCore
import TideoverGooglePlay
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// Whether Google Play's notifications arrive, and how late.
@Suite struct PlayArrivalTests {
    private static let end: Instant = "2026-06-01T10:00:00Z"
    private static let june = TestPlay.subscription("ACTIVE", until: end.rfc3339)

    private func push(
        _ server: TestServer,
        _ content: JSONObject,
        _ messageId: String,
        claims: JSONObject = [:]
    ) async throws -> Int {
        let request = try TestPlay.push(
            content,
            messageId: messageId,
            at: server.now,
            claims: claims
        )
        return try await server.service.handler(request).status
    }

    private func arrivals(
        _ server: TestServer,
        _ environment: String = "sandbox",
        store: String = "googlePlay"
    ) async throws -> JSONValue {
        let query = "environment=\(environment)&store=\(store)"
        let response = try await server.get("/v1/apps/cards/arrivals?\(query)")
        #expect(response.status == 200)
        return JSONValue(try JSONDocument(response.body).root)
    }

    // MARK: Arrivals

    @Test func `a push is recorded for every environment and for its store only`() async throws {
        let play = TestPlay()
        let server = try TestServer(googlePlay: play.trust())
        play.answer("token-1", Self.june)
        #expect(try await arrivals(server)["lastArrivedAt"] == .null)
        #expect(try await push(server, TestPlay.notice(4), "1") == 200)
        let at = server.now.rfc3339
        #expect(try await arrivals(server)["lastArrivedAt"]?.string == at)
        #expect(try await arrivals(server, "simulated")["lastArrivedAt"]?.string == at)
        #expect(try await arrivals(server, store: "appStore")["lastArrivedAt"] == .null)
        server.set(server.now + .minutes(1))
        // A repeated notification counts as another arrival.
        #expect(try await push(server, TestPlay.notice(4), "1") == 200)
        #expect(try await arrivals(server)["lastArrivedAt"]?.string == server.now.rfc3339)
        await server.close()
    }

    @Test func `a test notification is listed with its id from Pub/Sub`() async throws {
        let server = try TestServer(googlePlay: TestPlay().trust())
        #expect(try await push(server, TestPlay.test, "message-7") == 200)
        let tests = try await arrivals(server)["tests"]?.array
        #expect(tests?.map { $0["messageId"]?.string } == ["message-7"])
        #expect(tests?.first?["arrivedAt"]?.string == server.now.rfc3339)
        await server.close()
    }

    @Test func `a misdirected push is reported with the claims of its token`() async throws {
        let server = try TestServer(googlePlay: TestPlay().trust())
        #expect(try await arrivals(server)["misdirected"] == .null)
        let claims: JSONObject = ["aud": "https://old.example/push"]
        #expect(try await push(server, TestPlay.test, "1", claims: claims) == 401)
        let push = try await arrivals(server)["misdirected"]
        #expect(push?["reason"]?.string == "push-token-audience")
        #expect(push?["audience"]?.string == "https://old.example/push")
        #expect(push?["email"]?.string == TestPlay.email)
        #expect(try await arrivals(server)["lastArrivedAt"] == .null)
        await server.close()
    }

    @Test func `an unknown or unconfigured store is rejected`() async throws {
        let server = try TestServer()
        for (query, status) in [("store=amazon", 400), ("store=googlePlay", 404)] {
            for route in ["arrivals", "survey"] {
                let target = "/v1/apps/cards/\(route)?environment=sandbox&\(query)"
                #expect(try await server.get(target).status == status)
            }
        }
        await server.close()
    }

    // MARK: The report

    @Test func `a read that a push causes counts as pushed, with the delay of its event`()
        async throws
    {
        let play = TestPlay()
        let server = try TestServer(catalogue: TestPlay.catalogue, googlePlay: play.trust())
        play.answer("token-1", Self.june)
        play.answerProduct("token-2", TestPlay.lifetime)
        let old = try TestPlay.push(TestPlay.notice(4), messageId: "1", at: server.now)
        server.set(server.now + .minutes(3))
        play.set(server.now)
        #expect(try await server.service.handler(old).status == 200)
        // Another notification without a change.
        server.set(server.now + .minutes(3))
        play.set(server.now)
        #expect(try await push(server, TestPlay.notice(19), "2") == 200)
        _ = try await Device(server: server, customer: TestServer.anna).present([
            "purchases": [["store": "google", "purchaseToken": "token-2"]]
        ])
        let report = try await server.get("/v1/reports/arrival?app=cards")
        let rows = try #require(JSONValue(try JSONDocument(report.body).root)["rows"]?.array)
        let row = try #require(
            rows.first {
                $0["store"]?.string == "googlePlay" && $0["environment"]?.string == "sandbox"
            }
        )
        #expect(row["changes"]?.int64 == 2)
        #expect(row["pushed"]?["count"]?.int64 == 1)
        // Delays keep ten binary digits.
        let delay = try #require(row["pushed"]?["delay"]?["medianSeconds"]?.double)
        #expect((179.6...180).contains(delay))
        #expect(row["asked"]?["count"]?.int64 == 1)
        #expect(rows.contains { $0["store"]?.string == "appStore" })
        await server.close()
    }

    @Test func `the survey lists the purchases of the store`() async throws {
        let play = TestPlay()
        let server = try TestServer(googlePlay: play.trust())
        play.answer(
            "token-1",
            TestPlay.subscription("IN_GRACE_PERIOD", until: "2026-06-04T10:00:00Z")
        )
        #expect(try await push(server, TestPlay.notice(6), "1") == 200)
        let target = "/v1/apps/cards/survey?environment=sandbox&store="
        let survey = JSONValue(
            try JSONDocument(try await server.get(target + "googlePlay").body).root
        )
        let term = survey["terms"]?.array?.first
        #expect(term?["product"]?.string == "cards.pro.monthly")
        #expect(term?["count"]?.int64 == 1)
        #expect(survey["failures"]?.array?.first?["grace"]?.string == "granted")
        let apples = JSONValue(
            try JSONDocument(try await server.get(target + "appStore").body).root
        )
        #expect(apples["terms"]?.array == [])
        await server.close()
    }

    // MARK: Missing notifications

    private func read(
        _ state: PlaySubscription.State,
        until end: Instant,
        at said: Instant,
        renews: Bool = true,
        learnedAt: Instant? = nil
    ) -> Fact {
        let token = PlayToken("t")
        let item = PlayItem(
            productId: "cards.pro.monthly",
            expiresAt: end,
            plan: .autoRenewing(isOn: renews)
        )
        return Fact(
            lineage: Lineage(store: .googlePlay, environment: .production, id: "t"),
            assertion: .playSubscription(
                PlaySubscription(token: token, askedAt: said, state: state, items: [item])
            ),
            effectiveAt: said,
            assertedAt: said,
            learnedAt: learnedAt ?? said,
            source: .playNotification,
            evidence: EvidenceID(hex: "\(said)")
        )
    }

    private func due(_ facts: [Fact], after instant: Instant) -> [Instant] {
        LineageRecord(lineage: facts[0].lineage, facts: facts, owners: []).renewalsDue(
            after: instant
        )
    }

    @Test func `a notification is due two days after the end of a renewing period`() {
        let start: Instant = "2026-05-01T10:00:00Z"
        let bought = read(.active, until: Self.end, at: start)
        let owed = Self.end + .hours(48)
        #expect(due([bought], after: start) == [owed])
        #expect(due([bought], after: owed) == [])
        let off = read(.active, until: Self.end, at: start + .days(1), renews: false)
        #expect(due([bought, off], after: start + .days(1)) == [])
        let over = read(.expired, until: Self.end, at: Self.end, renews: false)
        #expect(due([bought, over], after: start + .days(1)) == [])
        // A change found by a query does not cancel the due notification.
        let next = read(.active, until: Self.end + .days(30), at: Self.end + .days(1))
        #expect(due([bought, next], after: start + .days(1)).min() == owed)
        // A reported change does.
        #expect(due([bought, next], after: Self.end + .days(1)).min() == owed + .days(30))
    }

    @Test func `missing pushes of Google Play raise an alarm, which ends with a push`()
        async throws
    {
        let play = TestPlay()
        let until = Locked<Instant>(.distantPast)
        let server = try TestServer(
            googlePlay: play.trust(),
            sleep: { clock in
                { duration in
                    guard clock.now < until.withLock({ $0 }) else { throw CancellationError() }
                    clock.now = clock.now + .seconds(duration.components.seconds)
                }
            }
        )
        play.answer("token-1", Self.june)
        #expect(try await push(server, TestPlay.notice(4), "1") == 200)
        let owed = Self.end + .hours(48)
        func watch(from start: Instant, until end: Instant) async {
            server.set(start)
            until.withLock { $0 = end }
            await server.service.work(on: [.silences])
        }
        await watch(from: owed, until: owed + .hours(6) - .minutes(2))
        #expect(try await arrivals(server)["alarmSince"] == .null)
        await watch(from: server.now, until: owed + .hours(8))
        #expect(try await arrivals(server)["alarmSince"]?.string != nil)
        #expect(try await arrivals(server, store: "appStore")["alarmSince"] == .null)
        let raised = server.logged.filter { $0.contains("no notifications arrive") }
        #expect(raised.count == 1)
        #expect(raised.first?.contains("Google Play") == true)
        play.set(server.now)
        #expect(try await push(server, TestPlay.test, "2") == 200)
        #expect(try await arrivals(server)["alarmSince"] == .null)
        await server.close()
    }
}
