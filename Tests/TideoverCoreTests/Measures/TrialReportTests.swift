import Testing
import TideoverCore

@Suite struct TrialReportTests {
    private static let started = Diary("1").term(0, 7, trial: true)

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
