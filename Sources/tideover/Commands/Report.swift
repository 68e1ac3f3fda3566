import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer

/// `tideover report`: prints statistics over all received data.
enum Report {
    static let command = Command(
        "report",
        summary: "print figures over all stored messages",
        examples: [
            Example(
                "tideover report arrival",
                "the share of changes that were pushed, and of those found by requests"
            ),
            Example(
                "tideover report drift",
                "where devices and the server differed, why, and for how long"
            ),
            Example(
                "tideover report lockouts",
                "how long customers were denied what the store granted"
            ),
            Example(
                "tideover report recovery",
                "how many failed renewals recovered, how soon, and their value"
            ),
            Example(
                "tideover report portfolio",
                "subscriptions by state in all apps, their revenue, and money at risk"
            ),
            Example("tideover report deadlines", "what must happen by when"),
            Example(
                "tideover report policy",
                "each app's policy, and what other settings would have changed"
            ),
            Example(
                "tideover report shadow",
                "where RevenueCat's answers and ours differ"
            ),
        ],
        subcommands: [
            arrival, ReportMeasures.churn, ReportDeadlines.command, drift, lockouts,
            ReportPolicy.command, ReportPortfolio.command, ReportMeasures.recovery,
            ReportShadow.command, ReportMeasures.trials,
            ReportExperiments.command,
        ]
    )

    static let app = Parameter.option("--app", "ID", "One app instead of all")
    static let json = Parameter.flag("--json", "Write one JSON object")
    static let csv = Parameter.flag("--csv", "Write comma-separated values with a header")

    private static let arrival = Command(
        "arrival",
        summary: "how the stores' messages arrived, and how late",
        examples: [
            Example(
                "tideover report arrival --app cards",
                "a table for one app"
            ),
            Example(
                "tideover report arrival --csv",
                "all apps, for a spreadsheet"
            ),
        ],
        parameters: [app, ConfigurationFile.parameter, AdminClient.server, json, csv],
        notes: [
            "A change is a store message with news about a purchase. Shares are of all "
                + "changes since the first one. The delay is the time from the store's signature "
                + "to the arrival. For changes found only by asking, the time to heal counts from "
                + "the store's date.",
            AdminClient.note,
        ],
        run: { arguments, output in
            try await run(
                "arrival",
                [],
                arguments,
                output,
                ArrivalPrinter.print,
                ArrivalPrinter.csv
            )
        }
    )

    private static let drift = Command(
        "drift",
        summary: "where devices and the server differed, why, and for how long",
        examples: [
            Example(
                "tideover report drift --app cards",
                "a table for one app, a line for each direction and cause"
            ),
            Example("tideover report drift --csv", "all apps, for a spreadsheet"),
        ],
        parameters: [app, ConfigurationFile.parameter, AdminClient.server, json, csv],
        notes: [
            "A drift is a difference between a device's own conclusion, which it sends when "
                + "it reconciles, and the server's answer. The time to heal is the time from its "
                + "discovery to its end.",
            AdminClient.note,
        ],
        run: { arguments, output in
            try await run("drift", [], arguments, output, DriftPrinter.print, DriftPrinter.csv)
        }
    )

    private static let lockouts = Command(
        "lockouts",
        summary: "how long customers were denied what the store granted",
        examples: [
            Example(
                "tideover report lockouts --app cards",
                "a table for one app, a line for each judge"
            ),
            Example(
                "tideover report lockouts --csv",
                "all apps, for a spreadsheet"
            ),
        ],
        parameters: [app, ConfigurationFile.parameter, AdminClient.server, json, csv],
        notes: [
            "A lockout is a time in which the server denied what the store granted, as known "
                + "now. The table compares it with a check of the newest expiry date, and with "
                + "RevenueCat, by its messages to the server; the line is 0 without any. Minutes "
                + "count for every purchase and each entitlement that it unlocks.",
            "The causes: the store kept access in grace; its message had not been received; it "
                + "stated the access only later; or every message had been received, and the "
                + "conclusion was another.",
            AdminClient.note,
        ],
        run: { arguments, output in
            try await run(
                "lockouts",
                [],
                arguments,
                output,
                LockoutPrinter.print,
                LockoutPrinter.csv
            )
        }
    )

    /// Requests a report, and prints it as the arguments say.
    static func run(
        _ name: String,
        _ query: [QueryItem],
        _ arguments: Arguments,
        _ output: Output,
        _ print: (JSONValue, Output) -> Void,
        _ sheet: (JSONValue) -> String
    ) async throws -> ExitCode {
        if arguments[json], arguments[csv] {
            throw arguments.usageError(.conflict("--json", "--csv"))
        }
        let path = try ConfigurationFile.path(arguments)
        let configuration = try ConfigurationFile.load(path, arguments, telling: output)
        let app = try arguments[app].map { try ConfigurationFile.app($0, of: configuration, path) }
        let adminClient = AdminClient(
            configuration,
            path,
            server: arguments[AdminClient.server],
            output
        )
        let answer = JSONValue(
            try await adminClient.run(
                Request(
                    path: "/v1/reports/\(name)",
                    query: (app.map { [QueryItem(name: "app", value: $0.id)] } ?? []) + query
                )
            )
        )
        if arguments[json] {
            output.write(answer.encoded(pretty: true) + [UInt8(ascii: "\n")])
        } else if arguments[csv] {
            output.write(Array(sheet(answer).utf8))
        } else {
            print(answer, output)
        }
        return .success
    }
}

extension Output {
    /// Prints how many have no known price and are in no sum of money, unless all have one.
    func unpriced(_ counts: [(name: String, numbers: [JSONValue?])]) {
        let parts = counts.compactMap { name, numbers -> String? in
            let sum = numbers.reduce(0) { $0 + ($1?.int64 ?? 0) }
            return sum == 0 ? nil : "\(sum) \(name)"
        }
        guard !parts.isEmpty else { return }
        message("tideover: without a known price, in no sum: \(parts.joined(separator: ", "))")
    }
}

/// Lines of comma-separated values.
enum Sheet {
    static func text(head: [String], rows: [[JSONValue?]]) -> String {
        ([head] + rows.map { $0.map(text) }).map { $0.joined(separator: ",") + "\r\n" }.joined()
    }

    /// Formats a cell (RFC 4180). Customers' ids may contain any character.
    private static func text(_ value: JSONValue?) -> String {
        switch value {
        case .string(let text): quoted(text)
        case .integer(let number): "\(number)"
        case .double(let number): "\(number)"
        case .null, .bool, .array, .object, nil: ""
        }
    }
}

extension Sheet {
    /// The bytes at which spreadsheets begin a formula.
    private static let formulaBytes = Array("=+-@\t\r\n".utf8)

    /// Returns a text that a spreadsheet shows and does not compute, by an apostrophe at its
    /// beginning: anyone with an app's public key can use a formula as the id of a customer.
    private static func inert(_ text: String) -> String {
        text.utf8.first.map(formulaBytes.contains) == true ? "'\(text)" : text
    }

    private static func quoted(_ text: String) -> String {
        let text = inert(text)
        let isPlain = text.utf8.allSatisfy { byte in
            byte != UInt8(ascii: ",") && byte != UInt8(ascii: "\"") && byte >= UInt8(ascii: " ")
        }
        return isPlain ? text : "\"\(text.replacing("\"", with: "\"\""))\""
    }
}

/// Prints the arrival report.
enum ArrivalPrinter {
    private static let ways = ["pushed", "asked", "device"]

    // MARK: For people

    static func print(_ report: JSONValue, _ output: Output) {
        let rows = report["rows"]?.array ?? []
        var table = Table([
            Table.Column("app"), Table.Column("environment"), Table.Column("store"),
            Table.Column("changes", .trailing), Table.Column("pushed", .trailing),
            Table.Column("late (median, p95)"),
            Table.Column("only by asking", .trailing), Table.Column("time to heal (median, p95)"),
            Table.Column("by a device", .trailing),
        ])
        for row in rows {
            table.add(
                Table.Cell(row["app"]?.string ?? ""),
                Table.Cell(row["environment"]?.string ?? ""),
                Table.Cell(row["store"]?.string ?? ""),
                Table.Cell("\(row["changes"]?.int64 ?? 0)"),
                Table.Cell(share(row["pushed"])),
                Table.Cell(lengths(row["pushed"]?["delay"])),
                Table.Cell(share(row["asked"])),
                Table.Cell(lengths(row["timeToHeal"])),
                Table.Cell(share(row["device"]))
            )
        }
        output.print(table)
        for row in rows { output.message("tideover: \(sentence(row))") }
    }

    private static func share(_ way: JSONValue?) -> String {
        let count = way?["count"]?.int64 ?? 0
        guard let share = way?["share"]?.double else { return "\(count)" }
        return "\(count) (\(DecimalText.oneDecimal(share * 100)) %)"
    }

    private static func lengths(_ lengths: JSONValue?) -> String {
        guard let median = lengths?["medianSeconds"]?.double,
            let p95 = lengths?["p95Seconds"]?.double
        else { return "-" }
        return "\(words(median)), \(words(p95)) of \(lengths?["of"]?.int64 ?? 0)"
    }

    /// Formats a duration in a suitable unit.
    static func words(_ seconds: Double) -> String {
        for (unit, size) in [("d", 86_400.0), ("h", 3_600), ("min", 60)] where seconds >= 2 * size {
            return "\(DecimalText.tenths(seconds / size)) \(unit)"
        }
        return "\(DecimalText.tenths(seconds)) s"
    }

    private static func sentence(_ row: JSONValue) -> String {
        let place = ["app", "environment", "store"].compactMap { row[$0]?.string }
            .joined(separator: " ")
        guard let since = row["since"]?.string else { return "\(place): no message arrived yet" }
        let earlier = row["earlier"]?.int64 ?? 0
        return "\(place): since \(since)"
            + (earlier == 0 ? "" : "; changes from before that are not counted: \(earlier)")
    }

    // MARK: For sheets

    static func csv(_ report: JSONValue) -> String {
        let lengths = ["of", "median_seconds", "p95_seconds"]
        var head = ["app", "environment", "store", "since", "changes"]
        for way in ways { head += [way] + lengths.map { "\(way)_delay_\($0)" } }
        head += lengths.map { "time_to_heal_\($0)" } + ["earlier"]
        let rows = (report["rows"]?.array ?? []).map { row in
            var cells = ["app", "environment", "store", "since", "changes"].map { row[$0] }
            for way in ways {
                cells += [row[way]?["count"]] + figures(row[way]?["delay"])
            }
            return cells + figures(row["timeToHeal"]) + [row["earlier"]]
        }
        return Sheet.text(head: head, rows: rows)
    }

    private static func figures(_ lengths: JSONValue?) -> [JSONValue?] {
        ["of", "medianSeconds", "p95Seconds"].map { lengths?[$0] }
    }
}
