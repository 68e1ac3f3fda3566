import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Answers `GET /v1/reports/lockouts`: a row for each environment of each app, over all purchases
/// and their entitlements, in total and by version of the policy.
struct LockoutReportRoute {
    let apps: [App]
    let storage: any Storage
    let clock: Clock
    let longReads: LongReads

    func respond() async throws -> Response {
        let now = clock()
        let storage = storage
        var writer = JSONWriter()
        try await writer.report(of: apps, at: now) { app, environment in
            let sum = try await longReads.read(of: app.id) { read in
                try LockoutSum(app, environment, until: now, in: storage, read)
            }
            let history = app.policyHistory(in: environment)
            return { sum.writeFields(of: history, to: &$0) }
        }
        return .json(bytes: writer.bytes, headers: ["Cache-Control": "private, no-store"])
    }
}

extension LockoutSum {
    /// Reads the storage page by page; it blocks its thread.
    init(
        _ app: App,
        _ environment: Environment,
        until now: Instant,
        in storage: any Storage,
        _ read: LongRead
    ) throws {
        self.init()
        var sum = self
        let history = app.policyHistory(in: environment)
        try storage.eachLineageRecord(app: app.id, environment: environment) { lineageRecord in
            try read.goOn()
            for entitlement in history.catalogue.entitlements(namedIn: lineageRecord.facts) {
                sum.add(
                    Lockouts(
                        lineage: lineageRecord.lineage,
                        facts: lineageRecord.facts,
                        entitlement: entitlement,
                        until: now,
                        catalogue: history.catalogue,
                        policy: history.policy
                    )
                )
            }
        }
        self = sum
    }
}
