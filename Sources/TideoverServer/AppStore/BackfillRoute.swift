import TideoverCore
import TideoverHTTP
import TideoverJSON

/// Answers `POST /v1/apps/{app}/backfill`, which requests a run soon, and `GET`, which reports its
/// progress.
struct BackfillRoute {
    let app: App
    let clients: StoreClients

    func begin(_ request: Request) throws -> Response {
        let books = try books(askedIn: request)
        for book in books { book.want() }
        return tell(books, status: 202)
    }

    func tell(_ request: Request) throws -> Response {
        tell(try books(askedIn: request), status: 200)
    }

    private func books(askedIn request: Request) throws -> [BackfillBook] {
        let environment = try app.environment(askedIn: request)
        let books = clients.books(app.id, environment)
        guard !books.isEmpty else { throw Problem.storeCannotBeAsked(app.id, environment) }
        return books
    }

    private func tell(_ books: [BackfillBook], status: Int) -> Response {
        var response = Response.json(
            bytes: Self.answer(books),
            headers: ["Cache-Control": "private, no-store"]
        )
        response.status = status
        return response
    }

    static func answer(_ books: [BackfillBook]) -> [UInt8] {
        func report(_ store: Store) -> BackfillReport? {
            books.first { $0.store == store }?.report
        }
        return JSONWriter.object { writer in
            writer.field("wanted", books.contains(where: \.isWanted))
            for (name, store) in [("last", Store.appStore), ("googlePlay", .googlePlay)] {
                writer.key(name)
                if let report = report(store) { report.write(to: &writer) } else { writer.null() }
            }
        }
    }
}

extension Problem {
    static func storeCannotBeAsked(_ app: String, _ environment: Environment) -> Problem {
        Problem(
            "store-cannot-be-asked",
            detail:
                "For the App Store set the app's `appStore.issuerId`, `keyId` and "
                + "`privateKeyFile`; for the environment simulated also `simulatedStore.url`; for "
                + "Google Play `googlePlay.serviceAccountFile`.",
            members: ["app": .string(app), "environment": .string(environment.rawValue)]
        )
    }
}
