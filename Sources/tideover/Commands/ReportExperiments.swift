import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON

/// `tideover report experiments`: the recovery of failed payments by arm.
enum ReportExperiments {
    static let command = Command(
        "experiments",
        summary: "the recovery of failed payments by arm of each experiment",
        examples: [
            Example("tideover report experiments --app cards", "what they show so far")
        ],
        parameters: [
            Report.app, ReportMeasures.to, ConfigurationFile.parameter, AdminClient.server,
            Report.json, Report.csv,
        ],
        notes: [
            "Differences are in points of a hundred, from the first arm. The brackets are a 95 % "
                + "interval that holds at every look, however often you look.",
            AdminClient.note,
        ],
        run: { arguments, output in
            try await Report.run(
                "experiments",
                arguments[ReportMeasures.to].map { [QueryItem(name: "to", value: $0.rfc3339)] }
                    ?? [],
                arguments,
                output,
                print,
                csv
            )
        }
    )

    private struct Arm {
        let row: JSONValue
        let experiment: JSONValue
        let arm: JSONValue

        var place: [String] {
            [row["app"], row["environment"], experiment["id"], arm["arm"]].map {
                $0?.string ?? "-"
            }
        }

        static func all(_ report: JSONValue) -> [Arm] {
            (report["rows"]?.array ?? []).flatMap { row in
                (row["experiments"]?.array ?? []).flatMap { experiment in
                    (experiment["arms"]?.array ?? []).map {
                        Arm(row: row, experiment: experiment, arm: $0)
                    }
                }
            }
        }
    }

    private static func print(_ report: JSONValue, _ output: Output) {
        let arms = Arm.all(report)
        guard !arms.isEmpty else {
            output.print("There is no experiment. `experiments` of an app describes them.")
            return
        }
        var table = Table(
            ["app", "environment", "experiment", "arm"].map { Table.Column($0) }
                + ["failed", "recovered", "difference"].map { Table.Column($0, .trailing) }
        )
        for arm in arms {
            let cells =
                arm.place + [
                    "\(arm.arm["entries"]?.int64 ?? 0)", percent(arm.arm["recovered"]),
                    difference(arm.arm["difference"]),
                ]
            table.add(cells.map { Table.Cell($0) })
        }
        output.print(table)
        for arm in arms {
            let name = arm.place.suffix(2).joined(separator: ", ")
            output.print("\(name): \(arm.arm["sentence"]?.string ?? "")")
        }
    }

    private static func percent(_ share: JSONValue?) -> String {
        share?.double.map { "\(DecimalText.oneDecimal($0 * 100)) %" } ?? "-"
    }

    private static func difference(_ node: JSONValue?) -> String {
        let numbers = ["value", "lower", "upper"].compactMap { node?[$0]?.double }.map {
            DecimalText.oneDecimal($0 * 100)
        }
        guard numbers.count == 3 else { return "-" }
        return "\(numbers[0]) [\(numbers[1])..\(numbers[2])]"
    }

    private static let figures = [
        "entries", "exposed", "needed", "recovered", "alarm", "sentence",
    ]

    private static func csv(_ report: JSONValue) -> String {
        let bounds = ["difference", "lockouts", "refunds"].flatMap { measure in
            ["value", "lower", "upper"].map { (measure, $0) }
        }
        return Sheet.text(
            head: ["app", "environment", "experiment", "arm"] + figures
                + bounds.map { "\($0)_\($1)" },
            rows: Arm.all(report).map { arm in
                arm.place.map { JSONValue.string($0) } + figures.map { arm.arm[$0] }
                    + bounds.map { arm.arm[$0]?[$1] }
            }
        )
    }
}
