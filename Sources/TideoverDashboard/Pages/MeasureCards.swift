/// The cards with recovery, churn and trials on an app's page.
struct MeasureCards {
    let measures: Measures

    var all: HTML {
        [
            Parts.card("Recovery of failed renewals", "recovery", recovery),
            .tag(
                .div,
                [.class("columns")],
                Parts.card("Trials", "trials", trials),
                Parts.card("Churn in 30 days", "churn", churn)
            ),
        ]
    }

    // MARK: Recovery

    private var recovery: [HTML] {
        guard let row = measures.recovery else {
            return [Parts.quiet("No renewal has failed so far.")]
        }
        return [
            Parts.quiet(
                "All failed renewals so far. The page of all apps has those of the last 30 days."
            ),
            Parts.numbers([
                ("failed renewals", Shown.figure(row.issues)),
                ("recovered", Shown.figure(row.recovered)),
                ("lost", Shown.figure(row.lost)), ("still open", Shown.figure(row.open)),
                ("median time to recover", Shown.figure(row.medianDays, "days")),
            ]),
            .tag(
                .div,
                [.class("columns")],
                .tag(.div, [], curve(row)),
                .tag(.div, [], funnel(row), money(row))
            ), points(row),
        ]
    }

    private func funnel(_ row: RecoveryRow) -> HTML {
        Parts.table(
            "How failed renewals ended",
            [.init(title: "End"), .init(title: "Number", isNumber: true)],
            [
                ["recovered in grace", Shown.figure(row.recoveredFromGrace)],
                ["recovered on hold", Shown.figure(row.recoveredFromHold)],
                ["of these: bought again", Shown.figure(row.recoveredByNewPurchase)],
                ["cancelled in grace", Shown.figure(row.cancelled[0])],
                ["cancelled on hold", Shown.figure(row.cancelled[1])],
                ["given up by the store", Shown.figure(row.unrecovered)],
                ["refunded or revoked", Shown.figure(row.takenBack)],
                ["not known", Shown.figure(row.unconfirmed)],
            ]
        )
    }

    private func curve(_ row: RecoveryRow) -> HTML {
        guard let svg = RecoveryCurve(curves: row.curves).svg else { return .nothing }
        return Parts.figure(
            "Curve of recovery",
            svg,
            caption: .tag(
                .ul,
                [.class("legend")],
                .tag(.li, [], "Solid line: all"),
                .tag(.li, [], "Long dashes: with a grace period"),
                .tag(.li, [], "Dots: from the beginning of a hold")
            )
        )
    }

    private func points(_ row: RecoveryRow) -> HTML {
        let horizons = ["30", "60", "90"]
        let rows = row.curves.flatMap { curve -> [[HTML]] in
            curve.points.filter { horizons.contains($0.days.source) }.map { point in
                [
                    .text("\(Self.name(curve.id)), \(point.days.source) days"),
                    Shown.figure(point.entries), Shown.share(point.decided),
                    Shown.share(point.estimate), Shown.share(point.lower),
                    Shown.share(point.upper),
                ]
            }
        }
        return Parts.table(
            "Share recovered: of those decided, and estimated with those still open (Kaplan-Meier)",
            [
                .init(title: "Of"), .init(title: "Entries", isNumber: true),
                .init(title: "Decided", isNumber: true), .init(title: "Estimate", isNumber: true),
                .init(title: "Lower", isNumber: true), .init(title: "Upper", isNumber: true),
            ],
            rows
        )
    }

    private static func name(_ curve: String) -> String {
        switch curve {
        case "fromGrace": "with grace"
        case "fromHold": "on hold"
        default: "all"
        }
    }

    private func money(_ row: RecoveryRow) -> HTML {
        let unpriced = Parts.unpriced([("failed renewals", row.withoutPrice)])
        guard !row.money.isEmpty else { return unpriced }
        let table = Parts.table(
            "Money of the failed renewals, each currency apart",
            [
                .init(title: "Currency"), .init(title: "At risk", isNumber: true),
                .init(title: "Recovered", isNumber: true), .init(title: "Lost", isNumber: true),
                .init(title: "Open", isNumber: true),
            ],
            row.money.map { sum in
                [
                    .name(sum.currency), Shown.money(sum.atRisk), Shown.money(sum.recovered),
                    Shown.money(sum.lost), Shown.money(sum.open),
                ]
            }
        )
        return [table, unpriced]
    }

    // MARK: Trials and churn

    private var trials: [HTML] {
        guard !measures.trials.isEmpty else { return [Parts.quiet("No trial has begun so far.")] }
        return [
            Parts.table(
                "Trials by the month of their start",
                [
                    .init(title: "Cohort"), .init(title: "Started", isNumber: true),
                    .init(title: "Running", isNumber: true),
                    .init(title: "Payment failed", isNumber: true),
                    .init(title: "Converted", isNumber: true),
                    .init(title: "Cancelled", isNumber: true),
                    .init(title: "Lapsed", isNumber: true),
                    .init(title: "Taken back", isNumber: true),
                    .init(title: "Not known", isNumber: true),
                    .init(title: "Share", isNumber: true),
                ],
                measures.trials.map { trial in
                    [
                        .text(trial.cohort), Shown.figure(trial.started),
                        Shown.figure(trial.running), Shown.figure(trial.inBillingIssue),
                        Shown.figure(trial.converted), Shown.figure(trial.cancelled),
                        Shown.figure(trial.lapsed), Shown.figure(trial.takenBack),
                        Shown.figure(trial.unconfirmed), Shown.share(trial.share),
                    ]
                }
            )
        ]
    }

    private var churn: [HTML] {
        guard let row = measures.churn else {
            return [Parts.quiet("No customer was subscribed 30 days ago.")]
        }
        return [
            Parts.facts([
                ("Subscribed 30 days ago", Shown.figure(row.atStart)),
                ("Not subscribed now", Shown.figure(row.churned)),
                ("Share", Shown.share(row.share)),
                ("Cancelled by the customer", Shown.figure(row.voluntary)),
                ("Cancelled in grace", Shown.figure(row.cancelled[0])),
                ("Cancelled on hold", Shown.figure(row.cancelled[1])),
                ("Lost to a failed payment", Shown.figure(row.involuntary)),
                ("Taken back", Shown.figure(row.takenBack)),
                ("Left and returned", Shown.figure(row.returned)),
                ("Not known", Shown.figure(row.unconfirmed)),
            ])
        ]
    }
}
