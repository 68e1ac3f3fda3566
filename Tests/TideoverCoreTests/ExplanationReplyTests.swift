import Testing
import TideoverCore
import TideoverLives

/// The sentences of a reply, where a wrong one would mislead the customer.
@Suite struct ExplanationReplyTests {
    private static func reply(
        _ life: Life,
        at instant: Instant,
        entitlement: String = "premium"
    ) throws -> [String] {
        try ExplanationTests.explain(life, at: instant, entitlement: entitlement).reply
    }

    // MARK: Refunds and ends

    @Test func `a refund after the end did not end the access`() throws {
        var life = StandingTests.monthly()
        life.outlook(end: "2026-06-01", signed: "2026-05-20", renews: false)
        life.revoke("1", at: "2026-06-20")
        #expect(life.standing("2026-06-25").accessUntil == "2026-06-01")
        #expect(
            try Self.reply(life, at: "2026-06-25") == [
                "The store refunded your purchase on 20 June 2026.",
                "Access had already ended on 1 June 2026.",
            ]
        )
    }

    @Test func `a refund ends access that policy or a leeway kept`() {
        var failing = StandingTests.failing()
        failing.policy = Policy(billingRetry: .keep(.days(7)))
        failing.revoke("1", at: "2026-06-20")
        #expect(failing.standing("2026-06-21").accessUntil == "2026-06-20")
        var silent = StandingTests.monthly()
        silent.revoke("1", at: "2026-06-01T06:00:00Z")
        #expect(silent.standing("2026-06-21").accessUntil == "2026-06-01T06:00:00Z")
    }

    @Test func `a refund on Google Play after the end is no cause of the end`() throws {
        var life = PlayStandingTests.monthly()
        life.read(.expired, until: "2026-06-01", at: "2026-06-01", order: "GPA.1", by: .customer)
        life.void("GPA.1", at: "2026-06-10")
        #expect(
            try Self.reply(life, at: "2026-06-12") == [
                "Your subscription ended on 1 June 2026.",
                "The store refunded it on 10 June 2026.",
            ]
        )
    }
}
