import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Answers `GET /v1/reports/lockouts`: a row for each environment of each app, over all purchases
/// and their entitlements, in total and by version of the policy.
struct LockoutReportRoute {
    let contexts: [AppContext]
    let now: Instant

    func respond() async throws -> Response {
        let now = now
        var writer = JSONWriter()
        try await writer.report(of: contexts, at: now) { context, environment in
            let sum = try await context.longRead { read in
                try LockoutSum(context, environment, until: now, read)
            }
            let history = context.app.policyHistory(in: environment)
            return { sum.writeFields(of: history, to: &$0) }
        }
        return .json(bytes: writer.bytes, headers: ["Cache-Control": "private, no-store"])
    }
}

extension LockoutSum {
    /// Reads the storage page by page; it blocks its thread.
    init(
        _ context: AppContext,
        _ environment: Environment,
        until now: Instant,
        _ read: LongRead
    ) throws {
        self.init()
        var sum = self
        let (app, storage) = (context.app, context.storage)
        let history = app.policyHistory(in: environment)
        try storage.eachLineageRecord(in: AppScope(app.id, environment)) { lineageRecord in
            try read.goOn()
            let entitlements = history.catalogue.entitlements(namedIn: lineageRecord.facts)
            sum.add(
                entitlements.map { entitlement in
                    Lockouts(
                        lineage: lineageRecord.lineage,
                        facts: lineageRecord.facts,
                        entitlement: entitlement,
                        until: now,
                        catalogue: history.catalogue,
                        policy: history.policy
                    )
                }
            )
        }
        self = sum
    }
}
