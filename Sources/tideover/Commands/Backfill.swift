import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer

/// `tideover backfill`: fetches notifications and purchases that did not arrive.
enum Backfill {
    private static let json = Parameter.flag("--json", "Write one JSON list")

    static let command = Command(
        "backfill",
        summary: "ask the stores for missed messages",
        examples: [
            Example(
                "tideover backfill",
                "missed notifications, silent subscriptions, refunds"
            ),
            Example(
                "tideover backfill --environment sandbox --json",
                "for a script, in one environment"
            ),
        ],
        parameters: [
            AppAdminClient.app, ConfigurationFile.parameter, AppAdminClient.oneEnvironment,
            AdminClient.server,
            json,
        ],
        notes: [
            AdminClient.note,
            "It continues where the last run ended, and can be interrupted at any time; "
                + "repeated messages count once. `tideover serve` does the same at its start and "
                + "by the schedules appStore.backfill and googlePlay.backfill.",
            "Exit code 0 if the stores answered everything, else 1.",
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let asked = try AppAdminClient(arguments, output)
        var runs: [JSONValue] = []
        for environment in try asked.environments(arguments) {
            let question = Question(app: asked.app.id, environment: environment)
            let answers = try await asked.adminClient.run(backfill: question) { told in
                output.message("tideover: \(Self.sentence(told))")
            }
            runs += answers
            guard !arguments[json] else { continue }
            for answer in answers { output.write(Array("\(Self.sentence(answer))\n".utf8)) }
        }
        if arguments[json] {
            output.write(JSONValue.array(runs).encoded(pretty: true) + [UInt8(ascii: "\n")])
        }
        return runs.allSatisfy { $0["status"]?.string == "completed" } ? .success : .failure
    }

    /// The app and the environment of a backfill.
    struct Question {
        let app: String
        let environment: Environment

        func request(_ method: String) -> Request {
            Request(
                method: method,
                path: "/v1/apps/\(app)/backfill",
                query: [QueryItem(name: "environment", value: environment.rawValue)]
            )
        }
    }

    /// Returns a run's progress in one line.
    static func sentence(_ run: JSONValue) -> String {
        let store = run["store"]?.string == "googlePlay" ? " Google Play" : ""
        let name = (run["environment"]?.string ?? "") + store
        let steps = run["steps"]?.object ?? JSONObject()
        func sum(_ field: String) -> Int64 {
            steps.reduce(0) { $0 + ($1.value[field]?.int64 ?? 0) }
        }
        var words = "\(name): \(run["status"]?.string ?? "")"
        if run["status"]?.string == "running", let step = run["step"]?.string {
            words += ", \(step)"
        }
        words += "; pages \(sum("pages")), items \(sum("items")), new facts \(sum("newFacts"))"
        if sum("refused") > 0 { words += ", rejected \(sum("refused"))" }
        if let until = steps["notifications"]?["until"]?.string {
            words += ", received until \(until)"
        }
        if let detail = run["stopped"]?["detail"]?.string {
            words += "\n" + TextLayout.visible(detail)
        }
        return words
    }
}

extension AdminClient {
    /// Runs a backfill, on the server or in a service of the command's own. Returns the last run of
    /// each store that can be queried. Calls `telling` with each progress report.
    fileprivate func run(
        backfill question: Backfill.Question,
        telling: (JSONValue) -> Void
    ) async throws -> [JSONValue] {
        // A running server only starts the backfill; the loop polls its progress. If no server has
        // the database open, the command does the work itself.
        var answer = JSONValue(
            try await run(question.request("POST")) { service in
                await service.backfillNow(app: question.app, environment: question.environment)
            }
        )
        var told: [JSONValue] = []
        while answer["wanted"]?.bool == true || !answer.runsUnderWay.isEmpty {
            for run in answer.runsUnderWay where !told.contains(run) { telling(run) }
            told = answer.runsUnderWay
            try await Task.sleep(for: .seconds(1))
            answer = JSONValue(try await run(question.request("GET")))
        }
        return answer.runs
    }
}

extension JSONValue {
    /// The current or last run of each store.
    fileprivate var runs: [JSONValue] {
        ["last", "googlePlay"].compactMap { self[$0] }.filter { $0 != .null }
    }

    fileprivate var runsUnderWay: [JSONValue] {
        runs.filter { $0["status"]?.string == "running" }
    }
}
