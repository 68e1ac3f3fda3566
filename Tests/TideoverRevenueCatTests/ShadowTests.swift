import Testing
import TideoverCore
import TideoverJSON
import TideoverRevenueCat

/// Tests the comparison of RevenueCat's decisions with ours.
@Suite struct ShadowTests {
    static let end = RevenueCatWire.end
    static let graceEnd = RevenueCatWire.graceEnd

    static func entitlement(_ changes: JSONObject = [:]) -> JSONObject {
        let entitlement: JSONObject = [
            "expires_date": SubscriberWire.date(end), "product_identifier": "cards.pro.monthly",
        ]
        return entitlement.changed(changes)
    }

    /// A RevenueCat response with a decision about `premium`.
    static func theirs(
        at asked: Instant = SubscriberWire.asked,
        subscription: JSONObject = [:],
        _ entitlements: JSONObject
    ) throws -> RevenueCatSubscriber {
        let subscription = SubscriberWire.subscription(subscription)
        return try SubscriberWire.read(
            SubscriberWire.answer(
                at: asked,
                ["cards.pro.monthly": .object(subscription)],
                entitlements: entitlements
            )
        )
    }

    /// A subscription known from the store itself, optionally with grace.
    static func ours(grace: Bool = false) -> Life {
        var life = Life()
        life.store(.term(RelayTests.term()), of: Life.appStore, at: RevenueCatWire.start)
        if grace {
            let outlook = Outlook(
                renewalDate: end,
                willRenew: true,
                isRetrying: true,
                graceEnd: graceEnd
            )
            life.store(.outlook(outlook), of: Life.appStore, at: end)
        }
        return life
    }

    static func told(_ differences: [ShadowDifference]) -> [String] {
        differences.map { "\($0.entitlement) \($0.kind.rawValue) \($0.rule?.rawValue ?? "-")" }
    }

    // MARK: RevenueCat's rule

    @Test func `RevenueCat's state is active until the later of expiry and grace`() throws {
        let grace = SubscriberWire.date(Self.graceEnd)
        let cases: [(subscription: JSONObject, entitlement: JSONObject, end: Instant?)] = [
            ([:], [:], Self.end),
            ([:], ["grace_period_expires_date": grace], Self.graceEnd),
            (["grace_period_expires_date": grace], [:], Self.graceEnd),
            ([:], ["expires_date": .null], nil),
        ]
        for (subscription, entitlement, end) in cases {
            let answer = try Self.theirs(
                subscription: subscription,
                ["premium": .object(Self.entitlement(entitlement))]
            )
            let conclusion = try #require(answer.conclusion(on: "premium", at: Self.end))
            #expect(conclusion.accessUntil == end)
            #expect(conclusion.isActive == (end.map { $0 > Self.end } ?? true))
        }
        #expect(try Self.theirs([:]).conclusion(on: "premium", at: Self.end) == nil)
    }

    // MARK: Differences

    @Test func `equal answers have no difference`() throws {
        let theirs = try Self.theirs(["premium": .object(Self.entitlement())])
        let ours = Self.ours()
        #expect(ours.snapshot(.day("2026-05-20")).differences(from: theirs) == [])
        let nearly = try Self.theirs([
            "premium": .object(
                Self.entitlement(["expires_date": SubscriberWire.date(Self.end + .seconds(30))])
            )
        ])
        #expect(ours.snapshot(.day("2026-05-20")).differences(from: nearly) == [])
    }

    @Test func `each difference has its kind, both answers and our rule`() throws {
        let plain = try Self.theirs(["premium": .object(Self.entitlement())])
        let later = try Self.theirs([
            "premium": .object(
                Self.entitlement(["expires_date": SubscriberWire.date(Self.graceEnd)])
            )
        ])
        let other = try Self.theirs([
            "premium": .object(Self.entitlement()),
            "gold": .object(Self.entitlement()), "silver": .object(Self.entitlement()),
        ])
        let sandbox = try Self.theirs(
            subscription: ["is_sandbox": true],
            ["premium": .object(Self.entitlement())]
        )
        let none = Life()
        let grace = Self.ours(grace: true)
        let cases: [(Life, Instant, RevenueCatSubscriber, [String])] = [
            (none, .day("2026-05-20"), plain, ["premium denied-here no-facts"]),
            (grace, .day("2026-06-10"), plain, ["premium denied-there in-grace"]),
            (Self.ours(), .day("2026-05-20"), later, ["premium other-end in-term"]),
            (
                Self.ours(), .day("2026-05-20"), other,
                ["gold not-in-catalogue -", "silver not-in-catalogue -"]
            ),
            (none, .day("2026-05-20"), sandbox, ["premium other-environment no-facts"]),
            (none, .day("2026-06-20"), other, []),
        ]
        for (ours, at, theirs, expected) in cases {
            let differences = ours.snapshot(at).differences(from: theirs)
            #expect(Self.told(differences) == expected)
            for difference in differences { #expect(difference.sentence.hasSuffix(".")) }
        }
        let difference = try #require(
            grace.snapshot(.day("2026-06-10")).differences(from: plain).first
        )
        #expect(difference.theirs?.accessUntil == Self.end)
        #expect(difference.ours?.accessUntil == Self.graceEnd)
    }

    // MARK: Lockout

    @Test func `the time that RevenueCat denied and the store confirmed is counted`() throws {
        let ours = Self.ours(grace: true).history
        let plain = try Self.theirs(["premium": .object(Self.entitlement())])
        let lockout = ShadowLockout(
            of: "premium",
            answers: [plain],
            ours: ours,
            from: RevenueCatWire.start,
            until: .day("2026-07-01")
        )
        #expect(lockout.stretches == [.init(from: Self.end, until: Self.graceEnd)])
        #expect(lockout.total == .days(16))
        #expect(lockout.entitled == Self.graceEnd - SubscriberWire.asked)
    }

    @Test func `an answer applies until the next one`() throws {
        let ours = Self.ours(grace: true).history
        let plain = try Self.theirs(["premium": .object(Self.entitlement())])
        let mended = try Self.theirs(
            at: .day("2026-06-05"),
            subscription: ["grace_period_expires_date": SubscriberWire.date(Self.graceEnd)],
            ["premium": .object(Self.entitlement())]
        )
        for answers in [[plain, mended], [mended, plain]] {
            let lockout = ShadowLockout(
                of: "premium",
                answers: answers,
                ours: ours,
                from: RevenueCatWire.start,
                until: .day("2026-07-01")
            )
            #expect(lockout.stretches == [.init(from: Self.end, until: .day("2026-06-05"))])
        }
    }

    @Test func `relay facts alone confirm nothing`() throws {
        var life = Life()
        try life.hear("INITIAL_PURCHASE")
        let lockout = ShadowLockout(
            of: "premium",
            answers: [try Self.theirs([:])],
            ours: life.history,
            from: RevenueCatWire.start,
            until: Self.end
        )
        #expect(lockout.total == .zero)
        #expect(lockout.entitled == .zero)
    }
}
