import TideoverCommandLine
import TideoverJSON

/// Prints the lockout report.
enum LockoutPrinter {
    private static let judges = [
        ("ours", "ours"), ("expiryCheck", "an expiry check's"), ("relay", "a relay's"),
    ]
    private static let causes = ["grace", "notHeard", "saidLater", "judgement"]

    // MARK: For people

    static func print(_ report: JSONValue, _ output: Output) {
        var table = Table([
            Table.Column("app"), Table.Column("environment"), Table.Column("answer of"),
            Table.Column("lockout minutes", .trailing), Table.Column("of entitled minutes"),
            Table.Column("purchases", .trailing), Table.Column("by cause (minutes)"),
        ])
        for row in report["rows"]?.array ?? [] {
            for (name, words) in judges {
                let judge = row[name]
                table.add(
                    Table.Cell(row["app"]?.string ?? ""),
                    Table.Cell(row["environment"]?.string ?? ""),
                    Table.Cell(words),
                    Table.Cell(number(judge?["minutes"])),
                    Table.Cell(share(judge?["minutes"], of: row["entitledMinutes"])),
                    Table.Cell(
                        "\(judge?["purchases"]?.int64 ?? 0) of \(row["purchases"]?.int64 ?? 0)"
                    ),
                    Table.Cell(causes(of: judge))
                )
            }
        }
        output.print(table)
    }

    /// Returns the sentence about the time that one customer was denied access.
    static func sentence(_ sum: JSONValue) -> String {
        "\(number(sum["ours"]?["minutes"])) minutes denied by us of "
            + "\(number(sum["entitledMinutes"])) entitled (\(causes(of: sum["ours"]))); "
            + "an expiry check would have denied \(number(sum["expiryCheck"]?["minutes"]))."
    }

    private static func causes(of judge: JSONValue?) -> String {
        let parts = causes.filter { (judge?["causes"]?[$0]?.double ?? 0) > 0 }
            .map { "\($0) \(number(judge?["causes"]?[$0]))" }
        return parts.isEmpty ? "-" : parts.joined(separator: ", ")
    }

    private static func share(_ part: JSONValue?, of whole: JSONValue?) -> String {
        guard let part = part?.double, let whole = whole?.double, whole > 0 else { return "-" }
        return "\(number(.double(whole))) (\(DecimalText.twoDecimals(part / whole * 100)) %)"
    }

    /// Formats a number with one decimal.
    static func number(_ value: JSONValue?) -> String {
        DecimalText.tenths(value?.double ?? 0)
    }

    // MARK: For sheets

    static func csv(_ report: JSONValue) -> String {
        let head =
            [
                "app", "environment", "judge", "minutes", "entitled_minutes", "purchases_denied",
                "of",
            ]
            + causes.map { "\($0)_minutes" }
        let rows = (report["rows"]?.array ?? []).flatMap { row in
            judges.map { name, _ in
                [
                    row["app"], row["environment"], .string(name), row[name]?["minutes"],
                    row["entitledMinutes"], row[name]?["purchases"], row["purchases"],
                ] + causes.map { row[name]?["causes"]?[$0] }
            }
        }
        return Sheet.text(head: head, rows: rows)
    }
}
