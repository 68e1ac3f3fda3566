import Testing
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSandbox

/// Lockouts in a story: a back end with fixed answers, and a customer who has paid for a year.
@Suite struct StoryOracleTests {
    /// Faults from 4 to 8 May; the back end catches up on the 10th.
    private static let story = """
        {
          scenario: "A year paid", source: "Tideover, rules of standing",
          app: { id: "cards", bundleId: "com.example.cards" },
          products: { "cards.pro.yearly": { entitlements: ["premium"], group: "pro", period: "P1Y", price: "99.99 USD" } },
          customers: { anna: {} },
          start: "2026-05-01T10:00:00Z",
          steps: [
            { do: "subscribe" },
            { at: "2026-05-02T10:00:00Z", expect: { premium: { access: { present: true } } } },
            { at: "2026-05-03T10:00:00Z", expect: { premium: { access: { present: true } } } },
            { at: "2026-05-04T10:00:00Z", do: "disturbNotifications", fault: "lose", percent: 100 },
            { at: "2026-05-06T10:00:00Z", expect: { premium: { access: { present: true } } } },
            { at: "2026-05-08T10:00:00Z", do: "endDisturbances" },
            { at: "2026-05-09T10:00:00Z", expect: { premium: { access: { present: true } } } },
            { at: "2026-05-10T10:00:00Z", do: "catchUp" },
            { at: "2026-05-10T11:00:00Z", expect: { premium: { access: { present: true } } } },
            { at: "2026-05-11T10:00:00Z", expect: { premium: { access: { present: true } } } },
            { at: "2026-05-12T10:00:00Z", expect: { premium: { access: { present: true } } } },
          ],
        }
        """

    /// Returns the result of the story with a back end that gives another answer between two
    /// instants of May, each `day T hour`.
    private func verdict(
        from begin: String,
        to end: String,
        _ otherwise: String?
    ) async throws -> StoryOracle {
        let begin = try #require(InstantText.read("2026-05-\(begin):00:00Z"))
        let end = try #require(InstantText.read("2026-05-\(end):00:00Z"))
        let clock = Locked<Int64>(0)
        let target = ScenarioTarget(
            deliver: { _ in Response(status: 200) },
            readBack: { _ in
                let isRight = !(begin..<end).contains(clock.withLock { $0 })
                guard let premium = isRight ? Self.right : otherwise else {
                    return Response(status: 503)
                }
                return Response(body: Array(#"{"entitlements":{"premium":\#(premium)}}"#.utf8))
            },
            setClock: { now in clock.withLock { $0 = now } }
        )
        let scenario = try Scenario(reading: Array(Self.story.utf8))
        let report = try await played(scenario, against: target)
        return report.storyOracle
    }

    private static let right =
        #"{"state":"active","access":true,"accessUntil":"2027-05-01T10:00:00.000Z"}"#
    private static let denied = #"{"state":"expired","access":false,"accessUntil":null}"#

    private static let day: Int64 = 24 * 60

    @Test(
        arguments: [
            // Never.
            ("02T10", "02T10", 0, 0),
            // Before the faults, for one read and for two.
            ("02T10", "03T10", day, 1), ("02T00", "03T11", 2 * day, 2),
            // Until the faults begin, and no longer.
            ("03T10", "07T10", day, 1),
            // During the faults, and until the back end has caught up.
            ("04T10", "08T00", 0, 0), ("04T10", "10T10", 0, 0),
            // After that; the trace ends with the last read.
            ("10T11", "11T00", day - 60, 2), ("11T10", "12T10", day, 2), ("12T10", "13T00", 0, 2),
        ] as [(String, String, Int64, Int)]
    )
    func `a lockout counts from the read that shows it, outside of tolerance windows`(
        begin: String,
        end: String,
        minutes: Int64,
        faults: Int
    ) async throws {
        let verdict = try await verdict(from: begin, to: end, Self.denied)
        #expect(verdict.lockoutMinutes == minutes)
        // A wrong answer at a quiet point is one more fault than the lockout.
        #expect(verdict.faults.count == faults)
        #expect(verdict.quietAnswers == 3)
    }

    @Test func `a missing answer outside of the windows is a fault and no lockout`() async throws {
        #expect(try await verdict(from: "04T10", to: "08T00", nil).faults == [])
        let verdict = try await verdict(from: "02T10", to: "03T10", nil)
        #expect(
            verdict.faults.map(\.description).map { $0.hasSuffix("is answered nothing") } == [true]
        )
        #expect(verdict.lockoutMinutes == 0)
    }

    // MARK: Google Play's grace

    /// Every push is lost until the payment has failed; the back end catches up on 4 June. The
    /// store reports only the moved expiry, not the end of the whole grace. Purchases in March are
    /// reported as paid.
    private func grace(
        told accessUntil: String,
        before: String = #"{"state":"never","access":false}"#,
        inMarch steps: String = ""
    ) async throws -> [StoryFault] {
        let story = """
            {
              scenario: "First known in grace", source: "Google, Subscription lifecycle, Grace period",
              app: { id: "cards" },
              googlePlay: { packageName: "com.example.cards", subscriptions: { "cards.pro": { entitlements: ["premium"],
                basePlans: { monthly: { period: "P1M", price: "9.99 USD", grace: "30 d" } } } } },
              customers: { anna: {} },
              start: "2026-03-01T10:00:00Z",
              steps: [
                \(steps)
                { at: "2026-05-01T10:00:00Z", do: "disturbNotifications", fault: "lose", percent: 100 },
                { do: "buy" },
                { at: "2026-05-20T10:00:00Z", do: "failPayments", expect: { premium: { access: { present: true } } } },
                { at: "2026-06-02T10:00:00Z", do: "endDisturbances" },
                { at: "2026-06-04T12:00:00Z", do: "catchUp" },
                { after: "1 h", expect: { premium: { access: { present: true } } } },
              ],
            }
            """
        let clock = Locked<Int64>(0)
        let april = try #require(InstantText.read("2026-04-01T00:00:00Z"))
        let june = try #require(InstantText.read("2026-06-03T00:00:00Z"))
        let paid = #"{"state":"active","access":true,"store":"googlePlay"}"#
        let now =
            #"{"state":"grace","access":true,"store":"googlePlay","graceUntil":null,"accessUntil":"\#(accessUntil)"}"#
        let target = ScenarioTarget(
            deliver: { _ in Response(status: 200) },
            readBack: { _ in
                let instant = clock.withLock { $0 }
                let premium = instant < april ? paid : instant < june ? before : now
                return Response(body: Array(#"{"entitlements":{"premium":\#(premium)}}"#.utf8))
            },
            setClock: { now in clock.withLock { $0 = now } }
        )
        let scenario = try Scenario(reading: Array(story.utf8))
        return try await played(scenario, against: target).storyOracle.faults
    }

    @Test func `a purchase first seen in grace may be reported with its moving end only`()
        async throws
    {
        #expect(try await grace(told: "2026-06-05T10:00:00.000Z") == [])
        for wrong in [
            "2026-06-05T11:00:00.000Z", "2026-06-04T10:00:00.000Z", "2026-06-06T10:00:00.000Z",
        ] {
            #expect(try await grace(told: wrong).count == 1, "\(wrong)")
        }
    }

    @Test func `a purchase seen before must be reported with the end of grace`() async throws {
        let paid = #"{"state":"active","access":true,"store":"googlePlay"}"#
        #expect(try await grace(told: "2026-06-05T10:00:00.000Z", before: paid).count == 1)
    }

    @Test func `an earlier purchase does not count as having seen the next`() async throws {
        let march = """
            { do: "buy" },
            { at: "2026-03-02T10:00:00Z", expect: { premium: { access: { present: true } } } },
            { at: "2026-03-20T10:00:00Z", do: "revoke", refund: "full", expect: { premium: { access: { present: true } } } },
            """
        #expect(
            try await grace(told: "2026-06-05T10:00:00.000Z", inMarch: march) == []
        )
    }

    @Test func `with grace in both stores either end is accepted`() async throws {
        #expect(try await graceInBoth(told: "2026-06-19T10:00:00.000Z") == [])
        #expect(try await graceInBoth(told: "2026-07-01T10:00:00.000Z") == [])
        #expect(try await graceInBoth(told: "2026-06-18T10:00:00.000Z").count == 1)
        #expect(try await graceInBoth(told: "2026-07-02T10:00:00.000Z").count == 1)
    }

    /// A month from 1 May in Google Play, with thirty days of grace, and one from 3 May in the App
    /// Store, with sixteen; neither renews.
    private func graceInBoth(told end: String) async throws -> [StoryFault] {
        let token = "2f6a3f0e-6c1b-4d0e-9a55-0b7e8c1d4a21"
        let story = """
            {
              scenario: "In grace twice", source: "Tideover, rules of standing",
              app: { id: "cards", bundleId: "com.example.cards" },
              products: { "cards.monthly": { entitlements: ["premium"], group: "pro", period: "P1M", price: "9.99 USD", grace: "P16D" } },
              googlePlay: { packageName: "com.example.cards", subscriptions: { "cards.pro": { entitlements: ["premium"],
                basePlans: { monthly: { period: "P1M", price: "9.99 USD", grace: "30 d" } } } } },
              customers: { anna: { store: "googlePlay", appAccountToken: "\(token)" },
                           "anna's iPhone": { store: "appStore", appAccountToken: "\(token)" } },
              start: "2026-05-01T10:00:00Z",
              steps: [
                { do: "buy", customer: "anna" },
                { at: "2026-05-03T10:00:00Z", do: "subscribe", customer: "anna's iPhone" },
                { do: "failPayments", customer: "anna" },
                { do: "failPayments", customer: "anna's iPhone" },
                { at: "2026-06-04T12:00:00Z", do: "catchUp" },
                { after: "1 h", customer: "anna", expect: { premium: { access: { present: true } } } },
              ],
            }
            """
        let now =
            #"{"state":"grace","access":true,"accessUntil":"\#(end)","graceUntil":"\#(end)"}"#
        let target = ScenarioTarget(
            deliver: { _ in Response(status: 200) },
            readBack: { _ in Response(body: Array(#"{"entitlements":{"premium":\#(now)}}"#.utf8)) },
            setClock: { _ in }
        )
        let scenario = try Scenario(reading: Array(story.utf8))
        let verdict = try await played(scenario, against: target).storyOracle
        #expect(verdict.quietAnswers == 1)
        return verdict.faults
    }
}
