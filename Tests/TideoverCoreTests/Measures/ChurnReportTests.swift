import Testing
import TideoverCore
import TideoverLives

@Suite struct ChurnReportTests {
    /// Subscribed on day 20, with the outcome by day 60.
    private static let month = Diary("1").term(0, 30)
    private static let failed = month.outlook(of: 30, said: 30, failing: true, grace: 46)

    private static let lives: [(life: Diary, fate: String)] = [
        (month.term(30, 60), "none"),
        (month.outlook(of: 30, said: 10, renews: false), "voluntary"),
        (
            month.outlook(of: 30, said: 30, renews: false, lapse: .priceIncrease)
                .condition(.expired, of: 30, said: 30),
            "voluntary"
        ),
        (failed.outlook(of: 30, said: 35, renews: false), "cancelledFromGrace"),
        (failed.outlook(of: 30, said: 50, renews: false), "cancelledFromHold"),
        (
            failed.outlook(of: 30, said: 55, renews: false, lapse: .billingError)
                .condition(.expired, of: 30, said: 55),
            "involuntary"
        ),
        (failed, "none"),
        (month.refund(of: 0, on: 25), "takenBack"),
        (
            month.outlook(of: 30, said: 10, renews: false).condition(.expired, of: 30, said: 30)
                .refund(of: 0, on: 35),
            "voluntary"
        ),
        // The refund is of an earlier period, so access continues.
        (month.term(30, 60).refund(of: 0, on: 40), "none"),
        (
            month.outlook(of: 30, said: 10, renews: false).term(40, 70, bought: true)
                .refund(of: 40, on: 50),
            "takenBack"
        ),
        (
            month.outlook(of: 30, said: 10, renews: false).term(45, 75, bought: true),
            "returned"
        ),
        (month, "unconfirmed"),
    ]

    @Test(arguments: lives.indices)
    func `each subscriber has one outcome`(position: Int) throws {
        let (life, fate) = Self.lives[position]
        let report = ChurnReport(
            of: [life.timeline(until: 60)],
            over: Diary.day(20)..<Diary.day(60)
        )
        let row = try #require(report.rows.first)
        let counts = [
            "voluntary": row.voluntary, "cancelledFromGrace": row.cancelledFromGrace,
            "cancelledFromHold": row.cancelledFromHold, "involuntary": row.involuntary,
            "takenBack": row.takenBack, "returned": row.returned, "unconfirmed": row.unconfirmed,
        ].filter { $0.value > 0 }
        #expect(counts == (fate == "none" ? [:] : [fate: 1]))
        #expect(row.atStart == 1)
        let isChurn = !["none", "returned", "unconfirmed"].contains(fate)
        #expect(row.churn == Share(isChurn ? 1 : 0, of: 1))
    }

    @Test func `an end at the border of two ranges is in the first alone`() {
        let life = Self.month.outlook(of: 30, said: 10, renews: false)
        func rows(_ first: Int64, _ last: Int64) -> [ChurnReport.Row] {
            let range = Diary.day(first)..<Diary.day(last)
            return ChurnReport(of: [life.timeline(until: 60)], over: range).rows
        }
        #expect(rows(20, 30).map(\.atStart) == [1])
        #expect(rows(20, 30).map(\.voluntary) == [1])
        #expect(rows(30, 60).isEmpty)
    }

    @Test func `trials, later starters and family members are not in the denominator`() {
        let lives = [
            Diary("a").term(0, 30, trial: true), Diary("b").term(30, 60),
            Diary("c", ownership: .familyShared).term(0, 30),
        ]
        let report = ChurnReport(
            of: lives.map { $0.timeline(until: 60) },
            over: Diary.day(20)..<Diary.day(60)
        )
        #expect(report.rows.isEmpty)
    }

    @Test func `a refund on Google Play that is dated before the end of access takes it back`() {
        var life = Life.play()
        life.read(.active, until: "2026-06-08", at: "2026-05-08", order: "GPA.1..0")
        life.void("GPA.1..0", at: "2026-05-20")
        life.read(.expired, until: "2026-05-20", at: "2026-05-20T00:00:01Z", order: "GPA.1..0")
        let range: Range<Instant> = "2026-05-10"..<"2026-06-20"
        let told = life.told(until: range.upperBound)
        #expect(told.transitions.first { $0.kind == .refunded }?.state == .active)
        let report = ChurnReport(of: [told], over: range)
        #expect(report.rows.map(\.takenBack) == [1])
        #expect(report.rows.map(\.unconfirmed) == [0])
    }

    @Test func `a subscriber in grace or on hold at the beginning counts as a subscriber`() {
        for day in [Int64(35), 50] {
            let report = ChurnReport(
                of: [Self.failed.timeline(until: 95)],
                over: Diary.day(day)..<Diary.day(95)
            )
            #expect(report.rows.map(\.involuntary) == [1])
        }
    }
}
