import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON

/// `tideover report recovery`, `churn` and `trials`: figures over the history of purchases.
enum ReportMeasures {
    private static let by = Parameter.option(
        "--by",
        "LIST",
        "A line for each product, store or country; several separated by commas"
    )
    static let from = Parameter.option(
        "--from",
        "INSTANT",
        "From this time, or from the start of this day (UTC)",
        as: ValueForm<Instant>.instant(ofDay: .start)
    )
    static let to = Parameter.option(
        "--to",
        "INSTANT",
        "Up to this time, or to the end of this day (UTC), instead of now",
        as: ValueForm<Instant>.instant(ofDay: .end)
    )

    static let recovery = Command(
        "recovery",
        summary: "how many failed renewals recovered, how soon, and their value",
        examples: [
            Example("tideover report recovery --by product", "a line for each product"),
            Example(
                "tideover report recovery --from 2026-01-01 --csv",
                "renewals that failed this year, for a spreadsheet"
            ),
        ],
        parameters: [
            Report.app, by, from, to, ConfigurationFile.parameter, AdminClient.server,
            Report.json, Report.csv,
        ],
        notes: [
            "A failed renewal that is too young for 30, 60 or 90 days is not counted as lost: the "
                + "estimate (Kaplan-Meier) uses it for as long as it was observed. The brackets "
                + "are a 95 % interval. --csv also has grace and hold apart, and more days.",
            AdminClient.note,
        ],
        run: { arguments, output in
            try await Report.run(
                "recovery",
                query(arguments, isRanged: true),
                arguments,
                output,
                RecoveryPrinter.print,
                RecoveryPrinter.csv
            )
        }
    )

    static let churn = Command(
        "churn",
        summary: "how many subscribers were not subscribed a month later, and why",
        examples: [
            Example("tideover report churn --by store", "the last 30 days, by store"),
            Example(
                "tideover report churn --from 2026-05-01 --to 2026-05-31",
                "a month"
            ),
        ],
        parameters: [
            Report.app, by, from, to, ConfigurationFile.parameter, AdminClient.server,
            Report.json, Report.csv,
        ],
        notes: [
            "Counts customers with a paid subscription of their own at the start; in grace, on "
                + "hold and paused are subscribed. Voluntary means that renewal was switched off. "
                + "Without --from it is the 30 days before --to.",
            AdminClient.note,
        ],
        run: { arguments, output in
            try await Report.run(
                "churn",
                query(arguments, isRanged: true),
                arguments,
                output,
                ChurnPrinter.print,
                ChurnPrinter.csv
            )
        }
    )

    static let trials = Command(
        "trials",
        summary: "the outcomes of free trials, by the month they began in",
        examples: [
            Example("tideover report trials --by country", "a line for each month and country")
        ],
        parameters: [
            Report.app, by, to, ConfigurationFile.parameter, AdminClient.server,
            Report.json, Report.csv,
        ],
        notes: [
            "The conversion is that of decided trials: one that runs, or with a first payment that "
                + "is still retried, may yet convert. The brackets are a 95 % interval.",
            AdminClient.note,
        ],
        run: { arguments, output in
            try await Report.run(
                "trials",
                query(arguments, isRanged: false),
                arguments,
                output,
                TrialPrinter.print,
                TrialPrinter.csv
            )
        }
    )

    private static func query(_ arguments: Arguments, isRanged: Bool) -> [QueryItem] {
        var items: [QueryItem] = []
        if let by = arguments[by] { items.append(QueryItem(name: "by", value: by)) }
        if isRanged, let from = arguments[from] {
            items.append(QueryItem(name: "from", value: from.rfc3339))
        }
        if let to = arguments[to] { items.append(QueryItem(name: "to", value: to.rfc3339)) }
        return items
    }
}

/// The groups of a report with their app, environment and values.
private struct MeasuredGroup {
    let row: JSONValue
    let group: JSONValue

    static func all(_ report: JSONValue) -> [MeasuredGroup] {
        (report["rows"]?.array ?? []).flatMap { row in
            (row["groups"]?.array ?? []).map { MeasuredGroup(row: row, group: $0) }
        }
    }

    /// The names of the dimensions that were asked for.
    static func dimensions(_ report: JSONValue) -> [String] {
        (report["rows"]?.array?.first?["dimensions"]?.array ?? []).compactMap(\.string)
    }

    /// The cells that identify the group.
    func place(_ dimensions: [String]) -> [JSONValue?] {
        [row["app"], row["environment"]] + dimensions.map { group[$0] }
    }

    func int(_ name: String) -> String { "\(group[name]?.int64 ?? 0)" }
}

extension Table {
    /// Creates a table with a column for each part of a group's place, then for each figure.
    fileprivate init(_ dimensions: [String], figures: [String]) {
        self.init(
            (["app", "environment"] + dimensions).map { Column($0) }
                + figures.map { Column($0, .trailing) }
        )
    }

    fileprivate mutating func add(_ group: MeasuredGroup, _ dimensions: [String], _ rest: [String])
    {
        let place = group.place(dimensions).map { $0?.string ?? "-" }
        add((place + rest).map { Cell($0) })
    }
}

/// Formats shares and their intervals.
private enum ShareText {
    /// Returns `62.5 % [30.6..86.3] of 8`; `-` if nothing is decided.
    static func withInterval(_ share: JSONValue?, of whole: String? = nil) -> String {
        guard let value = share?["share"]?.double else { return "-" }
        let interval = [share?["lower"]?.double, share?["upper"]?.double].compactMap { bound in
            bound.map { DecimalText.oneDecimal($0 * 100) }
        }
        let of = whole ?? "\(share?["of"]?.int64 ?? 0)"
        return
            "\(DecimalText.oneDecimal(value * 100)) % [\(interval.joined(separator: ".."))] of \(of)"
    }

    static let cells = ["of", "share", "lower", "upper"]
}

enum RecoveryPrinter {
    private static let horizons: [Int64] = [30, 60, 90]
    private static let counts = [
        "issues", "open", "recovered", "recoveredFromGrace", "recoveredFromHold",
        "recoveredByNewPurchase", "lost", "cancelledFromGrace", "cancelledFromHold", "unrecovered",
        "takenBack", "unconfirmed",
    ]

    static func print(_ report: JSONValue, _ output: Output) {
        let dimensions = MeasuredGroup.dimensions(report)
        let groups = MeasuredGroup.all(report)
        var table = Table(
            dimensions,
            figures: ["failed", "open", "recovered", "in grace", "in hold", "lost", "median"]
                + horizons.map { "by \($0) days" }
        )
        for group in groups {
            table.add(
                group,
                dimensions,
                [
                    group.int("issues"), group.int("open"), group.int("recovered"),
                    group.int("recoveredFromGrace"), group.int("recoveredFromHold"),
                    group.int("lost"),
                    group.group["medianDays"]?.double.map { "\(DecimalText.oneDecimal($0)) d" }
                        ?? "-",
                ] + horizons.map { estimate($0, in: group.group) }
            )
        }
        output.print(table)
        if table.isEmpty { output.message("tideover: no renewal failed in this range") }
        printMoney(groups, dimensions, output)
        output.unpriced([("failed renewals", groups.map { $0.group["withoutPrice"] })])
    }

    private static func estimate(_ days: Int64, in group: JSONValue) -> String {
        let horizon = group["all"]?.array?.first { $0["days"]?.int64 == days }
        return ShareText.withInterval(
            horizon?["estimate"],
            of: "\(horizon?["entries"]?.int64 ?? 0)"
        )
    }

    private static func printMoney(
        _ groups: [MeasuredGroup],
        _ dimensions: [String],
        _ output: Output
    ) {
        var table = Table(
            dimensions + ["currency"],
            figures: ["at risk", "recovered", "lost", "open"]
        )
        var isEmpty = true
        for group in groups {
            for sum in group.group["money"]?.array ?? [] {
                isEmpty = false
                let place = group.place(dimensions) + [sum["currency"]]
                table.add(
                    (place.map { $0?.string ?? "-" }
                        + ["atRisk", "recovered", "lost", "open"].map { amount(sum[$0]) })
                        .map { Table.Cell($0) }
                )
            }
        }
        if !isEmpty { output.print(table) }
    }

    /// Formats thousandths of a currency with two decimals.
    private static func amount(_ milliunits: JSONValue?) -> String {
        DecimalText.amount(thousandths: milliunits?.int64 ?? 0)
    }

    static func csv(_ report: JSONValue) -> String {
        let dimensions = MeasuredGroup.dimensions(report)
        let head =
            ["app", "environment"] + dimensions + counts.map(Sheet.column)
            + ["median_days", "ninth_decile_days", "stage", "days", "entries"]
            + ShareText.cells.map { "decided_\($0)" }
            + ["share", "lower", "upper", "at_risk"].map { "estimate_\($0)" }
        let rows = MeasuredGroup.all(report).flatMap { group in
            ["all", "fromGrace", "fromHold"].flatMap { stage in
                (group.group[stage]?.array ?? []).map { horizon in
                    cells(group, dimensions, stage, horizon)
                }
            }
        }
        return Sheet.text(head: head, rows: rows)
    }

    private static func cells(
        _ group: MeasuredGroup,
        _ dimensions: [String],
        _ stage: String,
        _ horizon: JSONValue
    ) -> [JSONValue?] {
        var cells = group.place(dimensions) + counts.map { group.group[$0] }
        cells += [group.group["medianDays"], group.group["ninthDecileDays"]]
        cells += [.string(stage), horizon["days"], horizon["entries"]]
        cells += ShareText.cells.map { horizon["decided"]?[$0] }
        cells += ["share", "lower", "upper", "atRisk"].map { horizon["estimate"]?[$0] }
        return cells
    }
}

enum ChurnPrinter {
    private static let counts = [
        "atStart", "churned", "voluntary", "cancelledFromGrace", "cancelledFromHold", "involuntary",
        "takenBack", "returned", "unconfirmed",
    ]

    static func print(_ report: JSONValue, _ output: Output) {
        let dimensions = MeasuredGroup.dimensions(report)
        var table = Table(
            dimensions,
            figures: ["at start", "lost", "voluntary", "from grace or hold", "unpaid", "refunded"]
                + ["churn"]
        )
        for group in MeasuredGroup.all(report) {
            let cancelled = ["cancelledFromGrace", "cancelledFromHold"].reduce(Int64(0)) {
                $0 + (group.group[$1]?.int64 ?? 0)
            }
            table.add(
                group,
                dimensions,
                [
                    group.int("atStart"), group.int("churned"), group.int("voluntary"),
                    "\(cancelled)", group.int("involuntary"), group.int("takenBack"),
                    ShareText.withInterval(group.group["churn"]),
                ]
            )
        }
        output.print(table)
        if table.isEmpty { output.message("tideover: no customer was subscribed at the start") }
    }

    static func csv(_ report: JSONValue) -> String {
        let dimensions = MeasuredGroup.dimensions(report)
        let rows = MeasuredGroup.all(report).map { group in
            group.place(dimensions) + [group.row["from"], group.row["to"]]
                + counts.map { group.group[$0] } + ShareText.cells.map { group.group["churn"]?[$0] }
        }
        return Sheet.text(
            head: ["app", "environment"] + dimensions + ["from", "to"] + counts.map(Sheet.column)
                + ShareText.cells.map { "churn_\($0)" },
            rows: rows
        )
    }
}

enum TrialPrinter {
    private static let counts = [
        "started", "running", "inBillingIssue", "converted", "cancelled", "lapsed", "takenBack",
        "unconfirmed",
    ]

    static func print(_ report: JSONValue, _ output: Output) {
        let dimensions = MeasuredGroup.dimensions(report)
        var table = Table(
            dimensions + ["month"],
            figures: ["started", "running", "retried", "converted", "cancelled", "lapsed"]
                + ["conversion"]
        )
        for group in MeasuredGroup.all(report) {
            let place = (group.place(dimensions) + [group.group["cohort"]]).map {
                $0?.string ?? "-"
            }
            let figures = [
                group.int("started"), group.int("running"), group.int("inBillingIssue"),
                group.int("converted"), group.int("cancelled"), group.int("lapsed"),
                ShareText.withInterval(group.group["conversion"]),
            ]
            table.add((place + figures).map { Table.Cell($0) })
        }
        output.print(table)
        if table.isEmpty { output.message("tideover: no free trial has begun") }
    }

    static func csv(_ report: JSONValue) -> String {
        let dimensions = MeasuredGroup.dimensions(report)
        let rows = MeasuredGroup.all(report).map { group in
            group.place(dimensions) + [group.group["cohort"]] + counts.map { group.group[$0] }
                + ShareText.cells.map { group.group["conversion"]?[$0] }
        }
        return Sheet.text(
            head: ["app", "environment"] + dimensions + ["month"] + counts.map(Sheet.column)
                + ShareText.cells.map { "conversion_\($0)" },
            rows: rows
        )
    }
}

extension Sheet {
    /// Returns the heading of a member: `at_start` of `atStart`.
    fileprivate static func column(_ member: String) -> String {
        member.reduce(into: "") { $0 += $1.isUppercase ? "_\($1.lowercased())" : String($1) }
    }
}
