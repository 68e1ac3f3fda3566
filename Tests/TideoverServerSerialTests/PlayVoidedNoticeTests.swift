import Foundation
import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer

@testable import TideoverTestServer

/// The queries after Google Play reports a voided order.
@Suite struct PlayVoidedNoticeTests {
    private static let end: Instant = "2026-06-01T10:00:00Z"

    /// Creates a subscription that the store revokes after a chargeback.
    private func revoked() async throws -> (PlayBackEnd, ScriptedPlay, Instant) {
        let google = ScriptedPlay(TestTime(at: PlayBackEnd.start, movesClock: true))
        let instant = PlayBackEnd.start + .days(2)
        google.play("token-1") { now in
            now < instant
                ? ScriptedPlay.subscription("ACTIVE", until: Self.end)
                : ScriptedPlay.subscription("EXPIRED", until: instant, isOn: false)
        }
        let backEnd = try PlayBackEnd(google)
        #expect(try await backEnd.push(4, "token-1") == 200)
        // The rate limiter allows no query in the first seconds of a process.
        try await google.time.sleep(.seconds(10))
        google.time.clock.now = instant
        return (backEnd, google, instant)
    }

    private func tell(
        _ backEnd: PlayBackEnd,
        _ google: ScriptedPlay,
        _ token: String = "token-1",
        order: String = "GPA.1",
        type: JSONValue = 1
    ) async throws -> Int {
        let notice: JSONObject = [
            "voidedPurchaseNotification": [
                "purchaseToken": .string(token), "orderId": .string(order), "productType": type,
                "refundType": 1,
            ]
        ]
        let now = google.time.clock.now
        let request = try TestPlay.push(notice, messageId: "void-\(order)", at: now)
        return try await backEnd.service.handler(request).status
    }

    /// Returns how often the list of voided orders was read.
    private func reads(_ google: ScriptedPlay) -> Int {
        google.calls.count { $0.path == "voidedpurchases" }
    }

    private func voids(_ backEnd: PlayBackEnd) throws -> Int {
        try backEnd.facts().count { fact in
            if case .playVoidedOrder = fact.assertion { true } else { false }
        }
    }

    @Test func `the reason of a voided order is read with its notification`() async throws {
        let (backEnd, google, instant) = try await revoked()
        google.void([
            ScriptedPlay.voided("token-1", order: "GPA.1", at: instant),
            // An entry of another customer, which is read by schedule.
            ScriptedPlay.voided("token-9", order: "GPA.9", at: instant),
        ])
        #expect(try await tell(backEnd, google) == 200)
        #expect(try await backEnd.words().hasPrefix("expired refunded confirmed"))
        #expect(try voids(backEnd) == 1)
        await backEnd.close()
    }

    @Test func `a repeated message is accepted when the list does not contain its order`()
        async throws
    {
        let (backEnd, google, _) = try await revoked()
        google.fail { _ in Response(status: 503) }
        // While the store does not answer, the message must be delivered again.
        #expect(try await tell(backEnd, google) == 503)
        google.fail(nil)
        google.void([])
        #expect(try await tell(backEnd, google) == 200)
        #expect(try await backEnd.words().hasPrefix("expired "))
        #expect(try voids(backEnd) == 0)
        await backEnd.close()
    }

    @Test func `a revocation reads the reason before the response to its push`() async throws {
        let (backEnd, google, instant) = try await revoked()
        google.void([ScriptedPlay.voided("token-1", order: "GPA.1", at: instant)])
        #expect(try await backEnd.push(12, "token-1") == 200)
        #expect(try await backEnd.words().hasPrefix("expired refunded confirmed"))
        // The list was read with the order that the second notification announces.
        #expect(try await tell(backEnd, google) == 200)
        #expect(reads(google) == 1)
        #expect(try voids(backEnd) == 1)
        await backEnd.close()
    }

    @Test func `a revocation that the list does not contain ends access without a refund`()
        async throws
    {
        let (backEnd, google, _) = try await revoked()
        google.void([])
        #expect(try await backEnd.push(12, "token-1") == 200)
        #expect(reads(google) == 1)
        let words = try await backEnd.words()
        #expect(words.hasPrefix("expired ") && !words.contains("refunded"))
        await backEnd.close()
    }

    @Test func `a voided one-time purchase that still reads as bought is revoked at once`()
        async throws
    {
        let google = ScriptedPlay(TestTime(at: PlayBackEnd.start, movesClock: true))
        google.play("token-2") { _ in ScriptedPlay.lifetime("PURCHASED") }
        let backEnd = try PlayBackEnd(google)
        let bought: JSONObject = [
            "oneTimeProductNotification": [
                "notificationType": 1, "purchaseToken": "token-2", "sku": "cards.lifetime",
            ]
        ]
        let push = try TestPlay.push(bought, messageId: "bought", at: google.time.clock.now)
        #expect(try await backEnd.service.handler(push).status == 200)
        #expect(try await backEnd.words().hasPrefix("active lifetime"))
        try await google.time.sleep(.seconds(10))
        let instant = PlayBackEnd.start + .days(2)
        google.time.clock.now = instant
        google.void([ScriptedPlay.voided("token-2", order: "GPA.9", at: instant)])
        #expect(try await tell(backEnd, google, "token-2", order: "GPA.9", type: 2) == 200)
        #expect(try await backEnd.words().hasPrefix("expired refunded"))
        await backEnd.close()
    }

    @Test func `a voided purchase of an unknown kind is requested as each kind`() async throws {
        let google = ScriptedPlay(TestTime(at: PlayBackEnd.start, movesClock: true))
        google.play("productsv2/tokens/token-2") { _ in ScriptedPlay.lifetime("PURCHASED") }
        let backEnd = try PlayBackEnd(google)
        try await google.time.sleep(.seconds(10))
        google.void([])
        #expect(try await tell(backEnd, google, "token-2", order: "GPA.9", type: 3) == 200)
        #expect(try await backEnd.words().hasPrefix("active lifetime"))
        // A purchase that no query finds can still become known.
        #expect(try await tell(backEnd, google, "token-3", order: "GPA.10", type: 3) == 503)
        await backEnd.close()
    }

    @Test func `notifications within a few seconds share a read of the list`() async throws {
        let (backEnd, google, instant) = try await revoked()
        let numbers = 2...6
        for number in numbers {
            google.play("token-\(number)") { now in
                now < instant
                    ? ScriptedPlay.subscription(
                        "ACTIVE",
                        until: Self.end,
                        customer: "customer-\(number)"
                    )
                    : ScriptedPlay.subscription(
                        "EXPIRED",
                        until: instant,
                        customer: "customer-\(number)",
                        isOn: false
                    )
            }
        }
        google.void(
            (1...6).map { ScriptedPlay.voided("token-\($0)", order: "GPA.1", at: instant) }
        )
        #expect(try await backEnd.push(12, "token-1") == 200)
        for number in numbers { #expect(try await backEnd.push(12, "token-\(number)") == 200) }
        #expect(reads(google) == 1)
        #expect(try voids(backEnd) == 1)
        try await google.time.sleep(.seconds(5))
        _ = await backEnd.service.keepUpNow()
        #expect(reads(google) == 2)
        #expect(try voids(backEnd) == 6)
        await backEnd.close()
    }

    @Test func `a rate limit of the store delays the read of the list`() async throws {
        let (backEnd, google, instant) = try await revoked()
        google.void([ScriptedPlay.voided("token-1", order: "GPA.1", at: instant)])
        google.failList { _ in Response(status: 429, headers: ["Retry-After": "600"]) }
        #expect(try await backEnd.push(12, "token-1") == 200)
        google.failList(nil)
        try await google.time.sleep(.seconds(30))
        #expect(try await tell(backEnd, google) == 200)
        #expect(reads(google) == 1)
        try await google.time.sleep(.seconds(600))
        _ = await backEnd.service.keepUpNow()
        #expect(reads(google) == 2)
        #expect(try await backEnd.words().hasPrefix("expired refunded"))
        await backEnd.close()
    }
}
