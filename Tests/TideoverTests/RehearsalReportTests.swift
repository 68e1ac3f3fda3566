import Testing
import TideoverCore
import TideoverDashboard
import TideoverRehearsal
import TideoverSandbox
import TideoverServer

@testable import tideover

/// Compares the totals of a played story with numbers calculated by hand.
@Suite struct RehearsalReportTests {
    /// Anna is in grace for five days. Ben has no access for ten days after a refund. Carl pays in
    /// Google Play, and from 25 May in the App Store.
    private static let story = """
        { scenario: "Three", source: "a test", app: { id: "cards", bundleId: "com.example.cards" },
          products: { "cards.pro": { entitlements: ["premium"], group: "pro", period: "P1M",
                      price: "9.99 USD", grace: "P16D" } },
          googlePlay: { packageName: "com.example.cards", subscriptions: { "play.pro": {
            entitlements: ["premium"], basePlans: { monthly: { period: "P1M", price: "9.99 USD" } } } } },
          customers: { anna: { store: "appStore", note: "saved" }, ben: { store: "appStore" },
            carl: { store: "googlePlay", appAccountToken: "carl-1" },
            carls: { store: "appStore", appAccountToken: "carl-1" } },
          start: "2026-05-01T10:00:00Z",
          steps: [
            { do: "subscribe", customer: "anna" },
            { do: "buy", customer: "carl", product: "play.pro" },
            { at: "2026-05-20T10:00:00Z", do: "failPayments", customer: "anna" },
            { at: "2026-05-25T10:00:00Z", do: "subscribe", customer: "carls" },
            { after: "1 h", do: "cancel", customer: "carl" },
            { at: "2026-06-01T08:00:00Z", do: "subscribe", customer: "ben" },
            { at: "2026-06-06T10:00:00Z", do: "fixPayments", customer: "anna" },
            { at: "2026-06-11T10:00:00Z", do: "refund", customer: "ben" },
            { at: "2026-06-21T10:00:00Z", customer: "ben",
              expect: { premium: { state: "expired", reason: "refunded" } } },
          ] }
        """

    private func rehearsalReport() async throws -> RehearsalReport {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let rehearsal = try Rehearsal(try Scenario(reading: Array(Self.story.utf8)), in: folder)
        let report = try await rehearsal.play()
        #expect(report.passed)
        let rehearsalReport = try await RehearsalReport(
            report,
            until: rehearsal.clock.now,
            took: .seconds(2),
            asking: rehearsal.service.handler
        )
        await rehearsal.close()
        return rehearsalReport
    }

    /// Messages arrive up to two seconds after their events.
    private func isNear(_ length: Milliseconds, days: Int64) -> Bool {
        abs(length.count - Milliseconds.days(days).count) <= 2000
    }

    @Test func `the numbers equal those calculated by hand`() async throws {
        let rehearsalReport = try await rehearsalReport()
        #expect(rehearsalReport.tracks.map(\.name) == ["anna", "ben", "carl"])
        #expect(rehearsalReport.tracks.map(\.stores) == [.appStore, .appStore, .both])
        #expect(rehearsalReport.tracks.map(\.note) == ["saved", nil, nil])
        let (anna, ben, carl) = (
            rehearsalReport.tracks[0], rehearsalReport.tracks[1], rehearsalReport.tracks[2]
        )
        #expect(anna.phases.map(\.value) == [.active, .grace, .active])
        #expect(isNear(anna.total(.lockedOut), days: 5))
        #expect(anna.total(.servedUnpaid) == .zero)
        #expect(ben.phases.map(\.value) == [.active, .refunded])
        #expect(isNear(ben.total(.servedUnpaid), days: 10))
        #expect(ben.total(.lockedOut) == .zero)
        // Google's last reported expiry is 1 June. It remains in a row of the customer until the
        // end.
        #expect(carl.phases.map(\.value) == [.active])
        #expect(isNear(carl.total(.lockedOut), days: 20))
        #expect(rehearsalReport.people(.lockedOut) == 2)
        #expect(rehearsalReport.people(.servedUnpaid) == 1)
        #expect(rehearsalReport.tracks.map(\.savedInGrace) == [1, 0, 0])
        #expect(rehearsalReport.tracks.map(\.savedFromHold) == [0, 0, 0])
        #expect(rehearsalReport.wrongAnswers == 0)
        // Anna: bought, failed, recovered; ben: bought, refunded; carl: bought, cancelled, expired,
        // bought.
        #expect(rehearsalReport.messages == 9)
        #expect(rehearsalReport.protagonist?.name == "carl")
    }

    @Test func `the sentences contain the sums`() {
        #expect(
            SampleRehearsalReport.whole.sentences == [
                "An expiry check would have locked out 2 of these 2 customers while they were "
                    + "entitled, for 11 days together.",
                "It would have served 1 who was not entitled, for 4 days.",
                "Tideover was asked 20 times, and each answer matched the store's own state.",
                "Failed payments saved: 1 in grace, 1 out of hold.",
                "These 60 days took 1.2 seconds: 12 signed messages, each verified, stored and "
                    + "answered for.",
            ]
        )
    }

    @Test func `a wrong answer of Tideover is reported`() {
        var sample = SampleRehearsalReport.whole
        sample = RehearsalReport(
            name: sample.name,
            from: sample.from,
            until: sample.until,
            tracks: sample.tracks,
            messages: sample.messages,
            answers: sample.answers,
            wrongAnswers: 3,
            took: sample.took
        )
        #expect(sample.sentences.contains { $0.contains("3 answers differed from the store") })
    }

    @Test(arguments: [
        (Milliseconds.hours(12), "0.5 days"), (.days(1), "1 day"), (.days(56), "56 days"),
        (Milliseconds.hours(25), "1 day"), (.hours(27), "1.1 days"), (.zero, "0 days"),
    ])
    func `lengths are given to a tenth of a day`(length: Milliseconds, words: String) {
        #expect(RehearsalReport.days(length) == words)
    }

    @Test func `an interval shorter than a message's delay is not drawn`() {
        let start = SampleRehearsalReport.day(0)
        let flickering = [
            ValueInterval(value: Phase.active, from: start, until: start + .days(3)),
            ValueInterval(
                value: .grace,
                from: start + .days(3),
                until: start + .days(3) + .seconds(1)
            ),
            ValueInterval(
                value: .active,
                from: start + .days(3) + .seconds(1),
                until: start + .days(9)
            ),
        ]
        #expect(
            flickering.withoutFlicker(upTo: .minutes(5)) == [
                ValueInterval(value: .active, from: start, until: start + .days(9))
            ]
        )
    }

    @Test func `silent grace counts as grace, and a pause is not a hold`() {
        #expect(Phase(.active, .renewalDue, .silentGrace) == .grace)
        #expect(Phase(.hold, .paused, .paused) == .paused)
        #expect(Phase(.expired, .cancelled, .endedStated) == .ended)
        for phase in Phase.allCases {
            #expect(phase.hasAccess == [.active, .trial, .grace].contains(phase))
        }
    }

    @Test func `month labels start at the first of the month`() {
        let scale = TimeScale(
            from: SampleRehearsalReport.day(-17),
            until: SampleRehearsalReport.day(60),
            places: 77
        )
        #expect(scale.months.map(\.name) == ["Jan", "Feb", "Mar"])
        #expect(scale.months.map { scale.place(of: $0.start) } == [17, 48, 76])
        #expect(scale.start(of: 0) == scale.from)
        #expect(scale.start(of: 77) == scale.until)
    }
}
