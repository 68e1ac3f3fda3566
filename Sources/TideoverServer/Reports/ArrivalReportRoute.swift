import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Answers `GET /v1/reports/arrival`: a row for each environment of each app in each of its stores.
struct ArrivalReportRoute {
    let apps: [App]
    let storage: any Storage
    let clock: Clock
    let longReads: LongReads

    func respond() async throws -> Response {
        let now = clock()
        var rows: [ArrivalReport] = []
        for app in apps {
            for environment in app.environments {
                for store in app.stores {
                    let (id, storage) = (app.id, storage)
                    rows.append(
                        try await longReads.read(of: id) { read in
                            try ArrivalReport(
                                app: id,
                                environment: environment,
                                store: store,
                                in: storage,
                                read
                            )
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
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("asOf", now.rfc3339)
            writer.field(
                "rows",
                array: { writer in
                    for row in rows { writer.object { row.writeFields(to: &$0) } }
                }
            )
        }
        return writer.bytes
    }
}
