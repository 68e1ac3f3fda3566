import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverRehearsal
import TideoverSandbox
import TideoverServer

@testable import TideoverTestServer

/// A store that keeps throttling: how often it is still queried, and how long callers wait. The
/// clock advances only during sleeps.
@Suite struct StoreQuotaTests {
    // MARK: App Store

    private func silentStore(_ time: TestTime) async throws -> RehearsedStore {
        let rehearsed = try RehearsedStore()
        try await rehearsed.store.register(
            StoreCustomer(name: "anna", appAccountToken: TestServer.anna)
        )
        try await rehearsed.store.perform(
            .subscribe(product: "cards.pro.monthly", trial: .declined),
            by: "anna"
        )
        try await rehearsed.store.pass(.days(40), on: time) { _ in 500 }
        return rehearsed
    }

    @Test func `a run ends after four rate limited requests within minutes`() async throws {
        let time = TestTime(movesClock: true)
        let rehearsed = try await silentStore(time)
        await rehearsed.store.add(AppStoreFaultRule(.rateLimited(for: 60_000), times: nil))
        let backEnd = try RehearsedBackEnd(rehearsed, time, access: rehearsed.following(time))
        let begun = time.clock.now
        let report = try await backEnd.backfill()
        #expect(report?["stopped"]?["code"]?.string == "throttled")
        #expect(await rehearsed.store.calls.count == 4)
        #expect(time.clock.now - begun >= .minutes(3))
        #expect(time.clock.now - begun < .minutes(4))
        await backEnd.close()
    }

    @Test func `scheduled runs back off from the App Store and then continue`() async throws {
        let time = TestTime(movesClock: true)
        let rehearsed = try await silentStore(time)
        await rehearsed.store.add(AppStoreFaultRule(.rateLimited(for: 60_000), times: nil))
        let backEnd = try RehearsedBackEnd(rehearsed, time, access: rehearsed.following(time))
        let begun = time.clock.now
        time.end(at: begun + .hours(6))
        await backEnd.service.work(on: [.backfills])
        // Runs of four queries in three minutes, with 1, 2, 4 ... 128 minutes between them.
        let asked = await rehearsed.store.calls.count
        #expect(asked == 36)
        await rehearsed.store.clearFaults()
        time.end(at: begun + .hours(7))
        await backEnd.service.work(on: [.backfills])
        let answer = try await backEnd.answer(TestServer.anna)
        #expect(answer["entitlements"]?["premium"]?["state"]?.string == "active")
        await backEnd.close()
    }

    // MARK: Google Play

    private static let tokens = (1...20).map { "token-\($0)" }
    private static let end: Instant = "2026-06-01T10:00:00Z"

    /// Creates twenty subscriptions. At their renewal the store repeatedly throttles for two
    /// hours.
    private func busyPlay() async throws -> PlayBackEnd {
        let end = Self.end
        let google = ScriptedPlay(TestTime(at: PlayBackEnd.start, movesClock: true))
        for (number, token) in Self.tokens.enumerated() {
            google.play(token) { now in
                ScriptedPlay.subscription(
                    "ACTIVE",
                    until: now < end ? end : end + .days(30),
                    customer: number == 0 ? TestServer.anna : "customer-\(number)"
                )
            }
        }
        let backEnd = try PlayBackEnd(google)
        for token in Self.tokens { #expect(try await backEnd.push(4, token) == 200) }
        try await backEnd.live(until: end - .minutes(1))
        google.fail { _ in Response(status: 429, headers: ["Retry-After": "7200"]) }
        return backEnd
    }

    @Test func `Google Play gets one request for each delay that it requires`() async throws {
        let backEnd = try await busyPlay()
        let known = backEnd.google.calls.count
        // Seven hours: at the first renewal, and after each two hours.
        try await backEnd.live(until: Self.end + .hours(7)) { now async throws in
            #expect(try await backEnd.hasAccess(), "locked out at \(now.rfc3339)")
        }
        #expect(backEnd.google.calls.count - known == 4)
        backEnd.google.fail(nil)
        try await backEnd.live(until: Self.end + .hours(9))
        for token in Self.tokens {
            #expect(backEnd.google.questions(token).contains { $0 >= Self.end + .hours(7) })
        }
        #expect(try await backEnd.words() == "active paid confirmed access")
        await backEnd.close()
    }

    @Test func `a run does not wait for hours and reports when it can continue`() async throws {
        let backEnd = try await busyPlay()
        backEnd.time.clock.now = Self.end + .days(1)
        let begun = backEnd.time.clock.now
        let known = backEnd.google.calls.count
        let stopped = try await backEnd.backfill()?["stopped"]
        #expect(stopped?["code"]?.string == "throttled")
        let retryAt = try #require(stopped?["retryAt"]?.string.flatMap { Instant(rfc3339: $0) })
        #expect(retryAt >= begun + .hours(2))
        #expect(backEnd.google.calls.count == known + 1)
        #expect(backEnd.time.clock.now - begun < .seconds(10))
        backEnd.google.fail(nil)
        backEnd.time.clock.now = retryAt
        #expect(try await backEnd.backfill()?["status"]?.string == "completed")
        await backEnd.close()
    }

    @Test func `a lookup of an order fails at once during a rate limit`() async throws {
        let backEnd = try await busyPlay()
        try await backEnd.live(until: Self.end + .minutes(1))
        let begun = backEnd.time.clock.now
        let known = backEnd.google.calls.count
        let problem = try await backEnd.get("/v1/apps/cards/lookup?order=GPA.1111-2222-3333-44444")
        #expect(problem["type"]?.string == "/problems/store-did-not-answer")
        #expect(problem["detail"]?.string?.contains("later") == true)
        #expect(backEnd.google.calls.count == known)
        #expect(backEnd.time.clock.now - begun < .seconds(10))
        await backEnd.close()
    }
}

/// A rehearsal's time does not advance during waits.
@Suite struct RehearsedQuotaTests {
    /// Returns a scenario: Anna's renewal on 1 June is lost, and the store throttles for two hours.
    private func scenario() throws -> Scenario {
        try Scenario(
            reading: Array(
                """
                {
                  scenario: "Left alone", source: "Apple, Identifying rate limits",
                  app: { id: "cards", bundleId: "com.example.cards" },
                  products: { "cards.pro.monthly": { entitlements: ["premium"], group: "pro", period: "P1M", price: "9.99 USD" } },
                  customers: { anna: {} },
                  start: "2026-05-01T10:00:00Z",
                  steps: [
                    { do: "subscribe" },
                    { after: "1 d", do: "disturbNotifications", fault: "lose", percent: 100 },
                    { at: "2026-06-01T12:00:00Z", do: "disturbServerAPI", fault: "rateLimited", by: "2 h" },
                    { at: "2026-06-01T12:00:00Z", do: "catchUp", expect: { premium: { confidence: "presumed" } } },
                    { at: "2026-06-01T13:59:00Z", expect: { premium: { confidence: "presumed" } } },
                    { at: "2026-06-01T14:01:00Z", expect: { premium: { confidence: "confirmed", accessUntil: "2026-07-01T10:00:00Z" } } },
                  ],
                }
                """.utf8
            )
        )
    }

    @Test func `delayed requests are sent after the rate limit`() async throws {
        let report = try await Rehearsal.played(try scenario()) { $1 }
        #expect(report.failures.map(\.at) == [])
        #expect(report.passed)
    }
}
