import Testing
import TideoverCore
import TideoverGooglePlay
import TideoverJSON
import TideoverLives

/// Tests extreme numbers, dates and periods: the rules must process all accepted values without a
/// trap.
@Suite struct ExtremeValueTests {
    private static let catalogue = Catalogue(products: [
        "play": Product(
            entitlements: ["premium"],
            period: Period(years: 9999, months: 9999, weeks: 9999, days: 9999),
            trial: Period(years: 9999),
            grace: Period(years: 9999)
        ),
        "lifetime": Product(entitlements: ["premium"], kind: .nonConsumable),
    ])

    @Test func `a date that its offset moves beyond the supported years is refused`() {
        for time in ["0000-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"] {
            let answer = FakeStore.subscription(item: ["expiryTime": .string(time)])
            #expect(throws: PlayRefusal.self) { try FakeStore.read(answer) }
        }
    }

    @Test(
        arguments: [
            ("9", .integer(.min)), ("9", .integer(.max)), ("9", 1_000_000_000),
            ("9223372036854775807", 0), ("-9223372036854775808", 0), ("9223372036854776", 0),
        ] as [(String, JSONValue)]
    )
    func `an amount beyond the range of integers is refused`(units: String, nanos: JSONValue) {
        let price: JSONValue = ["currencyCode": "USD", "units": .string(units), "nanos": nanos]
        let answer = FakeStore.subscription(
            item: ["autoRenewingPlan": ["autoRenewEnabled": true, "recurringPrice": price]]
        )
        #expect(throws: PlayRefusal.self) { try FakeStore.read(answer) }
    }

    @Test func `the largest amount can be derived`() throws {
        let price: JSONValue = [
            "currencyCode": "USD", "units": "9223372036854775", "nanos": 807_000_000,
        ]
        let answer = FakeStore.subscription(
            ["subscriptionState": "SUBSCRIPTION_STATE_ON_HOLD"],
            item: ["autoRenewingPlan": ["autoRenewEnabled": true, "recurringPrice": price]]
        )
        let facts = FakeStore.facts(try FakeStore.read(answer), at: FakeStore.start)
        #expect(Derivations.faults(of: facts, Self.catalogue) == [])
    }

    @Test func `a token that was replaced before it was read can be derived`() throws {
        let token = PlayToken("#token")
        let ended = try FakeStore.read(
            [:],
            .endedSubscription,
            chains: PlayChains([token: FakeStore.lineage])
        )
        var facts = FakeStore.facts(ended, at: FakeStore.start)
        let read = try #require(facts.first)
        let replacement = PlayReplacement(
            token: token,
            by: PlayToken("#other"),
            from: FakeStore.start
        )
        facts.append(
            Fact(
                lineage: read.lineage,
                assertion: .playReplacement(replacement),
                effectiveAt: FakeStore.start,
                assertedAt: FakeStore.start,
                learnedAt: FakeStore.start,
                source: .playAPI,
                evidence: EvidenceID(hex: "02")
            )
        )
        #expect(Derivations.faults(of: facts, Self.catalogue) == [])
    }
}
