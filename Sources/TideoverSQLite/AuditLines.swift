import TideoverCore
import TideoverStorage

/// Writes audit entries through the writing connection.
struct AuditLines {
    let statements: Statements
    let rows: RowWriter
    let random: @Sendable () -> UInt64

    /// Writes an entry, unless its name exists. Further refused claims to one purchase share a
    /// counted entry.
    func write(_ entry: AuditEntry?, _ commitRequest: CommitRequest) throws(StorageError) {
        guard let entry else { return }
        guard let refusals = entry.refusals, try isNews(entry, commitRequest) else {
            return try insert(entry, commitRequest)
        }
        let known = try statements[SQL.auditNamedBetween].first(
            in: commitRequest.scope,
            .text(refusals.after),
            .text(refusals.before),
            .integer(Int64(AuditEntry.mostRefusals))
        ) { Int($0.integer(0)) }
        guard let known, known >= AuditEntry.mostRefusals else {
            return try insert(entry, commitRequest)
        }
        if try !countOne(more: entry.counted, commitRequest) {
            try insert(entry.counted, commitRequest)
        }
    }

    private func isNews(_ entry: AuditEntry, _ commitRequest: CommitRequest) throws(StorageError)
        -> Bool
    {
        guard let name = entry.name else { return true }
        return try find(name, commitRequest) == nil
    }

    private func find(
        _ name: String,
        _ commitRequest: CommitRequest
    ) throws(StorageError) -> (id: String, form: [UInt8])? {
        try statements[CommonSQL.auditNamed].first(in: commitRequest.scope, .text(name)) {
            ($0.text(0), $0.bytes(1))
        }
    }

    /// Increments the counter of an entry; false if there is none.
    private func countOne(more entry: AuditEntry, _ commitRequest: CommitRequest)
        throws(StorageError) -> Bool
    {
        guard let name = entry.name, let found = try find(name, commitRequest) else { return false }
        var line = try AuditEntry.read(stored: found.form, place: statements.connection.place)
        line.count = line.count.addingSaturated(1)
        try statements[SQL.changeAudit].run(
            .text(commitRequest.app),
            .text(found.id),
            .utf8(line.storedForm)
        )
        return true
    }

    private func insert(_ entry: AuditEntry, _ commitRequest: CommitRequest) throws(StorageError) {
        let former = try statements[CommonSQL.latestAudit].first(.text(commitRequest.app)) {
            EventID($0.text(0))
        }
        let id = EventID.next(after: former ?? nil, at: commitRequest.now, random: random())
        try rows.insert(entry, id, in: commitRequest.scope)
    }
}
