package import TideoverJSON

/// The reports over the history of an app's purchases: recovery, churn and trials.
package struct Measures: Hashable, Sendable {
    /// Nil while nothing is measured.
    let recovery: RecoveryRow?
    let churn: ChurnRow?
    /// By cohort.
    let trials: [TrialRow]

    /// Takes the rows of a place from the answers of the reports.
    package init(
        of place: Place,
        recovery: JSONNode,
        churn: JSONNode,
        trials: JSONNode
    ) throws(UnexpectedAnswer) {
        self.recovery = try Self.groups(of: place, in: recovery).first.map {
            group throws(UnexpectedAnswer) in try RecoveryRow(group)
        }
        self.churn = try Self.groups(of: place, in: churn).first.map {
            group throws(UnexpectedAnswer) in try ChurnRow(group)
        }
        self.trials = try Self.groups(of: place, in: trials).map {
            group throws(UnexpectedAnswer) in try TrialRow(group)
        }
    }

    private static func groups(
        of place: Place,
        in report: JSONNode
    ) throws(UnexpectedAnswer) -> [JSONNode] {
        for row in report.list("rows") where try Place(row) == place { return row.list("groups") }
        return []
    }
}

/// The row of `tideover report recovery`.
struct RecoveryRow: Hashable, Sendable {
    let issues: Figure
    let open: Figure
    let recovered: Figure
    let recoveredFromGrace: Figure
    let recoveredFromHold: Figure
    let recoveredByNewPurchase: Figure
    let lost: Figure
    let cancelled: [Figure]
    let unrecovered: Figure
    let takenBack: Figure
    let unconfirmed: Figure
    let medianDays: Figure
    let curves: [Curve]
    let money: [Sum]
    /// Failed renewals that are in no sum of money.
    let withoutPrice: Figure

    /// The share recovered by each day, of all issues or of one kind.
    struct Curve: Hashable, Sendable {
        let id: String
        let points: [Point]

        init(_ id: String, _ row: JSONNode) throws(UnexpectedAnswer) {
            self.id = id
            points = try row.list(id).map { point throws(UnexpectedAnswer) in
                let estimate = try point.need("estimate")
                return Point(
                    days: try point.figure("days"),
                    entries: try point.figure("entries"),
                    decided: try point.need("decided").figure("share"),
                    estimate: try estimate.figure("share"),
                    lower: try estimate.figure("lower"),
                    upper: try estimate.figure("upper")
                )
            }
        }
    }

    struct Point: Hashable, Sendable {
        let days: Figure
        let entries: Figure
        let decided: Figure
        let estimate: Figure
        let lower: Figure
        let upper: Figure
    }

    /// Money of one currency, in thousandths of its unit.
    struct Sum: Hashable, Sendable {
        let currency: String
        let atRisk: Figure
        let recovered: Figure
        let lost: Figure
        let open: Figure
    }

    init(_ row: JSONNode) throws(UnexpectedAnswer) {
        issues = try row.figure("issues")
        open = try row.figure("open")
        recovered = try row.figure("recovered")
        recoveredFromGrace = try row.figure("recoveredFromGrace")
        recoveredFromHold = try row.figure("recoveredFromHold")
        recoveredByNewPurchase = try row.figure("recoveredByNewPurchase")
        lost = try row.figure("lost")
        cancelled = [
            try row.figure("cancelledFromGrace"), try row.figure("cancelledFromHold"),
        ]
        unrecovered = try row.figure("unrecovered")
        takenBack = try row.figure("takenBack")
        unconfirmed = try row.figure("unconfirmed")
        medianDays = try row.figure("medianDays")
        curves = try ["all", "fromGrace", "fromHold"].map { id throws(UnexpectedAnswer) in
            try Curve(id, row)
        }
        money = try row.list("money").map { sum throws(UnexpectedAnswer) in try Sum(sum) }
        withoutPrice = try row.figure("withoutPrice")
    }
}

extension RecoveryRow.Sum {
    init(_ sum: JSONNode) throws(UnexpectedAnswer) {
        currency = try sum.needText("currency")
        atRisk = try sum.figure("atRisk")
        recovered = try sum.figure("recovered")
        lost = try sum.figure("lost")
        open = try sum.figure("open")
    }
}

/// The row of `tideover report churn`.
struct ChurnRow: Hashable, Sendable {
    let atStart: Figure
    let churned: Figure
    let voluntary: Figure
    let cancelled: [Figure]
    let involuntary: Figure
    let takenBack: Figure
    let returned: Figure
    let unconfirmed: Figure
    let share: Figure

    init(_ row: JSONNode) throws(UnexpectedAnswer) {
        atStart = try row.figure("atStart")
        churned = try row.figure("churned")
        voluntary = try row.figure("voluntary")
        cancelled = [
            try row.figure("cancelledFromGrace"), try row.figure("cancelledFromHold"),
        ]
        involuntary = try row.figure("involuntary")
        takenBack = try row.figure("takenBack")
        returned = try row.figure("returned")
        unconfirmed = try row.figure("unconfirmed")
        share = try row.need("churn").figure("share")
    }
}

/// A cohort of `tideover report trials`.
struct TrialRow: Hashable, Sendable {
    let cohort: String
    let started: Figure
    let running: Figure
    let inBillingIssue: Figure
    let converted: Figure
    let cancelled: Figure
    let lapsed: Figure
    let takenBack: Figure
    let unconfirmed: Figure
    let share: Figure

    init(_ row: JSONNode) throws(UnexpectedAnswer) {
        cohort = try row.needText("cohort")
        started = try row.figure("started")
        running = try row.figure("running")
        inBillingIssue = try row.figure("inBillingIssue")
        converted = try row.figure("converted")
        cancelled = try row.figure("cancelled")
        lapsed = try row.figure("lapsed")
        takenBack = try row.figure("takenBack")
        unconfirmed = try row.figure("unconfirmed")
        share = try row.need("conversion").figure("share")
    }
}
