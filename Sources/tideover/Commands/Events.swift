import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer

/// `tideover events`: prints the feed of events as JSON Lines.
enum Events {
    private static let after = Parameter.option(
        "--after",
        "ID",
        "Start after this event; otherwise at the oldest one"
    )
    private static let limit = Parameter.option(
        "--limit",
        "N",
        "The maximum number; otherwise all",
        as: .integer(in: 1...Int(Int32.max))
    )
    private static let follow = Parameter.flag("--follow", "Wait for further events")

    /// The number of events per request.
    private static let page = 100

    static let command = Command(
        "events",
        summary: "write the feed of events as JSON Lines",
        examples: [
            Example("tideover events", "every event stored, oldest first"),
            Example("tideover events --follow", "and each further one, within a second"),
        ],
        parameters: [
            AppAdminClient.app, ConfigurationFile.parameter, after, limit, follow,
            AdminClient.server,
        ],
        notes: [
            "Each line is one event of GET /v1/apps/{app}/events. Pass its id to --after to "
                + "continue later.",
            AdminClient.note,
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let asked = try AppAdminClient(arguments, output)
        var last = arguments[after]
        var left = arguments[limit]
        while left != 0, output.results.condition == .open {
            let most = min(left ?? page, page)
            let answer = try await asked.adminClient.run(
                request(asked.app.id, after: last, limit: most),
                needsKey: asked.app.environments != [.simulated],
                onlyReads: true
            )
            let events = answer["events"]?.elements.map { $0 } ?? []
            for event in events { output.write(event.source + [UInt8(ascii: "\n")]) }
            last = answer["next"]?.string ?? last
            left = left.map { $0 - events.count }
            guard answer["more"]?.bool != true else { continue }
            guard arguments[follow] else { break }
            try await Task.sleep(for: .seconds(1))
        }
        return .success
    }

    private static func request(_ app: String, after: String?, limit: Int) -> Request {
        Request(
            path: "/v1/apps/\(app)/events",
            query: [QueryItem(name: "limit", value: "\(limit)")]
                + [after.map { QueryItem(name: "after", value: $0) }].compactMap(\.self)
        )
    }
}
