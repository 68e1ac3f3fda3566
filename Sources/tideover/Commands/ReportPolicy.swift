import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON

/// `tideover report policy`: a test of each app's policy with other settings.
enum ReportPolicy {
    /// The settings that a test can replace, as the configuration spells them.
    private static let settings: [(name: String, option: Parameter<String?>)] = [
        ("billingRetry", setting("--billing-retry", "access while a payment is retried")),
        ("renewalLeeway", setting("--renewal-leeway", "how long a renewal may stay unreported")),
        ("unreachable", setting("--unreachable", "access while the store cannot be reached")),
        ("unknownProduct", setting("--unknown-product", "access by a product not configured")),
    ]

    private static func setting(_ name: String, _ meaning: String) -> Parameter<String?> {
        Parameter.option(name, "VALUE", "Try this setting: \(meaning)")
    }

    static let command = Command(
        "policy",
        summary: "each app's policy, and what other settings would have changed",
        examples: [
            Example(
                "tideover report policy",
                "the other choice of billingRetry, over the last 90 days"
            ),
            Example(
                "tideover report policy --billing-retry \"keep 3d\" --app cards",
                "three days of access while the store retries a payment"
            ),
        ],
        parameters: [Report.app, AppAdminClient.oneEnvironment] + settings.map(\.option) + [
            ReportMeasures.from, ReportMeasures.to, PolicyTrial.knownNow,
            ConfigurationFile.parameter, AdminClient.server, Report.json, Report.csv,
        ],
        notes: [
            "Decides the stored facts under the policy in effect with the named settings replaced. "
                + "Without any it is the other choice of billingRetry: \"keep 7d\", or suspend. "
                + "Nothing is changed. Without --from it is the 90 days before --to. --json also "
                + "lists where a customer's access would have differed. To try a whole policy, use "
                + "`tideover policy try`.",
            AdminClient.note,
        ],
        run: { arguments, output in
            try await Report.run("policy", query(arguments), arguments, output, print, csv)
        }
    )

    private static func query(_ arguments: Arguments) -> [QueryItem] {
        let given: [(String, String?)] =
            settings.map { ($0.name, arguments[$0.option]) } + [
                ("environment", arguments[AppAdminClient.oneEnvironment]?.environment.rawValue),
                ("from", arguments[ReportMeasures.from]?.rfc3339),
                ("to", arguments[ReportMeasures.to]?.rfc3339),
                ("knowledge", arguments[PolicyTrial.knownNow] ? "now" : nil),
            ]
        return given.compactMap { name, value in value.map { QueryItem(name: name, value: $0) } }
    }

    // MARK: Output

    static func print(_ report: JSONValue, _ output: Output) {
        let rows = report["rows"]?.array ?? []
        if rows.isEmpty { output.print("There is no app in this environment.") }
        for (position, row) in rows.enumerated() {
            if position > 0 { output.print() }
            let place = ["app", "environment"].map { row[$0]?.string ?? "-" }
            output.print(TextLayout.visible(place.joined(separator: " ")))
            for (name, _) in settings {
                let (current, tried) = (text(row["policy"]?[name]), text(row["tried"]?[name]))
                let other = current == tried ? "" : ", tried: \(tried)"
                output.print(TextLayout.visible("\(name): \(current)\(other)"))
            }
            PolicyTrial.printTotals(row, output)
        }
    }

    /// One line for each entitlement of each row.
    static func csv(_ report: JSONValue) -> String {
        let sides = [("policy", "current"), ("tried", "tried")]
        let totals = [
            ("access_ms", "accessMilliseconds"), ("lockout_ms", "lockoutMilliseconds"),
            ("lockouts", "lockouts"), ("exposure_ms", "exposureMilliseconds"),
            ("exposures", "exposures"),
        ]
        var head = ["app", "environment", "from", "until", "knowledge"]
        let place = head
        head += ["entitlement", "customers_differing"]
        for (_, side) in sides {
            head += (settings.map { column($0.name) } + totals.map(\.0)).map { "\(side)_\($0)" }
        }
        let rows = (report["rows"]?.array ?? []).flatMap { row in
            (row["entitlements"]?.object ?? [:]).map { name, entitlement in
                var cells = place.map { row[$0] }
                cells += [.string(name), entitlement["customersDiffering"]]
                for (policy, side) in sides {
                    cells += settings.map { .string(text(row[policy]?[$0.name])) }
                    cells += totals.map { entitlement[side]?[$0.1] }
                }
                return cells
            }
        }
        return Sheet.text(head: head, rows: rows)
    }

    /// Returns the name of a setting in a sheet: `billing_retry` of `billingRetry`.
    private static func column(_ setting: String) -> String {
        setting.reduce(into: "") { $0 += $1.isUppercase ? "_\($1.lowercased())" : String($1) }
    }

    /// Returns a setting as the configuration has it; entitlements are separated by spaces.
    private static func text(_ setting: JSONValue?) -> String {
        setting?.string
            ?? setting?.array.map { $0.compactMap(\.string).joined(separator: " ") } ?? "-"
    }
}
