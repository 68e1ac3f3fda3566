import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON

/// `tideover report portfolio`: subscriptions by state, their revenue, and money at risk.
enum ReportPortfolio {
    private static let each = Parameter.option(
        "--each",
        "UNIT",
        "Also count at the start of each day, week or month of the range"
    )
    private static let currency = Parameter.option(
        "--currency",
        "CODE",
        "Also add all sums in this currency, such as EUR; needs --rates"
    )
    private static let rates = Parameter.option(
        "--rates",
        "LIST",
        "What one unit of each other currency is worth: USD:0.92,JPY:0.0061"
    )

    static let command = Command(
        "portfolio",
        summary: "subscriptions by state, their revenue, and money at risk",
        examples: [
            Example("tideover report portfolio", "all apps, the last 30 days"),
            Example(
                "tideover report portfolio --from 2026-01-01 --each month --csv",
                "how it became so, for a spreadsheet"
            ),
            Example(
                "tideover report portfolio --currency EUR --rates USD:0.92",
                "all sums in one currency, with your own rate"
            ),
        ],
        parameters: [
            Report.app, ReportMeasures.from, ReportMeasures.to, each, currency, rates,
            ConfigurationFile.parameter, AdminClient.server, Report.json, Report.csv,
        ],
        notes: [
            "Counts the customers' own renewing subscriptions. mrr is the price of a month of "
                + "all that are paid and running: a yearly price counts a twelfth, a free trial "
                + "nothing. At risk, recovered and lost are those of `tideover report recovery` in "
                + "the same range. Rates are not looked up: state your own.",
            AdminClient.note,
        ],
        run: { arguments, output in
            try await Report.run(
                "portfolio",
                query(arguments),
                arguments,
                output,
                PortfolioPrinter.print,
                PortfolioPrinter.csv
            )
        }
    )

    private static func query(_ arguments: Arguments) -> [QueryItem] {
        [
            ("from", arguments[ReportMeasures.from]?.rfc3339),
            ("to", arguments[ReportMeasures.to]?.rfc3339), ("each", arguments[each]),
            ("currency", arguments[currency]), ("rates", arguments[rates]),
        ].compactMap { name, value in value.map { QueryItem(name: name, value: $0) } }
    }
}

enum PortfolioPrinter {
    private static let states = [
        "trial", "trialCancelled", "active", "cancelled", "grace", "hold", "paused", "expired",
        "unconfirmed",
    ]
    private static let revenue = ["mrr", "active", "cancelled", "grace", "hold"]
    private static let money = ["atRisk", "recovered", "lost", "open"]

    // MARK: For people

    static func print(_ report: JSONValue, _ output: Output) {
        printStates(report, output)
        printSums(report, output)
        printHistory(report, output)
        output.message("tideover: failed renewals \(range(report))")
        for sentence in conversion(report) { output.message("tideover: \(sentence)") }
        let rows = report["rows"]?.array ?? []
        output.unpriced([
            ("subscriptions", rows.map { $0["withoutPrice"] }),
            ("failed renewals", rows.map { $0["issuesWithoutPrice"] }),
        ])
    }

    private static func range(_ report: JSONValue) -> String {
        "from \(report["from"]?.string ?? "-") to \(report["to"]?.string ?? "-")"
    }

    private static func printStates(_ report: JSONValue, _ output: Output) {
        var table = Table(
            [Table.Column("app"), Table.Column("environment")]
                + (["subscribers"] + states.map(words)).map { Table.Column($0, .trailing) }
        )
        for (place, row) in rows(report) {
            let counts = states.map { row["subscriptions"]?[$0] }
            table.add((place + ([row["subscribers"]] + counts).map(number)).map { .init($0) })
        }
        output.print(table)
    }

    private static func printSums(_ report: JSONValue, _ output: Output) {
        var table = Table(
            [Table.Column("app"), Table.Column("environment"), Table.Column("currency")]
                + ["mrr", "in grace", "on hold", "at risk", "recovered", "lost", "open"]
                .map { Table.Column($0, .trailing) }
        )
        var isEmpty = true
        for (place, row) in rows(report) {
            for (currency, sums) in sums(of: row, report) {
                isEmpty = false
                let amounts = (["mrr", "grace", "hold"] + money).map { amount(sums[$0]) }
                table.add((place + [currency] + amounts).map { .init($0) })
            }
        }
        if !isEmpty { output.print(table) }
    }

    /// The amounts of each currency, and those converted to one, which are marked with `=`.
    private static func sums(
        of row: JSONValue,
        _ report: JSONValue
    ) -> [(currency: String, sums: [String: JSONValue])] {
        var all: [String: [String: JSONValue]] = [:]
        for (list, names) in [("revenue", revenue), ("money", money)] {
            for sum in row[list]?.array ?? [] {
                let currency = sum["currency"]?.string ?? "-"
                for name in names { all[currency, default: [:]][name] = sum[name] }
            }
        }
        var sums = all.sorted { $0.key < $1.key }.map { (currency: $0.key, sums: $0.value) }
        if let currency = report["conversion"]?["currency"]?.string, let row = row["converted"] {
            let own = (revenue + money).map { ($0, row[$0] ?? .null) }
            sums.append(("= \(currency)", Dictionary(uniqueKeysWithValues: own)))
        }
        return sums
    }

    private static func printHistory(_ report: JSONValue, _ output: Output) {
        guard report["each"]?.string != nil else { return }
        var table = Table(
            [Table.Column("app"), Table.Column("environment"), Table.Column("at")]
                + (["subscribers"] + states.map(words)).map { Table.Column($0, .trailing) }
        )
        for row in report["rows"]?.array ?? [] {
            for point in row["history"]?.array ?? [] {
                let counts = states.map { point["subscriptions"]?[$0] }
                let place = [row["app"], row["environment"], point["at"]].map { $0?.string ?? "-" }
                table.add((place + ([point["subscribers"]] + counts).map(number)).map { .init($0) })
            }
        }
        output.print(table)
    }

    /// The rows of apps, and the total of each environment with several.
    private static func rows(_ report: JSONValue) -> [(place: [String], row: JSONValue)] {
        let apps = (report["rows"]?.array ?? []).map { row in
            (place: [row["app"], row["environment"]].map { $0?.string ?? "-" }, row: row)
        }
        let totals = (report["totals"]?.array ?? []).filter { $0["apps"]?.int64 ?? 0 > 1 }
        return apps
            + totals.map { (place: ["(all)", $0["environment"]?.string ?? "-"], row: $0) }
    }

    private static func conversion(_ report: JSONValue) -> [String] {
        guard let conversion = report["conversion"], let to = conversion["currency"]?.string
        else { return [] }
        let rates = (conversion["rates"]?.array ?? []).map {
            "1 \($0["currency"]?.string ?? "-") as \($0["rate"]?.string ?? "-") \(to)"
        }
        let all = (report["totals"]?.array ?? []).flatMap {
            $0["converted"]?["leftOut"]?.array ?? []
        }
        let leftOut = Set(all.compactMap(\.string)).sorted()
        let used = rates.isEmpty ? "no rates" : rates.joined(separator: ", ")
        return ["= \(to) is converted with your rates: \(used)"]
            + (leftOut.isEmpty
                ? [] : ["without a rate, and not in it: \(leftOut.joined(separator: ", "))"])
    }

    private static func number(_ value: JSONValue?) -> String { "\(value?.int64 ?? 0)" }

    /// Formats thousandths of a currency with two decimals.
    private static func amount(_ milliunits: JSONValue?) -> String {
        DecimalText.amount(thousandths: milliunits?.int64 ?? 0)
    }

    /// Returns the words of a member: `trial cancelled` of `trialCancelled`.
    private static func words(_ member: String) -> String {
        member.reduce(into: "") { $0 += $1.isUppercase ? " \($1.lowercased())" : String($1) }
    }

    // MARK: For sheets

    /// One line for each figure, so that no figure is repeated beside another currency's.
    static func csv(_ report: JSONValue) -> String {
        let rows = (report["rows"]?.array ?? []).flatMap { row in
            let place = [row["app"], row["environment"]]
            let history = (row["history"]?.array ?? []).dropLast().flatMap { point in
                lines(counts(of: point), place, at: point["at"])
            }
            let now = counts(of: row) + failures(of: row) + converted(row, report)
            return history + lines(now, place, at: report["to"])
        }
        return Sheet.text(
            head: ["app", "environment", "at", "measure", "currency", "value"],
            rows: rows
        )
    }

    /// A figure of a sheet, in the columns after its place and instant.
    private struct Figure {
        let measure: String
        var currency: JSONValue?
        let value: JSONValue?
    }

    private static func lines(
        _ figures: [Figure],
        _ place: [JSONValue?],
        at instant: JSONValue?
    ) -> [[JSONValue?]] {
        figures.map { place + [instant, .string($0.measure), $0.currency, $0.value] }
    }

    private static func counts(of point: JSONValue) -> [Figure] {
        var figures = [Figure(measure: "subscribers", value: point["subscribers"])]
        for state in states {
            figures.append(Figure(measure: column(state), value: point["subscriptions"]?[state]))
        }
        figures += amounts(of: point, "revenue", revenue, "monthly_")
        figures.append(Figure(measure: "without_price", value: point["withoutPrice"]))
        return figures
    }

    private static func failures(of row: JSONValue) -> [Figure] {
        let issues = Figure(measure: "issues", value: row["issues"])
        let unpriced = Figure(measure: "issues_without_price", value: row["issuesWithoutPrice"])
        return [issues] + amounts(of: row, "money", money, "") + [unpriced]
    }

    private static func converted(_ row: JSONValue, _ report: JSONValue) -> [Figure] {
        guard let currency = report["conversion"]?["currency"], currency.string != nil,
            let sums = row["converted"]
        else { return [] }
        return (revenue.map { ("converted_monthly_", $0) } + money.map { ("converted_", $0) })
            .map { prefix, name in
                Figure(measure: prefix + column(name), currency: currency, value: sums[name])
            }
    }

    private static func amounts(
        of row: JSONValue,
        _ list: String,
        _ names: [String],
        _ prefix: String
    ) -> [Figure] {
        (row[list]?.array ?? []).flatMap { sum in
            names.map { name in
                Figure(
                    measure: prefix + column(name),
                    currency: sum["currency"],
                    value: sum[name]
                )
            }
        }
    }

    /// Returns the name of a member in a sheet: `at_risk` of `atRisk`.
    private static func column(_ member: String) -> String {
        words(member).replacing(" ", with: "_")
    }
}
