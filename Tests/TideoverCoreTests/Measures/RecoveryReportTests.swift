import Testing
import TideoverCore

/// Six failed renewals, few enough to calculate by hand.
@Suite struct RecoveryReportTests {
    private static let dollars = Money(milliunits: 9990, currency: "USD")
    private static let euros = Money(milliunits: 4990, currency: "EUR")

    private let issues: [BillingIssue] = [
        issue("a", day(0), .grace, recovered(5, .grace), dollars),
        issue("b", day(0), .grace, heldAt: 16, recovered(40, .hold), dollars, country: "USA"),
        issue("c", day(10), .grace, heldAt: 26, .expired(from: .hold, at: day(70)), euros),
        issue("d", day(20), .hold, .cancelled(from: .hold, at: day(25)), nil, country: "FRA"),
        issue("e", day(80), .grace, .open(.grace), dollars, country: "USA"),
        issue("f", day(90), .grace, recovered(92, .grace, anew: true), dollars),
    ]

    private func row(asOf instant: Instant = day(100)) throws -> RecoveryReport.Row {
        try #require(RecoveryReport(of: issues, asOf: instant).rows.first)
    }

    @Test func `each issue is counted in one category`() throws {
        let report = RecoveryReport(of: issues, asOf: day(100))
        let row = try #require(report.rows.first)
        #expect(report.rows.count == 1)
        #expect(row.issues == 6)
        #expect(row.open == 1)
        #expect([row.recoveredFromGrace, row.recoveredFromHold] == [2, 1])
        #expect(row.recoveredByNewPurchase == 1)
        #expect([row.cancelledFromGrace, row.cancelledFromHold] == [0, 1])
        #expect([row.unrecovered, row.takenBack, row.lost] == [1, 0, 2])
    }

    @Test func `the simple ratio excludes every young issue, recovered or not`() throws {
        let all = try row().all
        #expect(all.map(\.days) == [30, 60, 90])
        #expect(simple(all) == ["1/4", "2/4", "2/3"])
    }

    @Test func `the estimate uses each issue for the time it was observed`() throws {
        let all = try row().all
        let ninths = all.compactMap(\.estimate).map { ($0.value * 9_000_000).rounded() }
        #expect(ninths == [3_000_000, 5_000_000, 5_000_000])
        #expect(entries(all) == [6, 6, 6])
        #expect(all.compactMap(\.estimate).map(\.atRisk) == [3, 2, 1])
    }

    @Test func `a horizon without observed issues has no estimate`() throws {
        let young = try row(asOf: day(30)).all
        #expect(simple(young) == ["1/2", "0/0", "0/0"])
        #expect(young[0].estimate != nil)
        #expect(young[1].estimate == nil)
    }

    @Test func `grace and hold are counted separately, each from its own start`() throws {
        let row = try row()
        #expect(entries(row.fromGrace) == [5, 5, 5])
        #expect(simple(row.fromGrace) == ["1/3", "2/3", "2/3"])
        #expect(entries(row.fromHold) == [3, 3, 3])
        #expect(simple(row.fromHold) == ["1/3", "1/3", "0/0"])
    }

    @Test func `amounts are summed by currency`() throws {
        let row = try row()
        #expect(
            row.money == [
                .init(currency: "EUR", atRisk: 4990, lost: 4990),
                .init(currency: "USD", atRisk: 39_960, recovered: 29_970, open: 9990),
            ]
        )
        #expect(row.withoutPrice == 1)
    }

    @Test func `the time to recovery is given for recovered issues`() throws {
        #expect(try row().medianTime == .days(5))
        #expect(try row().ninthDecileTime == .days(40))
    }

    @Test func `later events are unknown at the report's end`() throws {
        let then = try row(asOf: day(22))
        #expect(then.issues == 4)
        #expect(then.open == 3)
        #expect(then.recovered == 1)
        #expect(entries(then.fromHold) == [2, 2, 2])
    }

    @Test func `groups are ordered, the unknown one last`() {
        let report = RecoveryReport(of: issues, asOf: day(100), by: [.country, .store])
        #expect(
            report.rows.map(\.values) == [
                ["FRA", "appStore"], ["USA", "appStore"], [nil, "appStore"],
            ]
        )
        #expect(report.rows.map(\.issues) == [1, 2, 3])
    }

    @Test func `a country is one group, whichever store names it`() {
        let codes = ["USA", "US", "NL", "NLD", "QQ"]
        let issues = codes.map { code in
            Self.issue(code, day(0), .hold, .open(.hold), nil, country: code)
        }
        let report = RecoveryReport(of: issues, asOf: day(100), by: [.country])
        #expect(report.rows.map(\.values) == [["NLD"], ["QQ"], ["USA"]])
        #expect(report.rows.map(\.issues) == [2, 1, 2])
    }

    @Test func `an issue without further facts is censored, neither lost nor recovered`() {
        let vanished = Self.issue("v", day(0), .hold, .unconfirmed(from: .hold, at: day(40)), nil)
        let report = RecoveryReport(of: [vanished], asOf: day(100))
        #expect(simple(report.rows[0].all) == ["0/1", "0/0", "0/0"])
        #expect([report.rows[0].unconfirmed, report.rows[0].lost] == [1, 0])
    }

    @Test func `a prompt is compared with the holdout group`() throws {
        let variants = ["a": "prompt", "b": "prompt", "c": "holdout", "d": "holdout"]
        let report = RecoveryReport(
            of: issues,
            asOf: day(100),
            by: [.own("variant") { variants[$0.id] }]
        )
        #expect(report.dimensions == ["variant"])
        #expect(report.rows.map(\.values) == [["holdout"], ["prompt"], [nil]])
        let difference = try #require(
            RecoveryReport.difference(report.rows[1], from: report.rows[0], within: 60)
        )
        #expect(difference.treatment == Share(2, of: 2))
        #expect(difference.control == Share(0, of: 2))
        #expect(difference.value == 1)
        let none = RecoveryReport.difference(report.rows[1], from: report.rows[0], within: 45)
        #expect(none == nil)
    }

    @Test func `the order of the issues does not matter`() {
        #expect(
            RecoveryReport(of: issues, asOf: day(100), by: [.product])
                == RecoveryReport(of: issues.reversed(), asOf: day(100), by: [.product])
        )
    }

    // MARK: Writing issues down

    private func simple(_ horizons: [RecoveryReport.Horizon]) -> [String] {
        horizons.map { "\($0.simple.part)/\($0.simple.whole)" }
    }

    private func entries(_ horizons: [RecoveryReport.Horizon]) -> [Int] {
        horizons.map { $0.entries }
    }

    private static func day(_ n: Int64) -> Instant {
        Instant(millisecondsSince1970: 1_767_225_600_000) + .days(n)
    }

    private func day(_ n: Int64) -> Instant { Self.day(n) }

    private static func recovered(
        _ n: Int64,
        _ from: State,
        anew: Bool = false
    ) -> BillingIssue.Outcome {
        let recovery = BillingIssue.Recovery(from: from, at: day(n), learnedAt: day(n))
        return anew ? .recoveredByNewPurchase(recovery, by: lineage("new")) : .recovered(recovery)
    }

    private static func lineage(_ id: String) -> Lineage {
        Lineage(store: .appStore, environment: .production, id: id)
    }

    private static func issue(
        _ id: String,
        _ enteredAt: Instant,
        _ state: State,
        heldAt: Int64? = nil,
        _ outcome: BillingIssue.Outcome,
        _ price: Money?,
        country: String? = nil
    ) -> BillingIssue {
        BillingIssue(
            id: id,
            lineage: lineage(id),
            productId: "cards.pro.monthly",
            storefront: country,
            enteredAt: enteredAt,
            moneyAtRisk: price,
            graceFrom: state == .grace ? enteredAt : nil,
            holdFrom: state == .hold ? enteredAt : heldAt.map(day),
            outcome: outcome
        )
    }
}
