import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Answers `GET /v1/reports/drift`: a row for each environment of each app.
struct DriftReportRoute {
    let contexts: [AppContext]
    let now: Instant

    func respond() async throws -> Response {
        var writer = JSONWriter()
        try await writer.report(of: contexts, at: now) { context, environment in
            let report = try await context.longRead { read in
                try DriftReport(context, environment, read)
            }
            return { report.writeFields(to: &$0) }
        }
        return .json(bytes: writer.bytes, headers: ["Cache-Control": "private, no-store"])
    }
}

extension DriftReport {
    /// Reads the storage page by page; it blocks its thread.
    init(_ context: AppContext, _ environment: Environment, _ read: LongRead) throws {
        let pageLength = 200
        var report = Self()
        var last: Drift?
        while true {
            try read.goOn()
            let page = try context.storage.drift(
                in: AppScope(context.app.id, environment),
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
    /// Writes a report with a row for each environment of each app, or for one of them.
    mutating func report(
        of contexts: [AppContext],
        at now: Instant,
        in selected: Environment? = nil,
        row: (AppContext, Environment) async throws -> (inout JSONWriter) -> Void
    ) async throws {
        var rows: [(App, Environment, (inout JSONWriter) -> Void)] = []
        for context in contexts {
            for environment in context.app.environments
            where selected == nil || environment == selected {
                rows.append((context.app, environment, try await row(context, environment)))
            }
        }
        object { writer in
            writer.field("asOf", now.rfc3339)
            writer.field("rows", objects: rows) { row, writer in
                let (app, environment, write) = row
                writer.field("app", app.id)
                writer.field("environment", environment.rawValue)
                write(&writer)
            }
        }
    }
}
