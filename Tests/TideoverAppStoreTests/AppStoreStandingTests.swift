import Testing
import TideoverAppStore
import TideoverCore
import TideoverJSON

/// Tests the standings that the rules derive from App Store facts.
@Suite struct AppStoreStandingTests {
    static let day: Int64 = 86_400_000
    static let end = FakeStore.end

    @Test func `the facts of a purchase, a refund and a reversal give their standings`() throws {
        var facts = try FakeStore.facts(FakeStore.notification("SUBSCRIBED", "INITIAL_BUY"))
        #expect(answer(facts, at: FakeStore.start + Self.day) == "active paid in-term")

        let signed = FakeStore.start + 10 * Self.day
        let refunded = FakeStore.transaction([
            "revocationDate": .integer(signed - 1000), "revocationReason": 0,
            "revocationType": "REFUND_FULL", "signedDate": .integer(signed),
        ])
        facts += try FakeStore.facts(
            FakeStore.notification(
                "REFUND",
                transaction: refunded,
                renewalInfo: FakeStore.renewalInfo(["signedDate": .integer(signed)]),
                data: ["status": 5],
                outer: ["signedDate": .integer(signed + 1000)]
            )
        )
        #expect(answer(facts, at: signed + Self.day) == "expired refunded revoked")

        let reversed = signed + 5 * Self.day
        facts += try FakeStore.facts(
            FakeStore.notification(
                "REFUND_REVERSED",
                transaction: FakeStore.transaction(["signedDate": .integer(reversed - 1000)]),
                renewalInfo: FakeStore.renewalInfo(["signedDate": .integer(reversed - 1000)]),
                outer: ["signedDate": .integer(reversed)]
            )
        )
        #expect(answer(facts, at: reversed - Self.day) == "expired refunded revoked")
        #expect(answer(facts, at: reversed) == "active paid in-term")
    }

    @Test func `a failed payment leads to grace, then to hold`() throws {
        let failing: JSONObject = [
            "isInBillingRetryPeriod": true, "expirationIntent": 2,
            "gracePeriodExpiresDate": .integer(Self.end + 16 * Self.day),
            "signedDate": .integer(Self.end + 60_000),
        ]
        let facts =
            try FakeStore.facts(FakeStore.notification("DID_RENEW"))
            + FakeStore.facts(
                FakeStore.notification(
                    "DID_FAIL_TO_RENEW",
                    "GRACE_PERIOD",
                    renewalInfo: FakeStore.renewalInfo(failing),
                    data: ["status": 4],
                    outer: ["signedDate": .integer(Self.end + 61_000)]
                )
            )
        #expect(answer(facts, at: Self.end - 1) == "active paid in-term")
        #expect(answer(facts, at: Self.end + Self.day) == "grace billingIssue in-grace")
        #expect(answer(facts, at: Self.end + 17 * Self.day) == "hold billingRetry in-retry")
    }

    @Test func `a bare failure without grace is a hold`() throws {
        let facts = try FakeStore.facts(
            FakeStore.notification(
                "DID_FAIL_TO_RENEW",
                renewalInfo: FakeStore.renewalInfo(["signedDate": .integer(Self.end + 60_000)]),
                data: ["status": 3],
                outer: ["signedDate": .integer(Self.end + 61_000)]
            )
        )
        #expect(answer(facts, at: Self.end + Self.day) == "hold billingRetry in-retry")
    }

    @Test func `a cancelled subscription has access until its end`() throws {
        let facts = try FakeStore.facts(
            FakeStore.notification(
                "DID_CHANGE_RENEWAL_STATUS",
                "AUTO_RENEW_DISABLED",
                renewalInfo: FakeStore.renewalInfo(["autoRenewStatus": 0])
            )
        )
        #expect(answer(facts, at: Self.end - 1) == "active paid in-term")
        #expect(answer(facts, at: Self.end) == "expired cancelled ended")
    }

    private func answer(_ facts: [Fact], at milliseconds: Int64) -> String {
        guard let lineage = facts.first?.lineage else { return "no facts" }
        let catalogue = Catalogue(products: [
            "cards.pro.monthly": Product(
                entitlements: ["premium"],
                group: "pro",
                period: Period(months: 1)
            )
        ])
        let history = LineageHistory(lineage: lineage, facts: facts, catalogue: catalogue)
        let standing = history.standing(
            at: Instant(millisecondsSince1970: milliseconds),
            policy: Policy()
        )
        return "\(standing.state) \(standing.reason) \(standing.rule.rawValue)"
    }
}
