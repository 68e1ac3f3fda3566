import TideoverCore
import TideoverStorage

/// Writes the audit lines of a change that is requested from a store.
struct StoreActionJournal: Sendable {
    let context: AppContext
    let environment: Environment
    /// The name of the operator's key; nil for the server itself.
    let presenter: String?

    private var app: App { context.app }

    /// The requested change, its purchase, and the reason.
    struct Subject: Sendable {
        let action: String
        let detail: String
        var purchase: ActedPurchase?
        let why: String
    }

    /// Writes one line; a line with a name is written once.
    ///
    /// - Throws: `StorageError`.
    func write(
        _ outcome: AuditEntry.StoreChange.Outcome,
        of subject: Subject,
        code: String? = nil,
        name: String? = nil
    ) async throws(StorageError) {
        let now = context.clock()
        let entry = AuditEntry(
            .storeAction,
            customer: subject.purchase?.owner,
            lineage: subject.purchase?.lineage.key,
            actor: presenter == nil ? .server : .operator,
            by: presenter,
            why: subject.why,
            at: now,
            name: name,
            change: AuditEntry.StoreChange(
                action: subject.action,
                detail: subject.detail,
                outcome: outcome,
                code: code
            )
        )
        let commitRequest = CommitRequest(
            app: app.id,
            environment: environment,
            audit: [entry],
            now: now
        )
        _ = try await context.commit(commitRequest)
        context.metrics.count(.storeActions, app.id, subject.action, outcome.rawValue)
        context.log(
            outcome == .unknown ? .warning : .info,
            "store action",
            in: environment,
            code: code ?? outcome.rawValue,
            detail: subject.action
        )
    }
}
