import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON

/// `tideover report deadlines`: what must happen by when.
enum ReportDeadlines {
    private static let kind = Parameter.option(
        "--kind",
        "KIND",
        "graceEnd, holdEnd, acknowledgement, consumption, notificationHistory, "
            + "rootCertificate, signingCertificate or revocationAnswer"
    )

    static let command = Command(
        "deadlines",
        summary: "what must happen by when, soonest first",
        examples: [
            Example("tideover report deadlines --app cards", "everything with a clock"),
            Example(
                "tideover report deadlines --kind graceEnd --csv",
                "who loses access, and when"
            ),
        ],
        parameters: [
            Report.app, kind, ConfigurationFile.parameter, AdminClient.server, Report.json,
            Report.csv,
        ],
        notes: [
            "Lists the ends of grace and hold, the acknowledgements that Google Play waits for, the "
                + "App Store's requests for consumption information, when its history of "
                + "notifications no longer reaches back to the last backfill, and the ends of the "
                + "certificates that its data is verified with.",
            AdminClient.note,
        ],
        run: { arguments, output in
            let query = arguments[kind].map { [QueryItem(name: "kind", value: $0)] } ?? []
            return try await Report.run("deadlines", query, arguments, output, print, csv)
        }
    )

    private static let members = ["at", "kind", "customer", "purchase", "product", "certificate"]

    private static func deadlines(_ report: JSONValue) -> [(row: JSONValue, deadline: JSONValue)] {
        (report["rows"]?.array ?? []).flatMap { row in
            (row["deadlines"]?.array ?? []).map { (row, $0) }
        }
    }

    private static func print(_ report: JSONValue, _ output: Output) {
        let all = deadlines(report)
        guard !all.isEmpty else { return output.print("There is no deadline.") }
        var table = Table((["app", "environment"] + members).map { .init($0) })
        for (row, deadline) in all {
            let cells = [row["app"], row["environment"]] + members.map { deadline[$0] }
            table.add(cells.map { .init($0?.string ?? "-") })
        }
        output.print(table)
        let rows = report["rows"]?.array ?? []
        if rows.contains(where: { $0["more"]?.bool == true }) {
            output.message("tideover: there are more deadlines than these")
        }
    }

    private static func csv(_ report: JSONValue) -> String {
        Sheet.text(
            head: ["app", "environment"] + members + ["sentence"],
            rows: deadlines(report).map { row, deadline in
                [row["app"], row["environment"]] + members.map { deadline[$0] }
                    + [deadline["sentence"]]
            }
        )
    }
}
