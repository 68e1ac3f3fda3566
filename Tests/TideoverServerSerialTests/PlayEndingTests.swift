import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer

@testable import TideoverTestServer

/// Purchases that Google Play no longer knows, and purchases listed as voided but read as bought.
@Suite struct PlayEndingTests {
    private static let end: Instant = "2027-05-01T10:00:00Z"

    /// Creates a back end that received one notification of a year that the script then plays.
    private func told(
        _ script: @escaping @Sendable (Instant) -> JSONObject?
    ) async throws -> PlayBackEnd {
        let backEnd = try await PlayBackEnd.told(script)
        #expect(try await backEnd.words() == "active paid confirmed access")
        return backEnd
    }

    // MARK: No longer known

    @Test func `a purchase that the store removed after sixty days has ended`() async throws {
        let backEnd = try await told { _ in
            ScriptedPlay.subscription("ACTIVE", until: Self.end)
        }
        backEnd.google.play("token-1", status: 410)
        backEnd.time.clock.now = PlayBackEnd.start + .days(60)
        #expect(try await backEnd.push(13, "token-1") == 200)
        #expect(try await backEnd.words() == "expired ended confirmed none")
        #expect(backEnd.service.nextUpkeep == nil, "and it is asked about no more")
        let report = try await backEnd.service.replayed(.production)
        #expect(report["unread"]?["count"]?.int64 ?? 0 == 0)
        #expect(report["unreadable"] == [:])
        await backEnd.close()
    }

    @Test func `a purchase reported active within sixty days has not ended`() async throws {
        let backEnd = try await told { _ in
            ScriptedPlay.subscription("ACTIVE", until: Self.end)
        }
        backEnd.google.play("token-1", status: 410)
        backEnd.time.clock.now = PlayBackEnd.start + .days(60) - .seconds(1)
        #expect(try await backEnd.push(2, "token-1") == 200)
        #expect(try await backEnd.words() == "active paid confirmed access")
        await backEnd.close()
    }

    @Test func `a 404 response of the store ends no purchase`() async throws {
        let backEnd = try await told { _ in
            ScriptedPlay.subscription("ACTIVE", until: Self.end)
        }
        backEnd.google.play("token-1", status: 404)
        backEnd.time.clock.now = PlayBackEnd.start + .days(90)
        #expect(try await backEnd.push(2, "token-1") == 200)
        #expect(try await backEnd.words() == "active paid confirmed access")
        await backEnd.close()
    }

    @Test func `a removed purchase does not renew at its end`() async throws {
        let backEnd = try await told { _ in
            ScriptedPlay.subscription("ACTIVE", until: Self.end)
        }
        backEnd.google.play("token-1", status: 410)
        try await backEnd.live(until: Self.end + .minutes(1))
        #expect(backEnd.google.questions("token-1").count == 2)
        #expect(try await backEnd.words() == "expired ended confirmed none")
        await backEnd.close()
    }

    // MARK: Voided, and bought

    /// Creates a lifetime purchase that the store lists as voided a day later.
    private func voided(
        _ script: @escaping @Sendable (Instant) -> JSONObject?
    ) async throws -> (PlayBackEnd, at: Instant) {
        let google = ScriptedPlay(TestTime(at: PlayBackEnd.start, movesClock: true))
        google.play("token-2", script)
        let backEnd = try PlayBackEnd(google)
        let notice: JSONObject = [
            "oneTimeProductNotification": [
                "version": "1.0", "notificationType": 1, "purchaseToken": "token-2",
                "sku": "cards.lifetime",
            ]
        ]
        let request = try TestPlay.push(notice, messageId: "1", at: google.time.clock.now)
        #expect(try await backEnd.service.handler(request).status == 200)
        let at = PlayBackEnd.start + .days(1)
        google.void([ScriptedPlay.voided("token-2", order: "GPA.9", at: at)])
        google.time.clock.now = at
        #expect(try await backEnd.backfill()?["status"]?.string == "completed")
        #expect(try await backEnd.words() == "expired refunded confirmed none")
        return (backEnd, at)
    }

    @Test func `later reads that contradict a voided order restore the purchase`() async throws {
        let (backEnd, at) = try await voided { _ in ScriptedPlay.lifetime("PURCHASED") }
        try await backEnd.live(until: at + .minutes(60))
        #expect(try await backEnd.words() == "expired refunded confirmed none")
        try await backEnd.live(until: at + .minutes(62))
        #expect(try await backEnd.words() == "active lifetime confirmed access")
        let known = try backEnd.facts().count
        try await backEnd.live(until: at + .days(30))
        #expect(try backEnd.facts().count == known, "and what says it again is no news")
        #expect(backEnd.google.questions("token-2").count <= 10)
        #expect(backEnd.service.nextUpkeep == nil)
        await backEnd.close()
    }

    @Test func `a later read that confirms a voided order revokes the purchase for good`()
        async throws
    {
        let late = PlayBackEnd.start + .days(1) + .minutes(30)
        let (backEnd, at) = try await voided { now in
            ScriptedPlay.lifetime(now < late ? "PURCHASED" : "CANCELLED")
        }
        try await backEnd.live(until: at + .days(30)) { _ async throws in
            #expect(try await !backEnd.hasAccess())
        }
        #expect(backEnd.google.questions("token-2").count == 3)
        await backEnd.close()
    }
}
