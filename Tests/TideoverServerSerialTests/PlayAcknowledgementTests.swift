import Testing
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverServer

@testable import TideoverTestServer

/// Acknowledging purchases on Google Play before it refunds them.
@Suite struct PlayAcknowledgementTests {
    private static let end: Instant = "2026-06-01T10:00:00Z"
    private static let pending: JSONObject = [
        "acknowledgementState": "ACKNOWLEDGEMENT_STATE_PENDING"
    ]

    private func backEnd(
        _ google: ScriptedPlay,
        acknowledges: Bool = true
    ) throws -> PlayBackEnd {
        try PlayBackEnd(google, choices: PlayChoices(acknowledges: acknowledges))
    }

    /// Creates a store with purchases that await acknowledgement.
    private func google(_ changes: JSONObject = [:]) -> ScriptedPlay {
        let google = ScriptedPlay(TestTime(at: PlayBackEnd.start, movesClock: true))
        let isTold = Locked(false)
        google.acknowledge { _ in
            isTold.withLock { $0 = true }
            return Response(body: Array("{}".utf8))
        }
        google.play("token-1") { _ in
            var changes = changes
            if !isTold.withLock({ $0 }) {
                changes["acknowledgementState"] = "ACKNOWLEDGEMENT_STATE_PENDING"
            }
            return ScriptedPlay.subscription("ACTIVE", until: Self.end, changes)
        }
        return google
    }

    /// Returns a gauge of acknowledgements in production from `/metrics`.
    private func gauge(_ name: String, _ backEnd: PlayBackEnd) async throws -> String? {
        let labels = #"{app="cards",environment="production"} "#
        let series = "tideover_play_acknowledgements_\(name)\(labels)"
        let sample = try await backEnd.samples().first { $0.hasPrefix(series) }
        return sample.map { String($0.dropFirst(series.count)) }
    }

    private func told(_ google: ScriptedPlay) -> [ScriptedPlay.Call] {
        google.calls.filter { $0.method == "POST" }
    }

    @Test func `a stored purchase is acknowledged, and the state at the store is recorded`()
        async throws
    {
        let google = google()
        let backEnd = try backEnd(google)
        try await backEnd.push(4, "token-1")
        #expect(told(google).isEmpty)
        try await backEnd.live(until: PlayBackEnd.start + .hours(1))
        #expect(
            told(google).map(\.path) == [
                "subscriptions/cards.pro.monthly/tokens/token-1:acknowledge"
            ]
        )
        let states = try backEnd.facts().compactMap { fact -> Bool? in
            guard case .playSubscription(let read) = fact.assertion else { return nil }
            return read.isAcknowledged
        }
        #expect(states == [false, true])
        #expect(try await gauge("awaited", backEnd) == "0")
        await backEnd.close()
    }

    @Test func `the deadlines list an acknowledgement that waits, until it is made`() async throws {
        let google = google()
        let backEnd = try backEnd(google)
        try await backEnd.push(4, "token-1")
        func deadlines() async throws -> [JSONValue] {
            let rows = try await backEnd.get("/v1/reports/deadlines?app=cards")["rows"]?.array
            let row = rows?.first { $0["environment"]?.string == "production" }
            return row?["deadlines"]?.array ?? []
        }
        let waiting = try #require(try await deadlines().first)
        #expect(waiting["kind"]?.string == "acknowledgement")
        #expect(waiting["at"]?.string == "2026-05-04T10:00:00.000Z")
        #expect(waiting["customer"]?.string == TestServer.anna)
        try await backEnd.live(until: PlayBackEnd.start + .hours(1))
        #expect(try await deadlines().isEmpty)
        await backEnd.close()
    }

    @Test func `a one-time purchase is acknowledged after it is paid`() async throws {
        let google = ScriptedPlay(TestTime(at: PlayBackEnd.start, movesClock: true))
        let paid = PlayBackEnd.start + .hours(5)
        google.play("token-2") { now in
            ScriptedPlay.lifetime(now < paid ? "PENDING" : "PURCHASED", Self.pending)
        }
        let backEnd = try backEnd(google)
        let notice: JSONObject = [
            "oneTimeProductNotification": [
                "version": "1.0", "notificationType": 1, "purchaseToken": "token-2",
                "sku": "cards.lifetime",
            ]
        ]
        let request = try TestPlay.push(notice, messageId: "1", at: google.time.clock.now)
        #expect(try await backEnd.service.handler(request).status == 200)
        try await backEnd.live(until: paid - .minutes(1))
        #expect(told(google).isEmpty)
        #expect(try await !backEnd.hasAccess())
        // A pending purchase is queried until it is paid.
        try await backEnd.live(until: paid + .hours(6))
        #expect(try await backEnd.hasAccess())
        #expect(told(google).first?.path == "products/cards.lifetime/tokens/token-2:acknowledge")
        await backEnd.close()
    }

    @Test func `a failed acknowledgement is retried and raises an alarm a day before the refund`()
        async throws
    {
        let google = google()
        google.acknowledge { _ in Response(status: 500) }
        let backEnd = try backEnd(google)
        try await backEnd.push(4, "token-1")
        let late = Instant("2026-05-03T10:00:00Z")
        try await backEnd.live(until: late - .minutes(1))
        #expect(told(google).count >= 47)
        #expect(told(google).count <= 60)
        #expect(!backEnd.logged.contains { $0.contains("acknowledgement-late") })
        #expect(try await gauge("awaited", backEnd) == "1")
        try await backEnd.live(until: late + .hours(3))
        #expect(backEnd.logged.filter { $0.contains("acknowledgement-late") }.count == 1)
        #expect(try await gauge("late", backEnd) == "1")
        await backEnd.close()
    }

    @Test func `the server acknowledges nothing where the app does it`() async throws {
        let google = google()
        let backEnd = try backEnd(google, acknowledges: false)
        try await backEnd.push(4, "token-1")
        try await backEnd.live(until: PlayBackEnd.start + .days(5))
        #expect(told(google).isEmpty)
        #expect(!backEnd.logged.contains { $0.contains("acknowledge") })
        await backEnd.close()
    }

    @Test func `a tester's purchase raises the alarm within its five minutes`() async throws {
        let google = google(["testPurchase": [:], "startTime": "2026-05-01T10:00:00Z"])
        google.acknowledge { _ in Response(status: 500) }
        let backEnd = try backEnd(google)
        try await backEnd.push(4, "token-1")
        try await backEnd.live(until: "2026-05-01T10:04:30Z")
        #expect(backEnd.logged.contains { $0.contains("acknowledgement-late") })
        await backEnd.close()
    }

    @Test func `a server killed after an acknowledgement sends it again`() async throws {
        let google = google()
        let backEnd = try backEnd(google)
        try await backEnd.push(4, "token-1")
        google.acknowledge { _ in
            // The server receives nothing after it.
            google.fail { _ in Response(status: 503) }
            return Response(body: Array("{}".utf8))
        }
        _ = await backEnd.service.keepUpNow()
        #expect(told(google).count == 1)
        let next = try await backEnd.killed()
        google.fail(nil)
        google.acknowledge { _ in Response(body: Array("{}".utf8)) }
        google.play("token-1") { _ in ScriptedPlay.subscription("ACTIVE", until: Self.end) }
        try await next.live(until: PlayBackEnd.start + .minutes(10))
        #expect(told(google).count == 2)
        #expect(try await gauge("awaited", next) == "0")
        await next.close()
    }
}
