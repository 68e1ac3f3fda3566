import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Answers `GET /v1/reports/drift`: a row for each environment of each app.
struct DriftReportRoute {
    let apps: [App]
    let storage: any Storage
    let clock: Clock
    let longReads: LongReads

    func respond() async throws -> Response {
        let storage = storage
        var writer = JSONWriter()
        try await writer.report(of: apps, at: clock()) { app, environment in
            let report = try await longReads.read(of: app.id) { read in
                try DriftReport(app.id, environment, in: storage, read)
            }
            return { report.writeFields(to: &$0) }
        }
        return .json(bytes: writer.bytes, headers: ["Cache-Control": "private, no-store"])
    }
}

extension DriftReport {
    /// Reads the storage page by page; it blocks its thread.
    init(
        _ app: String,
        _ environment: Environment,
        in storage: any Storage,
        _ read: LongRead
    ) throws {
        let pageLength = 200
        var report = Self()
        var last: Drift?
        while true {
            try read.goOn()
            let page = try storage.drift(
                app: app,
                environment: environment,
                after: last,
                limit: pageLength
            )
            for drift in page { report.add(drift) }
            last = page.last
            guard page.count == pageLength else { break }
        }
        self = report
    }
}

extension JSONWriter {
    /// Writes a report with a row for each environment of each app.
    mutating func report(
        of apps: [App],
        at now: Instant,
        row: (App, Environment) async throws -> (inout JSONWriter) -> Void
    ) async throws {
        var rows: [(App, Environment, (inout JSONWriter) -> Void)] = []
        for app in apps {
            for environment in app.environments {
                rows.append((app, environment, try await row(app, environment)))
            }
        }
        object { writer in
            writer.field("asOf", now.rfc3339)
            writer.field(
                "rows",
                array: { writer in
                    for (app, environment, write) in rows {
                        writer.object { writer in
                            writer.field("app", app.id)
                            writer.field("environment", environment.rawValue)
                            write(&writer)
                        }
                    }
                }
            )
        }
    }
}
