import TideoverCore
import TideoverHTTP
import TideoverJSON

/// Answers `POST /v1/apps/{app}/backfill`, which has the store asked soon, and `GET`, which tells how
/// far that has come.
struct BackfillRoute {
    let app: App
    let backfillers: [Backfiller]

    func begin(_ request: Request) throws -> Response {
        let backfiller = try backfiller(askedIn: request)
        backfiller.want()
        return tell(backfiller, status: 202)
    }

    func tell(_ request: Request) throws -> Response {
        tell(try backfiller(askedIn: request), status: 200)
    }

    private func backfiller(askedIn request: Request) throws -> Backfiller {
        let environment = try app.environment(askedIn: request)
        guard let backfiller = backfillers.first(app.id, environment) else {
            throw Problem.storeCannotBeAsked(app.id, environment)
        }
        return backfiller
    }

    private func tell(_ backfiller: Backfiller, status: Int) -> Response {
        var response = Response.json(
            bytes: Self.answer(backfiller.report, isWanted: backfiller.isWanted),
            headers: ["Cache-Control": "private, no-store"]
        )
        response.status = status
        return response
    }

    static func answer(_ report: BackfillReport?, isWanted: Bool) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("wanted", isWanted)
            writer.key("last")
            if let report { report.write(to: &writer) } else { writer.null() }
        }
        return writer.bytes
    }
}

extension [Backfiller] {
    func first(_ app: String, _ environment: Environment) -> Backfiller? {
        first { $0.app.id == app && $0.environment == environment }
    }
}

extension Problem {
    static func storeCannotBeAsked(_ app: String, _ environment: Environment) -> Problem {
        Problem(
            "store-cannot-be-asked",
            status: 409,
            title: "The App Store cannot be asked.",
            detail:
                "It takes `appStore.issuerId`, `keyId` and `privateKeyFile` of the app, and for the "
                + "environment simulated also `simulatedStore.url`.",
            members: ["app": .string(app), "environment": .string(environment.rawValue)]
        )
    }
}
