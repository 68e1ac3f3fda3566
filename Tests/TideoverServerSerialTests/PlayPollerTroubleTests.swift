import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSQLite
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// Failures during the polling of Google Play.
@Suite struct PlayPollerTroubleTests {
    private static let end: Instant = "2026-06-01T10:00:00Z"

    @Test(arguments: [500, 503, 401, 403])
    func `while the store is unreachable access continues for a bounded time`(
        status: Int
    ) async throws {
        let end = Self.end
        let backEnd = try await PlayBackEnd.told { now in
            ScriptedPlay.subscription("ACTIVE", until: now < end ? end : end + .days(30))
        }
        backEnd.google.fail { _ in Response(status: status) }
        try await backEnd.live(until: end + .hours(48) - .seconds(1)) { now async throws in
            #expect(try await backEnd.hasAccess(), "locked out at \(now.rfc3339)")
        }
        let vain = backEnd.google.questions("token-1").filter { $0 >= end }
        #expect(vain.count >= 48 && vain.count <= 60)
        try await backEnd.live(until: end + .hours(49))
        #expect(try await backEnd.words() == "expired unconfirmed unknown none")
        backEnd.google.fail(nil)
        try await backEnd.live(until: end + .hours(51))
        #expect(try await backEnd.words() == "active paid confirmed access")
        await backEnd.close()
    }

    @Test func `the poller waits as long as the store requires after a rate limit`() async throws {
        let end = Self.end
        let backEnd = try await PlayBackEnd.told { now in
            ScriptedPlay.subscription("ACTIVE", until: now < end ? end : end + .days(30))
        }
        let until = end + .minutes(20)
        backEnd.google.fail { now in
            guard now < until else { return Response(status: 500) }
            return Response(status: 429, headers: ["Retry-After": "1200"])
        }
        try await backEnd.live(until: end + .minutes(1))
        backEnd.google.fail(nil)
        try await backEnd.live(until: end + .hours(1)) { now async throws in
            #expect(try await backEnd.hasAccess(), "locked out at \(now.rfc3339)")
        }
        let asked = backEnd.google.questions("token-1").filter { $0 >= end }
        #expect(asked.count == 2)
        #expect(asked[1] >= until)
        #expect(try await backEnd.words() == "active paid confirmed access")
        let throttled = try await backEnd.samples().contains {
            $0.hasPrefix("tideover_store_requests_total{app=\"cards\",operation=\"purchases\"")
                && $0.contains("throttled") && $0.hasSuffix(" 1")
        }
        #expect(throttled)
        await backEnd.close()
    }

    private func inquiries(_ backEnd: PlayBackEnd) throws -> Int {
        try backEnd.facts().count { fact in
            if case .inquiry = fact.assertion { true } else { false }
        }
    }

    @Test(arguments: [200, 400, 403, 500])
    func `the facts of a purchase that always fails do not grow with each query`(
        status: Int
    ) async throws {
        let end = Self.end
        let backEnd = try await PlayBackEnd.told { _ in
            ScriptedPlay.subscription("ACTIVE", until: end)
        }
        if status == 200 { backEnd.google.play("token-1") { _ in [:] } }
        if status != 200 { backEnd.google.play("token-1", status: status) }
        try await backEnd.live(until: end + .days(20))
        // It is queried each hour, as before.
        #expect(backEnd.google.questions("token-1").count > 470)
        #expect(try (48...63).contains(inquiries(backEnd)))
        backEnd.google.play("token-1") { _ in
            ScriptedPlay.subscription("ACTIVE", until: end + .days(30))
        }
        try await backEnd.live(until: end + .days(20) + .hours(2))
        #expect(try await backEnd.words() == "active paid confirmed access")
        await backEnd.close()
    }

    @Test func `a tester's purchase that always fails is soon requested once an hour`()
        async throws
    {
        let begin = PlayBackEnd.start
        let backEnd = try await PlayBackEnd.told { _ in
            ScriptedPlay.subscription(
                "ACTIVE",
                until: "2026-05-01T10:05:00Z",
                ["testPurchase": [:]]
            )
        }
        backEnd.google.play("token-1", status: 400)
        try await backEnd.live(until: begin + .days(2))
        let early = backEnd.google.questions("token-1").filter { $0 < begin + .minutes(10) }
        // Within the seconds after the end of the period it is requested as before.
        #expect(early.count >= 5)
        #expect((50...80).contains(backEnd.google.questions("token-1").count))
        backEnd.google.play("token-1") { _ in
            ScriptedPlay.subscription(
                "ACTIVE",
                until: begin + .days(3),
                ["testPurchase": [:]]
            )
        }
        try await backEnd.live(until: begin + .days(2) + .hours(2))
        #expect(try await backEnd.words("premium", "sandbox").hasSuffix(" access"))
        await backEnd.close()
    }

    @Test func `queries that failed before the end of a period do not shorten the access after it`()
        async throws
    {
        let end = Self.end
        let backEnd = try await PlayBackEnd.told { _ in
            ScriptedPlay.subscription("ACTIVE", until: end)
        }
        backEnd.google.play("token-1", status: 400)
        while backEnd.time.clock.now < end - .hours(6) {
            backEnd.time.clock.now = backEnd.time.clock.now + .hours(6)
            _ = try await backEnd.backfill()
        }
        #expect(backEnd.google.questions("token-1").count > 100)
        #expect(try inquiries(backEnd) < 20)
        try await backEnd.live(until: end + .hours(48) - .seconds(1)) { now async throws in
            #expect(try await backEnd.hasAccess(), "locked out at \(now.rfc3339)")
        }
        await backEnd.close()
    }

    @Test func `a backfill requests a removed token once a week`() async throws {
        let backEnd = try await PlayBackEnd.told { _ in
            ScriptedPlay.subscription("ACTIVE", until: Self.end)
        }
        backEnd.google.play("token-1", status: 404)
        while backEnd.time.clock.now < Self.end - .days(1) {
            backEnd.time.clock.now = backEnd.time.clock.now + .hours(6)
            _ = try await backEnd.backfill()
        }
        #expect(backEnd.google.questions("token-1").count <= 6)
        await backEnd.close()
    }

    @Test(arguments: [404, 410])
    func `a removed token ends the polling`(
        status: Int
    ) async throws {
        let end = Self.end
        let backEnd = try await PlayBackEnd.told { _ in
            ScriptedPlay.subscription("ON_HOLD", until: end)
        }
        backEnd.google.play("token-1", status: status)
        try await backEnd.live(until: end + .days(61))
        // Once a week while it should exist, and never after its end.
        let asked = backEnd.google.questions("token-1")
        #expect(asked.count <= 7)
        #expect(backEnd.service.nextUpkeep == nil)
        await backEnd.close()
    }

    @Test(arguments: ["ACTIVE", "IN_GRACE_PERIOD", "CANCELED", "ON_HOLD", "PAUSED", "NEW"])
    func `one response without an expiry does not end the polling`(state: String) async throws {
        // Longer after the first response than the store keeps an ended purchase.
        let end: Instant = "2026-08-01T10:00:00Z"
        let (next, mended): (Instant, Instant) = (end + .days(31), end + .minutes(10))
        let backEnd = try await PlayBackEnd.told { now in
            if now >= end && now < mended {
                return ScriptedPlay.subscription(state, until: end, ["lineItems": []])
            }
            return ScriptedPlay.subscription("ACTIVE", until: now < end ? end : next)
        }
        try await backEnd.live(until: end + .days(2))
        #expect(backEnd.google.questions("token-1").contains { $0 >= mended })
        #expect(try await backEnd.hasAccess())
        #expect(backEnd.service.nextUpkeep == next)
        await backEnd.close()
    }

    @Test func `responses that never state an expiry are requested at growing intervals`()
        async throws
    {
        let backEnd = try await PlayBackEnd.told { _ in
            ScriptedPlay.subscription("ACTIVE", until: Self.end, ["lineItems": []])
        }
        try await backEnd.live(until: PlayBackEnd.start + .days(62))
        #expect(backEnd.google.questions("token-1").count < 75)
        #expect(backEnd.service.nextUpkeep == nil)
        await backEnd.close()
    }

    /// Presents the purchase of a device, and returns the status of the response.
    private func present(to backEnd: PlayBackEnd) async throws -> Int {
        let body: JSONValue = ["purchases": [["store": "google", "purchaseToken": "token-1"]]]
        return try await backEnd.service.handler(
            Request(
                method: "POST",
                path: "/v1/apps/cards/customers/\(TestServer.anna)/reconcile",
                query: [QueryItem(name: "environment", value: "production")],
                headers: TestServer.credentials,
                body: body.encoded()
            )
        ).status
    }

    @Test func `devices do not repeat a query that failed just now, though no fact states it`()
        async throws
    {
        let end = Self.end
        let backEnd = try await PlayBackEnd.told { _ in
            ScriptedPlay.subscription("ACTIVE", until: end)
        }
        backEnd.google.play("token-1", status: 400)
        try await backEnd.live(until: end + .days(4))
        let inquiries = try inquiries(backEnd)
        try await backEnd.time.sleep(.seconds(120))
        let before = backEnd.google.questions("token-1").count
        for _ in 0..<3 { _ = try await present(to: backEnd) }
        #expect(backEnd.google.questions("token-1").count == before + 1)
        #expect(try self.inquiries(backEnd) == inquiries)
        await backEnd.close()
    }

    @Test func `polling continues after a device presents a token that the store has again`()
        async throws
    {
        let end = Self.end
        let backEnd = try await PlayBackEnd.told { _ in
            ScriptedPlay.subscription("ON_HOLD", until: end)
        }
        backEnd.google.play("token-1", status: 404)
        try await backEnd.live(until: PlayBackEnd.start + .days(2))
        backEnd.google.play("token-1") { _ in ScriptedPlay.subscription("ON_HOLD", until: end) }
        try await backEnd.time.sleep(.seconds(10))
        let presented = backEnd.time.clock.now
        #expect(try await present(to: backEnd) == 200)
        try await backEnd.live(until: presented + .days(2) + .hours(1))
        #expect(backEnd.google.questions("token-1").count { $0 > presented + .hours(1) } == 2)
        await backEnd.close()
    }

    @Test func `a purchase that the store has removed by now is not polled`() async throws {
        let end = Self.end
        let backEnd = try await PlayBackEnd.told { _ in
            ScriptedPlay.subscription("ON_HOLD", until: end)
        }
        try await backEnd.live(until: end + .days(70))
        #expect(backEnd.google.questions("token-1").allSatisfy { $0 < end + .days(61) })
        #expect(backEnd.service.nextUpkeep == nil)
        await backEnd.close()
    }

    @Test func `an unchanged answer adds no fact`() async throws {
        let end = Self.end
        let backEnd = try await PlayBackEnd.told { now in
            ScriptedPlay.subscription(now < end ? "ACTIVE" : "ON_HOLD", until: end)
        }
        try await backEnd.live(until: end + .days(1))
        let known = try backEnd.facts().count
        try await backEnd.live(until: end + .days(40))
        #expect(backEnd.google.questions("token-1").count > 38)
        #expect(try backEnd.facts().count == known)
        await backEnd.close()
    }

    @Test func `a kill before any commit loses no answer of the store`() async throws {
        let end = Self.end
        var kills = 0
        for commit in 1...40 {
            let google = ScriptedPlay(TestTime(at: PlayBackEnd.start, movesClock: true))
            google.play("token-1") { now in
                ScriptedPlay.subscription(
                    now < end ? "ACTIVE" : "IN_GRACE_PERIOD",
                    until: now < end ? end : end + .days(1),
                    ["acknowledgementState": "ACKNOWLEDGEMENT_STATE_PENDING"]
                )
            }
            let healthy = try PlayBackEnd(google)
            #expect(try await healthy.push(4, "token-1") == 200)
            await healthy.storage.close()
            let commits = Locked(0)
            let dying = try PlayBackEnd(
                google,
                folder: healthy.folder,
                faults: SQLiteFaults { _ throws(StorageError) in
                    let number = commits.withLock { commits in
                        commits += 1
                        return commits
                    }
                    if number >= commit { throw StorageError(.io, place: "killed") }
                }
            )
            google.time.clock.now = end + .seconds(1)
            let isDone = await dying.service.keepUpNow()
            let next = try await dying.killed()
            _ = await next.service.keepUpNow()
            #expect(
                try await next.words() == "grace billingIssue confirmed access",
                "killed before commit \(commit)"
            )
            #expect(google.calls.contains { $0.path.hasSuffix(":acknowledge") })
            await next.close()
            guard !isDone else { break }
            kills += 1
        }
        #expect(kills >= 2 && kills < 40)
    }

    @Test func `slow answers deny no access and are dated by their requests`() async throws {
        let end = Self.end
        let backEnd = try await PlayBackEnd.told { now in
            ScriptedPlay.subscription("ACTIVE", until: now < end ? end : end + .days(30))
        }
        let time = backEnd.time
        backEnd.google.fail { now in
            time.clock.now = now + .seconds(29)
            let purchase = ScriptedPlay.subscription("ACTIVE", until: end + .days(30))
            return Response(body: JSONValue.object(purchase).encoded())
        }
        try await backEnd.live(until: end + .minutes(2)) { now async throws in
            #expect(try await backEnd.hasAccess(), "locked out at \(now.rfc3339)")
        }
        #expect(try await backEnd.words() == "active paid confirmed access")
        let asked = try #require(try backEnd.facts().map(\.assertedAt).max())
        #expect(asked < end + .seconds(5))
        await backEnd.close()
    }

    @Test func `a replay of the stored answers adds no facts`() async throws {
        let end = Self.end
        let backEnd = try await PlayBackEnd.told { now in
            ScriptedPlay.subscription("ACTIVE", until: now < end ? end : end + .days(30))
        }
        backEnd.google.void([ScriptedPlay.voided("token-1", order: "GPA.0", at: end)])
        try await backEnd.live(until: end + .minutes(1))
        #expect(try await backEnd.backfill()?["status"]?.string == "completed")
        #expect(try backEnd.facts().count == 3)
        let report = try await backEnd.service.replayed(.production)
        #expect(report["status"]?.string == "completed")
        #expect(report["evidence"]?.int64 == 3)
        #expect(report["added"]?["count"]?.int64 ?? 0 == 0)
        #expect(report["unread"]?["count"]?.int64 ?? 0 == 0)
        #expect(report["unreadable"] == [:])
        await backEnd.close()
    }
}
