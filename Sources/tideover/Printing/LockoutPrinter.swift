import TideoverCommandLine
import TideoverJSON

/// Prints the lockout report.
enum LockoutPrinter {
    private static let judges = [
        ("ours", "Tideover"), ("expiryCheck", "expiry check"), ("relay", "RevenueCat"),
    ]
    private static let causes = [
        ("grace", "in grace"), ("notHeard", "message not received"), ("saidLater", "stated later"),
        ("judgement", "other conclusion"),
    ]

    // MARK: For people

    static func print(_ report: JSONValue, _ output: Output) {
        var table = Table([
            Table.Column("app"), Table.Column("environment"), Table.Column("policy"),
            Table.Column("answer of"),
            Table.Column("lockout minutes", .trailing), Table.Column("of entitled minutes"),
            Table.Column("purchases", .trailing), Table.Column("by cause (minutes)"),
        ])
        for row in report["rows"]?.array ?? [] {
            for part in parts(of: row) {
                for (name, words) in judges {
                    let judge = part.figures[name]
                    let denied = judge?["purchases"]?.int64 ?? 0
                    table.add(
                        Table.Cell(row["app"]?.string ?? ""),
                        Table.Cell(row["environment"]?.string ?? ""),
                        Table.Cell(policy(part)),
                        Table.Cell(words),
                        Table.Cell(number(judge?["minutes"])),
                        Table.Cell(share(judge?["minutes"], of: part.figures["entitledMinutes"])),
                        Table.Cell("\(denied) of \(part.figures["purchases"]?.int64 ?? 0)"),
                        Table.Cell(causes(of: judge))
                    )
                }
            }
        }
        output.print(table)
    }

    /// The figures of a row, or of one version of the policy within it.
    private struct Part {
        var version: JSONValue?
        var figures: JSONValue
    }

    /// Returns the row, and its versions of the policy if there are several.
    private static func parts(of row: JSONValue) -> [Part] {
        let versions = row["policies"]?.array ?? []
        guard versions.count > 1 else { return [Part(figures: row)] }
        return [Part(figures: row)]
            + versions.map { Part(version: $0["policyVersion"], figures: $0) }
    }

    /// Returns the fingerprint and the day on which the version took effect.
    private static func policy(_ part: Part) -> String {
        guard let version = part.version else { return "all" }
        let day = version["effectiveAt"]?.string?.prefix(10)
        return (version["fingerprint"]?.string ?? "") + (day.map { " since \($0)" } ?? "")
    }

    /// Returns the sentence about the time that one customer was denied access.
    static func sentence(_ sum: JSONValue) -> String {
        "\(number(sum["ours"]?["minutes"])) minutes denied by us of "
            + "\(number(sum["entitledMinutes"])) entitled (\(causes(of: sum["ours"]))); "
            + "an expiry check would have denied \(number(sum["expiryCheck"]?["minutes"]))."
    }

    private static func causes(of judge: JSONValue?) -> String {
        let parts = causes.filter { (judge?["causes"]?[$0.0]?.double ?? 0) > 0 }
            .map { "\($0.1) \(number(judge?["causes"]?[$0.0]))" }
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
                "app", "environment", "policy", "policy_since", "judge", "minutes",
                "entitled_minutes", "purchases_denied", "of",
            ]
            + causes.map { "\($0.0)_minutes" }
        let rows = (report["rows"]?.array ?? []).flatMap { row in
            parts(of: row).flatMap { part in judges.map { cells(row, part, $0.0) } }
        }
        return Sheet.text(head: head, rows: rows)
    }

    private static func cells(_ row: JSONValue, _ part: Part, _ name: String) -> [JSONValue?] {
        let (figures, judge) = (part.figures, part.figures[name])
        return [
            row["app"], row["environment"], part.version?["fingerprint"] ?? .string("all"),
            part.version?["effectiveAt"], .string(name), judge?["minutes"],
            figures["entitledMinutes"], judge?["purchases"], figures["purchases"],
        ] + causes.map { judge?["causes"]?[$0.0] }
    }
}
