import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Answers `GET /v1/reports/arrival`: a row for each environment of each app in each of its stores.
struct ArrivalReportRoute {
    let contexts: [AppContext]
    let now: Instant

    func respond() async throws -> Response {
        var rows: [ArrivalReport] = []
        for context in contexts {
            for environment in context.app.environments {
                for store in context.app.stores {
                    rows.append(
                        try await context.longRead { read in
                            try ArrivalReport(context, environment, store, read)
                        }
                    )
                }
            }
        }
        return .json(
            bytes: Self.answer(rows, at: now),
            headers: ["Cache-Control": "private, no-store"]
        )
    }

    private static func answer(_ rows: [ArrivalReport], at now: Instant) -> [UInt8] {
        JSONWriter.object { writer in
            writer.field("asOf", now.rfc3339)
            writer.field("rows", objects: rows) { $0.writeFields(to: &$1) }
        }
    }
}
