import Foundation
import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer

/// What is asked when Google Play tells that an order was voided.
@Suite struct PlayVoidedNoticeTests {
    private static let end: Instant = "2026-06-01T10:00:00Z"

    /// A subscription that the store revokes, having charged the payment back.
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
        google.time.clock.now = instant
        return (backEnd, google, instant)
    }

    private func tell(_ backEnd: PlayBackEnd, _ google: ScriptedPlay) async throws -> Int {
        let notice: JSONObject = [
            "voidedPurchaseNotification": [
                "purchaseToken": "token-1", "orderId": "GPA.1", "productType": 1,
                "refundType": 1,
            ]
        ]
        let request = try TestPlay.push(notice, messageId: "void", at: google.time.clock.now)
        return try await backEnd.service.handler(request).status
    }

    private func voids(_ backEnd: PlayBackEnd) throws -> Int {
        try backEnd.facts().count { fact in
            if case .playVoidedOrder = fact.assertion { true } else { false }
        }
    }

    @Test func `why an order was voided is known as soon as it is told of`() async throws {
        let (backEnd, google, instant) = try await revoked()
        google.void([
            ScriptedPlay.voided("token-1", order: "GPA.1", at: instant),
            // Somebody else's, which comes by schedule.
            ScriptedPlay.voided("token-9", order: "GPA.9", at: instant),
        ])
        #expect(try await tell(backEnd, google) == 200)
        #expect(try await backEnd.words().hasPrefix("expired refunded confirmed"))
        #expect(try voids(backEnd) == 1)
        await backEnd.close()
    }

    @Test func `a list that does not answer keeps no message back`() async throws {
        let (backEnd, google, _) = try await revoked()
        google.fail { _ in Response(status: 503) }
        // While nothing answers the message is to come again.
        #expect(try await tell(backEnd, google) == 503)
        google.fail(nil)
        google.void([])
        #expect(try await tell(backEnd, google) == 200)
        #expect(try await backEnd.words().hasPrefix("expired "))
        #expect(try voids(backEnd) == 0)
        await backEnd.close()
    }
}
