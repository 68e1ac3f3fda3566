import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Answers `POST /v1/apps/{app}/replay`: what the stored evidence says by the rules of this version.
struct ReplayRoute {
    let app: App
    let storage: any Storage
    let clock: Clock

    func respond(to request: Request) async throws -> Response {
        let replay = Replay(
            app: app,
            environment: try app.environment(askedIn: request),
            storage: storage,
            clock: clock
        )
        let report = try await replay.run(apply: try request.flag("apply"))
        var writer = JSONWriter()
        report.write(to: &writer)
        return .json(bytes: writer.bytes, headers: ["Cache-Control": "private, no-store"])
    }
}

extension Request {
    fileprivate func flag(_ name: String) throws -> Bool {
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
            status: 400,
            title: "This is neither true nor false.",
            detail: "`\(parameter)` is `true` or `false`.",
            members: ["parameter": .string(parameter), "found": .string(found)]
        )
    }
}
