import TideoverCore
import TideoverHTTP
import TideoverJSON

/// Answers `POST /v1/apps/{app}/replay`, which requests a replay of the stored evidence, and `GET`,
/// which reports its progress and its findings.
struct ReplayRoute {
    let app: App
    let replayers: [Replayer]

    func begin(_ request: Request) throws -> Response {
        let replayer = try replayer(askedIn: request)
        replayer.want(apply: try request.flag("apply"))
        var response = Self.answer(replayer)
        response.status = 202
        return response
    }

    func tell(_ request: Request) throws -> Response {
        Self.answer(try replayer(askedIn: request))
    }

    private func replayer(askedIn request: Request) throws -> Replayer {
        let environment = try app.environment(askedIn: request)
        guard let replayer = replayers.first(app.id, environment) else {
            preconditionFailure("there is a replayer for every environment that is served")
        }
        return replayer
    }

    private static func answer(_ replayer: Replayer) -> Response {
        answer(
            replayer.report,
            isWanted: replayer.isWanted,
            isSetAside: replayer.isSetAside
        )
    }

    static func answer(
        _ report: ReplayReport?,
        isWanted: Bool,
        isSetAside: Bool = false
    ) -> Response {
        .json(headers: ["Cache-Control": "private, no-store"]) { writer in
            writer.field("wanted", isWanted)
            writer.field("setAside", isSetAside)
            writer.key("last")
            if let report { report.write(to: &writer) } else { writer.null() }
        }
    }
}

extension [Replayer] {
    func first(_ app: String, _ environment: Environment) -> Replayer? {
        first { $0.app.id == app && $0.environment == environment }
    }
}

extension Request {
    func flag(_ name: String) throws -> Bool {
        guard let text = queryValue(name) else { return false }
        guard let value = ["true": true, "false": false][text] else {
            throw Problem.badFlag(name, found: text)
        }
        return value
    }
}

extension Problem {
    fileprivate static func badFlag(_ parameter: String, found: String) -> Problem {
        Problem(
            "bad-flag",
            detail: "`\(parameter)` must be `true` or `false`.",
            members: ["parameter": .string(parameter), "found": .string(found)]
        )
    }
}
