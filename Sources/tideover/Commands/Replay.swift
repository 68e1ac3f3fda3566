import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer

/// `tideover replay`: evaluates the stored evidence by the rules of this version.
enum Replay {
    private static let apply = Parameter.flag(
        "--apply",
        "Store new facts, and update answers derived by other rules"
    )
    private static let json = Parameter.flag("--json", "Write one JSON list")

    static let command = Command(
        "replay",
        summary: "read all stored evidence again and report what would change",
        examples: [
            Example(
                "tideover replay",
                "print what the current rules derive from the stored evidence"
            ),
            Example("tideover replay --apply", "and store it"),
        ],
        parameters: [
            AppAdminClient.app, ConfigurationFile.parameter, AppAdminClient.oneEnvironment, apply,
            AdminClient.server, json,
        ],
        notes: [
            AdminClient.note,
            "The server continues after the command ends, and after a restart. Run the "
                + "command again to see the progress. Exit code 1 if it stopped before the end.",
            "Each answer that differs is printed with its cause: new facts, the rules of "
                + "this version, or a newer catalogue or policy.",
            "Without --apply nothing is changed. Facts are only added: those without "
                + "evidence are reported, and remain.",
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let asked = try AppAdminClient(arguments, output)
        var reports: [JSONValue] = []
        for environment in try asked.environments(arguments) {
            let question = Question(
                app: asked.app.id,
                environment: environment,
                apply: arguments[apply]
            )
            let report = try await asked.adminClient.run(replay: question) { told in
                output.message("tideover: \(Self.progress(told))")
            }
            reports.append(report)
            if !arguments[json] { print(report, output) }
        }
        if arguments[json] {
            output.write(JSONValue.array(reports).encoded(pretty: true) + [UInt8(ascii: "\n")])
        }
        return reports.allSatisfy { $0["status"]?.string == "completed" } ? .success : .failure
    }

    /// The app and the environment of a replay.
    struct Question {
        let app: String
        let environment: Environment
        let apply: Bool

        var begin: Request {
            request("POST", [QueryItem(name: "apply", value: apply ? "true" : "false")])
        }

        var tell: Request { request("GET") }

        private func request(_ method: String, _ choices: [QueryItem] = []) -> Request {
            let place = QueryItem(name: "environment", value: environment.rawValue)
            return Request(
                method: method,
                path: "/v1/apps/\(app)/replay",
                query: [place] + choices
            )
        }
    }

    // MARK: Sentences

    /// Returns a run's progress in one line.
    private static func progress(_ report: JSONValue) -> String {
        "\(report["environment"]?.string ?? ""): \(evidence(report)) read, "
            + TextLayout.counted(report["added"]?["count"]?.int64 ?? 0, "new fact")
    }

    private static func evidence(_ report: JSONValue) -> String {
        TextLayout.counted(
            report["evidence"]?.int64 ?? 0,
            "piece of evidence",
            plural: "pieces of evidence"
        )
    }

    private static func print(_ report: JSONValue, _ output: Output) {
        var lines = [
            "\(report["environment"]?.string ?? ""): "
                + "\(TextLayout.counted(report["facts"]?.int64 ?? 0, "fact")) in "
                + evidence(report)
        ]
        for (code, count) in report["unreadable"]?.object ?? JSONObject() {
            let pieces = TextLayout.counted(count.int64 ?? 0, "piece")
            lines.append("  not read any more: \(pieces), \(code)")
        }
        let isApplied = report["applied"]?.bool == true
        lines += list(report["added"], isApplied ? "facts were added" : "facts would be added") {
            "\($0["kind"]?.string ?? "") of \($0["assertedAt"]?.string ?? "")"
        }
        // A run that resumed an earlier one has not read all of the evidence.
        if let unread = report["unread"], unread != .null {
            lines += list(unread, "stored facts are stated by no evidence any more") {
                "\($0["kind"]?.string ?? "") of \($0["assertedAt"]?.string ?? "")"
            }
        }
        lines += list(report["changed"], isApplied ? "answers changed" : "answers would change") {
            "\($0["customer"]?.string ?? "") \($0["entitlement"]?.string ?? ""): "
                + "\($0["from"]?.string ?? "nothing") -> \($0["to"]?.string ?? "")"
                + Self.cause($0["cause"]?.string)
        }
        if let detail = report["stopped"]?["detail"]?.string {
            lines.append("  stopped: \(detail)")
        }
        for line in lines { output.write(Array("\(TextLayout.visible(line))\n".utf8)) }
    }

    private static func cause(_ code: String?) -> String {
        switch code {
        case "rules": ", by the rules of this version"
        case "configuration": ", by another catalogue or policy"
        case "evidence": ", by the facts that are new"
        default: ""
        }
    }

    private static func list(
        _ listed: JSONValue?,
        _ words: String,
        _ line: (JSONValue) -> String
    ) -> [String] {
        let count = listed?["count"]?.int64 ?? 0
        let first = listed?["first"]?.array ?? []
        let rest = count.addingSaturated(-Int64(first.count))
        return ["  \(count) \(words)"] + first.map { "    " + line($0) }
            + (rest > 0 ? ["    and \(rest) more"] : [])
    }
}

extension AdminClient {
    /// Runs a replay, on the server or in a service of the command's own. Returns the result. Calls
    /// `telling` with each progress report.
    fileprivate func run(
        replay question: Replay.Question,
        telling: (JSONValue) -> Void
    ) async throws -> JSONValue {
        // A running server only starts the replay, because it takes longer than a request may. If
        // no server has the database open, the command does the work itself.
        var answer = JSONValue(
            try await run(question.begin) { service in
                await service.replayNow(
                    app: question.app,
                    environment: question.environment,
                    apply: question.apply
                )
            }
        )
        var told: JSONValue?
        while answer["wanted"]?.bool == true || answer["last"]?["status"]?.string == "running" {
            if let last = answer["last"], last["status"]?.string == "running", last != told {
                telling(last)
                told = last
            }
            try await Task.sleep(for: .seconds(1))
            answer = JSONValue(try await run(question.tell))
        }
        return answer["last"] ?? .null
    }
}
