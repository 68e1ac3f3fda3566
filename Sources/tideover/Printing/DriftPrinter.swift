import TideoverCommandLine
import TideoverJSON

/// Prints the drift report, and one customer's drift and lockouts.
enum DriftPrinter {
    // MARK: For people

    static func print(_ report: JSONValue, _ output: Output) {
        var table = Table([
            Table.Column("app"), Table.Column("environment"), Table.Column("direction"),
            Table.Column("cause"), Table.Column("found", .trailing),
            Table.Column("open", .trailing), Table.Column("time to heal (median, p90)"),
            Table.Column("lockout minutes", .trailing), Table.Column("healed by"),
        ])
        for (row, kind) in lines(report) {
            table.add(
                Table.Cell(row["app"]?.string ?? ""),
                Table.Cell(row["environment"]?.string ?? ""),
                Table.Cell(kind["direction"]?.string ?? "all"),
                Table.Cell(kind["cause"]?.string ?? "all"),
                Table.Cell("\(kind["found"]?.int64 ?? 0)"),
                Table.Cell("\(kind["open"]?.int64 ?? 0)"),
                Table.Cell(lengths(kind["timeToHeal"])),
                Table.Cell(LockoutPrinter.number(kind["lockoutMinutes"])),
                Table.Cell(healers(kind["healedBy"]))
            )
        }
        output.print(table)
        for row in report["rows"]?.array ?? [] { output.message("tideover: \(sentence(row))") }
    }

    /// Returns the sum of each row, followed by its kinds.
    private static func lines(_ report: JSONValue) -> [(JSONValue, JSONValue)] {
        (report["rows"]?.array ?? []).flatMap { row in
            [(row, row)] + (row["kinds"]?.array ?? []).map { (row, $0) }
        }
    }

    private static func lengths(_ lengths: JSONValue?) -> String {
        guard let median = lengths?["medianSeconds"]?.double,
            let p90 = lengths?["p90Seconds"]?.double
        else { return "-" }
        return "\(ArrivalPrinter.words(median)), \(ArrivalPrinter.words(p90)) of "
            + "\(lengths?["of"]?.int64 ?? 0)"
    }

    private static func healers(_ healers: JSONValue?) -> String {
        let parts = (healers?.object ?? [:]).compactMap { member -> String? in
            guard let count = member.value.int64, count > 0 else { return nil }
            return "\(member.key) \(count)"
        }
        return parts.isEmpty ? "-" : parts.joined(separator: ", ")
    }

    private static func sentence(_ row: JSONValue) -> String {
        let place = "\(row["app"]?.string ?? "") in \(row["environment"]?.string ?? "")"
        guard row["found"]?.int64 ?? 0 > 0 else { return "\(place): no device differed" }
        guard let since = row["openSince"]?.string else { return "\(place): all healed" }
        return "\(place): still open \(row["open"]?.int64 ?? 0), the oldest since \(since)"
    }

    // MARK: For sheets

    private static let healerNames = [
        "device", "notification", "asked", "operator", "ownership", "time",
    ]

    static func csv(_ report: JSONValue) -> String {
        let head =
            [
                "app", "environment", "direction", "cause", "found", "open", "open_since",
                "time_to_heal_of", "time_to_heal_median_seconds", "time_to_heal_p90_seconds",
                "lockout_minutes",
            ] + healerNames.map { "healed_by_\($0)" }
        let rows = (report["rows"]?.array ?? []).flatMap { row in
            (row["kinds"]?.array ?? []).map { cells($0, of: row) }
        }
        return Sheet.text(head: head, rows: rows)
    }

    private static func cells(_ kind: JSONValue, of row: JSONValue) -> [JSONValue?] {
        var cells = [row["app"], row["environment"]]
        for name in ["direction", "cause", "found", "open", "openSince"] {
            cells.append(kind[name])
        }
        for name in ["of", "medianSeconds", "p90Seconds"] {
            cells.append(kind["timeToHeal"]?[name])
        }
        cells.append(kind["lockoutMinutes"])
        for name in healerNames { cells.append(kind["healedBy"]?[name]) }
        return cells
    }

    // MARK: One customer

    /// Prints drift and lockouts from an answer of `explain`; prints nothing if there are none.
    static func printOfCustomer(
        _ answer: JSONNode,
        title: (String) -> Void,
        paragraph: (String) -> Void
    ) {
        let drift = answer["drift"]?.elements.map { $0 } ?? []
        if !drift.isEmpty {
            title("Drift between device and server")
            for drift in drift { paragraph(sentence(drift)) }
        }
        let lockouts = (answer["lockouts"]?.members.map { $0 } ?? []).filter { member in
            (member.value["ours"]?["minutes"]?.double ?? 0) > 0
        }
        guard !lockouts.isEmpty else { return }
        title("Lockouts")
        for (name, sum) in lockouts {
            paragraph("\(name): \(LockoutPrinter.sentence(JSONValue(sum)))")
        }
    }

    private static func sentence(_ drift: JSONNode) -> String {
        let what =
            "\(text(drift["entitlement"])): \(text(drift["direction"])), \(text(drift["cause"])), "
            + "found \(text(drift["openedAt"]))"
        guard let healedAt = drift["healedAt"]?.string else {
            return "\(what), open. \(text(drift["sentence"]))"
        }
        return "\(what), healed \(healedAt) by \(text(drift["healedBy"]))."
    }

    private static func text(_ node: JSONNode?) -> String { node?.string ?? "?" }
}
