import TideoverCommandLine
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer

/// `tideover replay`: what the stored evidence says by the rules of this version.
enum Replay {
    private static let apply = Parameter.flag(
        "--apply",
        "Add what is new, and derive again what was derived by other rules"
    )
    private static let json = Parameter.flag("--json", "Write one JSON list")

    static let command = Command(
        "replay",
        summary: "read all stored evidence again, and tell what that would change",
        examples: [
            Example(
                "tideover replay --app cards --config tideover.json",
                "what another version of the rules makes of what is stored"
            ),
            Example("tideover replay --app cards --config tideover.json --apply", "and keep that"),
        ],
        parameters: [
            AppErrand.app, ConfigurationFile.required, AppErrand.oneEnvironment, apply,
            Errand.server, json,
        ],
        notes: [
            Errand.note,
            "Without --apply nothing is changed. Facts are only ever added: what no evidence states "
                + "any more is told of, and stays.",
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let asked = try AppErrand(arguments, output)
        var reports: [JSONValue] = []
        for environment in asked.environments(arguments) {
            let request = Request(
                method: "POST",
                path: "/v1/apps/\(asked.app.id)/replay",
                query: [
                    QueryItem(name: "environment", value: environment.rawValue),
                    QueryItem(name: "apply", value: arguments[apply] ? "true" : "false"),
                ]
            )
            let report = JSONValue(try await asked.errand.run(request))
            reports.append(report)
            if !arguments[json] { print(report, output) }
        }
        if arguments[json] {
            output.write(JSONValue.array(reports).encoded(pretty: true) + [UInt8(ascii: "\n")])
        }
        return .success
    }

    // MARK: Words

    private static func print(_ report: JSONValue, _ output: Output) {
        var lines = [
            "\(report["environment"]?.string ?? ""): \(report["evidence"]?.int64 ?? 0) pieces of "
                + "evidence state \(report["facts"]?.int64 ?? 0) facts"
        ]
        for (code, count) in report["unreadable"]?.object ?? JSONObject() {
            lines.append("  \(count.int64 ?? 0) pieces are not read any more: \(code)")
        }
        let isApplied = report["applied"]?.bool == true
        lines += list(report["added"], isApplied ? "facts were added" : "facts would be added") {
            "\($0["kind"]?.string ?? "") of \($0["assertedAt"]?.string ?? "")"
        }
        lines += list(report["unread"], "stored facts are stated by no evidence any more") {
            "\($0["kind"]?.string ?? "") of \($0["assertedAt"]?.string ?? "")"
        }
        lines += list(report["changed"], isApplied ? "answers changed" : "answers would change") {
            "\($0["customer"]?.string ?? "") \($0["entitlement"]?.string ?? ""): "
                + "\($0["from"]?.string ?? "nothing") -> \($0["to"]?.string ?? "")"
        }
        for line in lines { output.write(Array("\(TextLayout.visible(line))\n".utf8)) }
    }

    private static func list(
        _ listed: JSONValue?,
        _ words: String,
        _ line: (JSONValue) -> String
    ) -> [String] {
        let count = listed?["count"]?.int64 ?? 0
        let first = listed?["first"]?.array ?? []
        let rest = count - Int64(first.count)
        return ["  \(count) \(words)"] + first.map { "    " + line($0) }
            + (rest > 0 ? ["    and \(rest) more"] : [])
    }
}
