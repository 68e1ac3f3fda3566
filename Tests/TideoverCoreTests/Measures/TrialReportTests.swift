import Testing
import TideoverCore
import TideoverLives

@Suite struct TrialReportTests {
    private static let started = Diary("1").term(0, 7, trial: true)

    private static let failed = started.outlook(of: 7, said: 7, failing: true, grace: 23)
    private static let cancelledInGrace = failed.outlook(of: 7, said: 10, renews: false)
    /// Cancelled and ended, and bought again for money later.
    private static let back = started.outlook(of: 7, said: 3, renews: false)
        .condition(.expired, of: 7, said: 7).term(30, 60, bought: true)

    private static let lives: [(life: Diary, outcome: String)] = [
        (started.term(7, 37), "converted"),
        (
            started.outlook(of: 7, said: 3, renews: false).condition(.expired, of: 7, said: 7),
            "cancelled"
        ),
        (
            started.outlook(of: 7, said: 3, renews: false).outlook(of: 7, said: 5).term(7, 37),
            "converted"
        ),
        (started.outlook(of: 7, said: 7, failing: true), "inBillingIssue"),
        (started.outlook(of: 7, said: 7, failing: true).term(12, 42), "converted"),
        (
            started.outlook(of: 7, said: 7, failing: true)
                .outlook(of: 7, said: 67, renews: false, lapse: .billingError)
                .condition(.expired, of: 7, said: 67),
            "lapsed"
        ),
        (started.term(7, 37).refund(of: 7, on: 20), "converted"),
        (started.refund(of: 0, on: 4), "takenBack"),
        // The renewal is announced and refunded before it begins.
        (started.term(7, 37, said: 5).refund(of: 7, on: 6), "takenBack"),
        (cancelledInGrace, "cancelled"),
        (back, "cancelled"),
        (back.outlook(of: 60, said: 60, failing: true, grace: 76), "cancelled"),
        (back.refund(of: 30, on: 40), "cancelled"),
        (back.refund(of: 30, on: 40).reversal(of: 30, on: 45), "cancelled"),
        (started.term(75, 105, bought: true), "unconfirmed"),
        (started, "unconfirmed"),
    ]

    @Test(arguments: lives.indices)
    func `each trial has one outcome`(position: Int) throws {
        let (life, outcome) = Self.lives[position]
        let report = TrialReport(of: [life.timeline(until: 90)], asOf: Diary.day(90))
        let row = try #require(report.rows.first)
        let counts = [
            "running": row.running, "inBillingIssue": row.inBillingIssue,
            "converted": row.converted, "cancelled": row.cancelled, "lapsed": row.lapsed,
            "takenBack": row.takenBack, "unconfirmed": row.unconfirmed,
        ].filter { $0.value > 0 }
        // A failed first payment without a later report is given up after sixty days.
        let expected = outcome == "inBillingIssue" ? "lapsed" : outcome
        #expect(counts == [expected: 1])
        #expect(row.started == 1)
    }

    @Test func `a running or retried trial is undecided`() throws {
        let running = TrialReport(of: [Self.started.timeline(until: 5)], asOf: Diary.day(5))
        #expect(try #require(running.rows.first).running == 1)
        #expect(running.rows[0].conversion.value == nil)
        let failing = Self.started.outlook(of: 7, said: 7, failing: true)
        let retried = TrialReport(of: [failing.timeline(until: 20)], asOf: Diary.day(20))
        #expect(try #require(retried.rows.first).inBillingIssue == 1)
        #expect(retried.rows[0].conversion.value == nil)
    }

    private static func row(_ life: Diary, on day: Int64) throws -> TrialReport.Row {
        let report = TrialReport(of: [life.timeline(until: day)], asOf: Diary.day(day))
        try #require(report.rows.count == 1)
        return report.rows[0]
    }

    @Test func `an end that is undone reopens the trial`() throws {
        let refunded = Self.started.refund(of: 0, on: 4)
        #expect(try Self.row(refunded.reversal(of: 0, on: 5), on: 6).running == 1)
        #expect(try Self.row(Self.cancelledInGrace, on: 11).cancelled == 1)
        let restarted = Self.cancelledInGrace.outlook(of: 7, said: 12, failing: true, grace: 23)
        #expect(try Self.row(restarted, on: 13).inBillingIssue == 1)
        #expect(try Self.row(restarted.term(14, 44), on: 20).converted == 1)
    }

    @Test func `a trial on Google Play that is refunded before the end of access is taken back`() {
        var life = Life.play()
        life.read(
            .active,
            until: "2026-05-08",
            at: "2026-05-01",
            phase: .freeTrial,
            order: "GPA.1"
        )
        life.void("GPA.1", at: "2026-05-04")
        life.read(
            .expired,
            until: "2026-05-04",
            at: "2026-05-04T00:00:01Z",
            phase: .freeTrial,
            order: "GPA.1"
        )
        let end: Instant = "2026-06-01"
        let told = life.told(until: end)
        #expect(told.transitions.first { $0.kind == .refunded }?.state == .active)
        let report = TrialReport(of: [told], asOf: end)
        #expect(report.rows.map(\.takenBack) == [1])
        #expect(report.rows.map(\.running) == [0])
    }

    @Test func `a trial in the place of a running one continues it, unless that is cancelled`()
        throws
    {
        let replaced = try Self.row(
            Self.started.term(5, 12, trial: true, bought: true),
            on: 8
        )
        #expect((replaced.started, replaced.running) == (1, 1))
        let again = try Self.row(
            Self.started.outlook(of: 7, said: 3, renews: false)
                .term(5, 12, trial: true, bought: true),
            on: 8
        )
        #expect((again.started, again.running, again.cancelled) == (2, 1, 1))
    }

    @Test func `cohorts are months, and the denominator is the decided trials`() {
        let lives = [
            Diary("a").term(0, 7, trial: true).term(7, 37),
            Diary("b").term(20, 27, trial: true).outlook(of: 27, said: 21, renews: false)
                .condition(.expired, of: 27, said: 27),
            Diary("c").term(40, 47, trial: true),
            Diary("d", ownership: .familyShared).term(0, 7, trial: true).term(7, 37),
        ]
        let report = TrialReport(of: lives.map { $0.timeline(until: 44) }, asOf: Diary.day(44))
        #expect(report.rows.map(\.cohort) == ["2026-01", "2026-02"])
        #expect(report.rows.map(\.started) == [2, 1])
        #expect(report.rows[0].conversion == Share(1, of: 2))
        #expect(report.rows[1].conversion == Share(0, of: 0))
    }
}
