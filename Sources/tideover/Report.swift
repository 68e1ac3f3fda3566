import TideoverCommandLine
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer

/// `tideover report`: prints statistics over all received data.
enum Report {
    static let command = Command(
        "report",
        summary: "figures over everything that was heard",
        examples: [
            Example(
                "tideover report arrival",
                "how much the store pushed to us, and how much was found only by asking"
            ),
            Example(
                "tideover report drift",
                "where devices and we differed, why, and how long it took to heal"
            ),
            Example(
                "tideover report lockouts",
                "how long customers were denied what the store vouched for"
            ),
            Example(
                "tideover report shadow",
                "where RevenueCat's answers and ours differ"
            ),
        ],
        subcommands: [arrival, drift, lockouts, ReportShadow.command]
    )

    private static let app = Parameter.option("--app", "ID", "One app instead of all")
    private static let json = Parameter.flag("--json", "Write one JSON object")
    private static let csv = Parameter.flag("--csv", "Write comma-separated values with a head")

    private static let arrival = Command(
        "arrival",
        summary: "how what the stores tell reached us, and how late",
        examples: [
            Example(
                "tideover report arrival --app cards",
                "a table for one app"
            ),
            Example(
                "tideover report arrival --csv",
                "all apps, for a sheet"
            ),
        ],
        parameters: [app, ConfigurationFile.parameter, Errand.server, json, csv],
        notes: [
            "A change is a message of the store that told something of a purchase which no message "
                + "before it had told. Shares are of all changes since the first was learned. A delay "
                + "is from the store's signature to our learning; the time to heal, of what was found "
                + "only by asking, from when the store dates it.",
            Errand.note,
        ],
        run: { arguments, output in
            try await run("arrival", arguments, output, ArrivalPrinter.print, ArrivalPrinter.csv)
        }
    )

    private static let drift = Command(
        "drift",
        summary: "where devices and we differed, why, and how long it took to heal",
        examples: [
            Example(
                "tideover report drift --app cards",
                "a table for one app, a line for each direction and cause"
            ),
            Example("tideover report drift --csv", "all apps, for a sheet"),
        ],
        parameters: [app, ConfigurationFile.parameter, Errand.server, json, csv],
        notes: [
            "A drift is a difference between what a device concluded by itself, as it says when it "
                + "reconciles, and what we answer. The time to heal is from when it was found until "
                + "it was no more.",
            Errand.note,
        ],
        run: { arguments, output in
            try await run("drift", arguments, output, DriftPrinter.print, DriftPrinter.csv)
        }
    )

    private static let lockouts = Command(
        "lockouts",
        summary: "how long customers were denied what the store vouched for",
        examples: [
            Example(
                "tideover report lockouts --app cards",
                "a table for one app, a line for each judge"
            ),
            Example(
                "tideover report lockouts --csv",
                "all apps, for a sheet"
            ),
        ],
        parameters: [app, ConfigurationFile.parameter, Errand.server, json, csv],
        notes: [
            "A lockout is a time in which we denied what the store, by all that is known now, "
                + "vouched for. Beside it stands what a check of the newest expiry date would have "
                + "denied, and what a relay such as RevenueCat had told us. Minutes are of every "
                + "purchase and each entitlement that it unlocks.",
            Errand.note,
        ],
        run: { arguments, output in
            try await run("lockouts", arguments, output, LockoutPrinter.print, LockoutPrinter.csv)
        }
    )

    private static func run(
        _ name: String,
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
        let errand = Errand(configuration, path, server: arguments[Errand.server], output)
        let answer = JSONValue(
            try await errand.run(
                Request(
                    path: "/v1/reports/\(name)",
                    query: app.map { [QueryItem(name: "app", value: $0.id)] } ?? []
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
    private static func quoted(_ text: String) -> String {
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
        guard let since = row["since"]?.string else { return "\(place): nothing was heard yet" }
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
