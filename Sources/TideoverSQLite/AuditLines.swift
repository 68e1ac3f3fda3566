import TideoverCore
import TideoverStorage

/// Writes audit entries through the writing connection.
final class AuditLines {
    private let latest: Statement
    private let rows: RowWriter
    private let named: Statement
    private let namedBetween: Statement
    private let change: Statement
    private let place: String
    private let random: @Sendable () -> UInt64

    init(
        _ connection: Connection,
        _ rows: RowWriter,
        random: @escaping @Sendable () -> UInt64
    ) throws(StorageError) {
        latest = try Statement(CommonSQL.latestAudit, on: connection)
        self.rows = rows
        named = try Statement(CommonSQL.auditNamed, on: connection)
        namedBetween = try Statement(SQL.auditNamedBetween, on: connection)
        change = try Statement(SQL.changeAudit, on: connection)
        place = connection.place
        self.random = random
    }

    /// Writes an entry, unless its name exists. Further refused claims to one purchase share a
    /// counted entry.
    func write(_ entry: AuditEntry?, _ commitRequest: CommitRequest) throws(StorageError) {
        guard let entry else { return }
        guard let refusals = entry.refusals, try isNews(entry, commitRequest) else {
            return try insert(entry, commitRequest)
        }
        let known = try namedBetween.first(
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
        try named.first(in: commitRequest.scope, .text(name)) { ($0.text(0), $0.bytes(1)) }
    }

    /// Increments the counter of an entry; false if there is none.
    private func countOne(more entry: AuditEntry, _ commitRequest: CommitRequest)
        throws(StorageError) -> Bool
    {
        guard let name = entry.name, let found = try find(name, commitRequest) else { return false }
        var line = try AuditEntry.read(stored: found.form, place: place)
        line.count = line.count.addingSaturated(1)
        try change.run(.text(commitRequest.app), .text(found.id), .utf8(line.storedForm))
        return true
    }

    private func insert(_ entry: AuditEntry, _ commitRequest: CommitRequest) throws(StorageError) {
        let former = try latest.first(.text(commitRequest.app)) { EventID($0.text(0)) }
        let id = EventID.next(after: former ?? nil, at: commitRequest.now, random: random())
        try rows.insert(entry, id, in: commitRequest.scope)
    }
}
