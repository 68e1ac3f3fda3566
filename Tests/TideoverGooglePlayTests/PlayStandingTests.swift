import Testing
import TideoverCore
import TideoverGooglePlay
import TideoverJSON

/// Tests the standings that the rules derive. Covers each notification type, with the response to
/// its query and without.
struct PlayStandingTests {
    private static let heard = FakeStore.at("2026-05-10T00:00:00Z")
    private static let asked = heard + .seconds(5)

    /// A notification type, the store's response, and the standing a day later.
    struct Case: Sendable, CustomStringConvertible {
        let type: Int64
        let answer: JSONObject
        let expected: String
        /// The standing with the notification's own facts, if they add the reason of an end.
        var withNotice: String?
        var description: String { "\(type) \(expected)" }
    }

    private static func state(
        _ word: String,
        _ changes: JSONObject = [:],
        item: JSONObject = [:]
    ) -> JSONObject {
        var changes = changes
        changes["subscriptionState"] = .string("SUBSCRIPTION_STATE_\(word)")
        return FakeStore.subscription(changes, item: item)
    }

    private static let off: JSONObject = ["autoRenewingPlan": [:]]
    private static let active = "active paid in-term confirmed"

    static let cases: [Case] = [
        Case(type: 1, answer: state("ACTIVE"), expected: active),
        Case(type: 2, answer: state("ACTIVE"), expected: active),
        Case(
            type: 3,
            answer: state("CANCELED", item: off),
            expected: "active paid cancelled confirmed"
        ),
        Case(type: 4, answer: state("ACTIVE"), expected: active),
        Case(
            type: 4,
            answer: state("PENDING", ["startTime": nil], item: ["expiryTime": nil]),
            expected: "never pending pending confirmed"
        ),
        Case(
            type: 4,
            answer: state("ACTIVE", item: ["offerPhase": ["freeTrial": [:]]]),
            expected: "active trial in-term confirmed"
        ),
        Case(
            type: 4,
            answer: state("ACTIVE", item: ["autoRenewingPlan": nil, "prepaidPlan": [:]]),
            expected: "active prepaid prepaid confirmed"
        ),
        Case(
            type: 5,
            answer: state("ON_HOLD", item: ["expiryTime": "2026-05-09T00:00:00Z"]),
            expected: "hold accountHold on-hold confirmed"
        ),
        Case(
            type: 6,
            answer: state("IN_GRACE_PERIOD", item: ["expiryTime": "2026-05-12T00:00:00Z"]),
            expected: "grace billingIssue in-grace confirmed"
        ),
        Case(type: 7, answer: state("ACTIVE"), expected: active),
        Case(type: 8, answer: state("ACTIVE"), expected: active),
        Case(
            type: 9,
            answer: state("ACTIVE", item: ["expiryTime": "2026-08-01T00:00:00Z"]),
            expected: active
        ),
        Case(
            type: 10,
            answer: state(
                "PAUSED",
                ["pausedStateContext": ["autoResumeTime": "2026-07-01T00:00:00Z"]],
                item: ["expiryTime": "2026-05-09T00:00:00Z"]
            ),
            expected: "hold paused paused confirmed"
        ),
        Case(type: 11, answer: state("ACTIVE"), expected: active),
        Case(
            type: 12,
            answer: state(
                "EXPIRED",
                ["canceledStateContext": ["developerInitiatedCancellation": [:]]],
                item: ["expiryTime": "2026-05-10T00:00:00Z", "autoRenewingPlan": [:]]
            ),
            expected: "expired ended expired confirmed",
            withNotice: "expired refunded expired confirmed"
        ),
        Case(
            type: 13,
            answer: state(
                "EXPIRED",
                ["canceledStateContext": ["systemInitiatedCancellation": [:]]],
                item: ["expiryTime": "2026-05-09T00:00:00Z", "autoRenewingPlan": [:]]
            ),
            expected: "expired billingError expired confirmed"
        ),
        Case(type: 17, answer: state("ACTIVE"), expected: active),
        Case(type: 18, answer: state("ACTIVE"), expected: active),
        Case(type: 19, answer: state("ACTIVE"), expected: active),
        Case(
            type: 20,
            answer: state("PENDING_PURCHASE_CANCELED", ["startTime": nil]),
            expected: "never calledOff called-off confirmed"
        ),
        Case(type: 22, answer: state("ACTIVE"), expected: active),
        Case(type: 99, answer: state("ACTIVE"), expected: active),
        // The response has priority over the notification: an expired subscription may continue.
        Case(type: 13, answer: state("ACTIVE"), expected: active),
        Case(
            type: 2,
            answer: state(
                "EXPIRED",
                item: ["expiryTime": "2026-05-09T00:00:00Z", "autoRenewingPlan": [:]]
            ),
            expected: "expired ended expired confirmed"
        ),
    ]

    @Test(arguments: cases)
    func `the answer to a lookup decides over its notification`(example: Case) throws {
        let read = FakeStore.facts(
            try FakeStore.read(example.answer, at: Self.asked),
            at: Self.asked + .seconds(1)
        )
        let noticed = try presumed(example.type, at: Self.heard)
        let later = Self.heard + .days(1)
        #expect(answer(read, at: later) == example.expected)
        let expected = example.withNotice ?? example.expected
        #expect(answer(read + noticed, at: later) == expected)
        #expect(answer(noticed + read, at: later) == expected)
    }

    /// The standing a day after the notification, if only the purchase was known before. For types
    /// that state nothing, a year after.
    @Test(arguments: [
        (1, "active paid in-term presumed"), (2, "active paid in-term presumed"),
        (3, "active paid cancelled presumed"), (4, "active paid in-term presumed"),
        (5, "hold accountHold on-hold presumed"), (7, "active paid in-term presumed"),
        (8, "active paid in-term presumed"), (9, "active paid in-term presumed"),
        (10, "hold paused paused presumed"), (11, "active paid in-term presumed"),
        (12, "expired refunded expired presumed"), (13, "expired ended expired presumed"),
        (17, "active paid in-term presumed"), (18, "active paid in-term presumed"),
        (19, "active paid in-term presumed"), (20, "active paid in-term presumed"),
        (22, "active paid in-term presumed"), (99, "active paid in-term presumed"),
    ])
    func `without credentials a type has its documented effect, presumed`(
        type: Int64,
        expected: String
    ) throws {
        let bought = try presumed(4, at: FakeStore.start)
        #expect(answer(bought, at: Self.heard) == "active paid in-term presumed")
        let facts = try bought + presumed(type, at: Self.heard)
        #expect(answer(facts, at: Self.heard + .days(1)) == expected)
    }

    @Test func `an unknown type alone grants nothing`() throws {
        let facts = try presumed(99, at: FakeStore.start)
        #expect(answer(facts, at: Self.heard).hasPrefix("never"))
    }

    @Test func `a presumed purchase lasts for the catalogue's period`() throws {
        let facts = try presumed(4, at: FakeStore.start)
        #expect(standing(facts, at: Self.heard).accessUntil == FakeStore.end)
    }

    @Test func `a later read corrects a presumed standing`() throws {
        let noticed = try presumed(13, at: Self.heard)
        let asked = Self.heard + .hours(1)
        let read = FakeStore.facts(
            try FakeStore.read(FakeStore.subscription(), at: asked),
            at: asked
        )
        #expect(answer(noticed + read, at: asked + .days(1)) == Self.active)
    }

    @Test func `a lifetime purchase can be pending, consumed and refunded`() throws {
        func lifetime(_ changes: JSONObject, offer: JSONObject = [:]) throws -> String {
            let product = FakeStore.product(changes, offer: offer)
            let reading = try FakeStore.read(product, .product, at: Self.heard)
            return answer(FakeStore.facts(reading, at: Self.heard), at: Self.heard + .days(90))
        }
        #expect(try lifetime([:]).hasPrefix("active"))
        #expect(
            try lifetime([
                "purchaseStateContext": ["purchaseState": "PENDING"],
                "purchaseCompletionTime": nil,
            ]).hasPrefix("never")
        )
        #expect(
            try lifetime(["purchaseStateContext": ["purchaseState": "CANCELLED"]])
                .hasPrefix("expired refunded")
        )
        #expect(
            try lifetime(["purchaseStateContext": ["purchaseState": "GIFTED"]]).hasPrefix("never")
        )
    }

    // MARK: Standings

    private func presumed(_ type: Int64, at said: Instant) throws -> [Fact] {
        let notification = try FakeStore.notification(
            "subscriptionNotification",
            [
                "notificationType": .integer(type), "purchaseToken": "token",
                "subscriptionId": "play",
            ],
            at: said
        )
        return FakeStore.facts(try FakeStore.reader.read(notification).presumed, at: said)
    }

    private func answer(_ facts: [Fact], at instant: Instant) -> String {
        let standing = standing(facts, at: instant)
        return
            "\(standing.state) \(standing.reason) \(standing.rule.rawValue) \(standing.confidence)"
    }

    private func standing(_ facts: [Fact], at instant: Instant) -> Standing {
        let catalogue = Catalogue(products: [
            "play": Product(entitlements: ["premium"], group: "pro", period: Period(months: 1)),
            "lifetime": Product(entitlements: ["premium"], kind: .nonConsumable),
        ])
        let lineage = FakeStore.lineage
        let history = LineageHistory(lineage: lineage, facts: facts, catalogue: catalogue)
        return history.standing(at: instant, policy: Policy())
    }
}
