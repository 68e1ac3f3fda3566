import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// Queries of Google Play for missing notifications: active tokens, and voided orders.
@Suite struct PlayBackfillTests {
    private static let end: Instant = "2026-06-01T10:00:00Z"

    private func google() -> ScriptedPlay {
        ScriptedPlay(TestTime(at: PlayBackEnd.start, movesClock: true))
    }

    @Test func `the next run finds a change without a notification`() async throws {
        let google = google()
        let revoked = PlayBackEnd.start + .days(3)
        google.play("token-1") { now in
            now < revoked
                ? ScriptedPlay.subscription("ACTIVE", until: Self.end)
                : ScriptedPlay.subscription("EXPIRED", until: revoked, isOn: false)
        }
        let backEnd = try PlayBackEnd(google)
        try await backEnd.push(4, "token-1")
        #expect(try await backEnd.backfill()?["status"]?.string == "completed")
        // It was queried recently.
        #expect(google.questions("token-1").count == 1)
        google.time.clock.now = revoked + .hours(1)
        let report = try await backEnd.backfill()
        #expect(report?["store"]?.string == "googlePlay")
        #expect(report?["steps"]?["purchases"]?["newFacts"]?.int64 == 1)
        #expect(try await !backEnd.hasAccess())
        #expect(google.questions("token-1").count == 2)
        await backEnd.close()
    }

    @Test func `a voided renewal order does not end a subscription`() async throws {
        let google = google()
        google.play("token-1") { _ in
            ScriptedPlay.subscription("ACTIVE", until: Self.end)
        }
        let backEnd = try PlayBackEnd(google)
        try await backEnd.push(4, "token-1")
        google.void([
            ScriptedPlay.voided("token-1", order: "GPA.1..0", at: PlayBackEnd.start - .days(2))
        ])
        #expect(try await backEnd.backfill()?["status"]?.string == "completed")
        // The token was queried: its resource decides.
        #expect(google.questions("token-1").count == 2)
        #expect(try await backEnd.words() == "active paid confirmed access")
        let voids = try backEnd.facts().filter { fact in
            if case .playVoidedOrder = fact.assertion { true } else { false }
        }
        #expect(voids.count == 1)
        // Windows overlap: a repeated entry adds nothing and causes no query.
        google.time.clock.now = google.time.clock.now + .hours(7)
        let again = try await backEnd.backfill()
        #expect(again?["steps"]?["voidedPurchases"]?["known"]?.int64 == 1)
        #expect(again?["steps"]?["voidedPurchases"]?["newFacts"]?.int64 == 0)
        #expect(google.questions("token-1").count == 2)
        await backEnd.close()
    }

    @Test func `a voided one-time purchase that the store no longer knows is revoked`()
        async throws
    {
        let google = google()
        google.play("token-2") { _ in ScriptedPlay.lifetime("PURCHASED") }
        let backEnd = try PlayBackEnd(google)
        try await backEnd.buyLifetime("token-2")
        #expect(try await backEnd.hasAccess())
        google.play("token-2", status: 410)
        let voided = PlayBackEnd.start + .days(1)
        google.void([ScriptedPlay.voided("token-2", order: "GPA.9", at: voided)])
        google.time.clock.now = voided + .hours(1)
        #expect(try await backEnd.backfill()?["status"]?.string == "completed")
        #expect(try await backEnd.words() == "expired refunded confirmed none")
        await backEnd.close()
    }

    @Test func `a voided order of an unknown purchase is requested as every kind of purchase`()
        async throws
    {
        let google = google()
        google.play("token-3") { _ in
            ScriptedPlay.subscription(
                "EXPIRED",
                until: "2026-04-20T10:00:00Z",
                isOn: false,
                ["startTime": "2026-03-20T10:00:00Z"]
            )
        }
        google.void([
            ScriptedPlay.voided("token-3", order: "GPA.1", at: "2026-04-20T10:00:00Z"),
            ScriptedPlay.voided("token-4", order: "GPA.4", at: "2026-04-21T10:00:00Z"),
        ])
        let backEnd = try PlayBackEnd(google)
        #expect(try await backEnd.backfill()?["status"]?.string == "completed")
        #expect(try await backEnd.words() == "expired refunded confirmed none")
        // The store does not know the other one, so nothing is known of it.
        #expect(google.questions("token-4").count == 2)
        #expect(try backEnd.facts().count == 2)
        await backEnd.close()
    }

    @Test func `the next run repeats the failed read of a voided order`() async throws {
        let google = google()
        google.play("token-1") { _ in ScriptedPlay.subscription("ACTIVE", until: Self.end) }
        let backEnd = try PlayBackEnd(google)
        try await backEnd.push(4, "token-1")
        google.void([
            ScriptedPlay.voided("token-1", order: "GPA.1", at: PlayBackEnd.start - .days(2))
        ])
        google.play("token-1", status: 500)
        #expect(try await backEnd.backfill()?["stopped"]?["code"]?.string == "unreachable")
        #expect(try await backEnd.hasAccess())
        google.play("token-1") { _ in
            ScriptedPlay.subscription("EXPIRED", until: "2026-05-01T10:00:01Z", isOn: false)
        }
        #expect(try await backEnd.backfill()?["status"]?.string == "completed")
        #expect(try await backEnd.words() == "expired refunded confirmed none")
        await backEnd.close()
    }

    @Test func `after an outage longer than the list each one-time purchase is read once`()
        async throws
    {
        let google = google()
        google.play("token-2") { _ in ScriptedPlay.lifetime("PURCHASED") }
        google.play("token-3") { _ in
            ScriptedPlay.lifetime("PURCHASED", ["obfuscatedExternalAccountId": "u_3"])
        }
        let backEnd = try PlayBackEnd(google)
        try await backEnd.buyLifetime("token-2")
        try await backEnd.buyLifetime("token-3")
        // A consumed purchase unlocks nothing, so it is not read again.
        google.play("token-4") { _ in
            ScriptedPlay.lifetime(
                "PURCHASED",
                [
                    "obfuscatedExternalAccountId": "u_4",
                    "productLineItem": [
                        [
                            "productId": "cards.lifetime",
                            "productOfferDetails": [
                                "consumptionState": "CONSUMPTION_STATE_CONSUMED"
                            ],
                        ]
                    ],
                ]
            )
        }
        try await backEnd.buyLifetime("token-4")
        #expect(try await backEnd.backfill()?["status"]?.string == "completed")
        #expect(google.questions("token-2").count == 1)
        // Refunded meanwhile, and no longer listed.
        google.play("token-2") { _ in ScriptedPlay.lifetime("CANCELLED") }
        google.time.clock.now = PlayBackEnd.start + .days(40)
        #expect(try await backEnd.hasAccess())
        #expect(try await backEnd.backfill()?["status"]?.string == "completed")
        #expect(try await !backEnd.hasAccess())
        google.time.clock.now = google.time.clock.now + .days(2)
        #expect(try await backEnd.backfill()?["status"]?.string == "completed")
        for token in ["token-2", "token-3"] { #expect(google.questions(token).count == 2) }
        #expect(google.questions("token-4").count == 1)
        await backEnd.close()
    }

    @Test func `a one-time purchase that was not read after an outage is read in the next run`()
        async throws
    {
        let google = google()
        google.play("token-2") { _ in ScriptedPlay.lifetime("PURCHASED") }
        let backEnd = try PlayBackEnd(google)
        try await backEnd.buyLifetime("token-2")
        google.play("token-2", status: 500)
        google.time.clock.now = PlayBackEnd.start + .days(40)
        #expect(try await backEnd.backfill()?["stopped"]?["code"]?.string == "http-500")
        google.play("token-2") { _ in ScriptedPlay.lifetime("CANCELLED") }
        google.time.clock.now = google.time.clock.now + .days(1)
        #expect(try await backEnd.backfill()?["status"]?.string == "completed")
        #expect(try await !backEnd.hasAccess())
        await backEnd.close()
    }

    @Test func `a one-time purchase with an unreadable answer is not read in every run`()
        async throws
    {
        let google = google()
        google.play("token-2") { _ in ScriptedPlay.lifetime("PURCHASED") }
        let backEnd = try PlayBackEnd(google)
        try await backEnd.buyLifetime("token-2")
        google.play("token-2") { _ in [:] }
        let back = PlayBackEnd.start + .days(40)
        for run in 0..<16 {
            google.time.clock.now = back + .hours(6 * Int64(run))
            #expect(try await backEnd.backfill()?["status"]?.string == "completed")
        }
        #expect(google.questions("token-2").count == 4)
        google.play("token-2") { _ in ScriptedPlay.lifetime("CANCELLED") }
        google.time.clock.now = back + .days(8)
        #expect(try await backEnd.backfill()?["status"]?.string == "completed")
        #expect(try await !backEnd.hasAccess())
        await backEnd.close()
    }

    /// Creates a back end with active subscriptions that were read two days ago.
    private func subscribed(_ tokens: [String]) async throws -> PlayBackEnd {
        let google = google()
        let backEnd = try PlayBackEnd(google)
        for token in tokens {
            google.play(token) { _ in
                ScriptedPlay.subscription("ACTIVE", until: Self.end, customer: token)
            }
            try await backEnd.push(4, token)
        }
        google.time.clock.now = PlayBackEnd.start + .days(2)
        return backEnd
    }

    @Test(arguments: [403, 401, 429])
    func `a run ends at once if the store throttles or rejects the account`(
        status: Int
    ) async throws {
        let tokens = ["token-1", "token-2", "token-3"]
        let backEnd = try await subscribed(tokens)
        let google = backEnd.google
        for token in tokens { google.play(token, status: status) }
        #expect(try await backEnd.backfill()?["status"]?.string == "stopped")
        #expect(tokens.reduce(0) { $0 + google.questions($1).count } == 4)
        #expect(google.calls.allSatisfy { $0.path != "voidedpurchases" })
        await backEnd.close()
    }

    @Test func `a run reports the throttling of the list rather than a failed token`()
        async throws
    {
        let backEnd = try await subscribed(["token-1"])
        backEnd.google.play("token-1", status: 500)
        backEnd.google.failList { _ in Response(status: 429, headers: ["Retry-After": "600"]) }
        let stopped = try await backEnd.backfill()?["stopped"]
        #expect(stopped?["code"]?.string == "throttled")
        #expect(stopped?["retryAt"]?.string != nil)
        await backEnd.close()
    }

    @Test func `tokens that fail always hide neither the others nor the voided orders`()
        async throws
    {
        let google = google()
        let failing = (1...5).map { "failing-\($0)" }
        for token in failing + ["token-1"] {
            let customer = token == "token-1" ? TestServer.anna : token
            google.play(token) { _ in
                ScriptedPlay.subscription("ACTIVE", until: Self.end, customer: customer)
            }
        }
        let backEnd = try PlayBackEnd(google)
        for token in failing + ["token-1"] { try await backEnd.push(4, token) }
        for token in failing { google.play(token, status: 500) }
        let revoked = PlayBackEnd.start + .days(2)
        google.play("token-1") { _ in
            ScriptedPlay.subscription("EXPIRED", until: revoked, isOn: false)
        }
        for run in 1...3 {
            google.time.clock.now = revoked + .hours(Int64(run))
            #expect(try await backEnd.backfill()?["status"] != nil)
            #expect(google.calls.count { $0.path == "voidedpurchases" } == run)
        }
        #expect(google.questions("token-1").count == 2)
        #expect(try await !backEnd.hasAccess())
        await backEnd.close()
    }

    // MARK: Orders that cannot be read

    /// Creates a back end with a lifetime purchase that the store has voided, listed after others.
    private func refunded(
        after others: [String],
        pages: Int = 1
    ) async throws -> PlayBackEnd {
        let google = google()
        google.play("token-2") { _ in ScriptedPlay.lifetime("PURCHASED") }
        let backEnd = try PlayBackEnd(google)
        try await backEnd.buyLifetime("token-2")
        #expect(try await backEnd.hasAccess())
        google.play("token-2", status: 410)
        let voided = PlayBackEnd.start + .days(1)
        let unread = others.map { ScriptedPlay.voided($0, order: "GPA.\($0)", at: voided) }
        let last = ScriptedPlay.voided("token-2", order: "GPA.9", at: voided)
        google.void(unread + [last], pages: pages)
        google.time.clock.now = voided + .hours(1)
        return backEnd
    }

    @Test(arguments: [400, 200])
    func `a voided order that the store rejects or describes badly does not stop the list`(
        status: Int
    ) async throws {
        let others = ["token-5", "token-6", "token-7", "token-8"]
        let backEnd = try await refunded(after: others)
        for token in others {
            if status == 200 { backEnd.google.play(token) { _ in [:] } }
            if status != 200 { backEnd.google.play(token, status: status) }
        }
        let report = try await backEnd.backfill()
        #expect(report?["status"]?.string == "completed")
        #expect(report?["steps"]?["voidedPurchases"]?["refused"]?.int64 == 4)
        #expect(try await backEnd.words() == "expired refunded confirmed none")
        #expect(backEnd.logged.contains { $0.contains("voided orders could not be read") })
        await backEnd.close()
    }

    @Test func `a voided order without a token does not hide the next`() async throws {
        let backEnd = try await refunded(after: [])
        let now = backEnd.google.time.clock.now
        backEnd.google.void([
            ["orderId": "GPA.5"],
            ScriptedPlay.voided("token-2", order: "GPA.9", at: now - .hours(1)),
        ])
        let report = try await backEnd.backfill()
        #expect(report?["status"]?.string == "completed")
        #expect(report?["steps"]?["voidedPurchases"]?["refused"]?.int64 == 1)
        #expect(try await backEnd.words() == "expired refunded confirmed none")
        await backEnd.close()
    }

    @Test func `a voided order without a response does not hide the next, and is read again`()
        async throws
    {
        let backEnd = try await refunded(after: ["token-1"])
        backEnd.google.play("token-1", status: 500)
        #expect(try await backEnd.backfill()?["stopped"]?["code"]?.string == "unreachable")
        #expect(try await backEnd.words() == "expired refunded confirmed none")
        backEnd.google.play("token-1", status: 404)
        #expect(try await backEnd.backfill()?["status"]?.string == "completed")
        #expect(backEnd.google.questions("token-2").count == 2)
        await backEnd.close()
    }

    @Test func `several orders of a purchase without a response do not hide the next`()
        async throws
    {
        let backEnd = try await refunded(after: [])
        let google = backEnd.google
        let voided = google.time.clock.now - .hours(1)
        google.play("token-1", status: 500)
        let unread = (1...4).map { number in
            ScriptedPlay.voided("token-1", order: "GPA.1..\(number)", at: voided)
        }
        google.void(unread + [ScriptedPlay.voided("token-2", order: "GPA.9", at: voided)])
        #expect(try await backEnd.backfill()?["stopped"]?["code"]?.string == "unreachable")
        #expect(google.questions("token-1").count == 1)
        #expect(try await backEnd.words() == "expired refunded confirmed none")
        await backEnd.close()
    }

    @Test(arguments: [(500, 20), (429, 1), (401, 1), (403, 1)])
    func `the list stops if the store is down, throttles or rejects the account`(
        status: Int,
        most: Int
    ) async throws {
        let others = (1...25).map { "other-\($0)" }
        let backEnd = try await refunded(after: others)
        for token in others { backEnd.google.play(token, status: status) }
        #expect(try await backEnd.backfill()?["status"]?.string == "stopped")
        #expect(others.count { !backEnd.google.questions($0).isEmpty } == most)
        #expect(try await backEnd.hasAccess())
        for token in others { backEnd.google.play(token, status: 404) }
        backEnd.google.time.clock.now = backEnd.google.time.clock.now + .minutes(5)
        #expect(try await backEnd.backfill()?["status"]?.string == "completed")
        #expect(try await backEnd.words() == "expired refunded confirmed none")
        await backEnd.close()
    }

    @Test func `a list of more than a hundred pages is read to its end`() async throws {
        let backEnd = try await refunded(after: [], pages: 120)
        #expect(try await backEnd.backfill()?["status"]?.string == "completed")
        #expect(try await backEnd.words() == "expired refunded confirmed none")
        await backEnd.close()
    }

    @Test func `the route reports an app that sells only on Google Play`() async throws {
        let backEnd = try PlayBackEnd(google())
        let path = "/v1/apps/cards/backfill"
        let before = try await backEnd.get(path)
        #expect(before["wanted"]?.bool == false)
        #expect(before["googlePlay"] == .null)
        _ = try await backEnd.backfill()
        let after = try await backEnd.get(path)
        #expect(after["last"] == .null)
        #expect(after["googlePlay"]?["status"]?.string == "completed")
        await backEnd.close()
    }
}
