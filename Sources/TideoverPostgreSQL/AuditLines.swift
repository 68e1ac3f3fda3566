import TideoverCore
import TideoverStorage

/// Writes audit entries in a transaction that has locked the app.
struct AuditLines {
    let connection: Connection
    let random: @Sendable () -> UInt64

    /// Writes an entry, unless its name exists. Further refused claims to one purchase share a
    /// counted entry.
    func write(
        _ entry: AuditEntry?,
        _ commitRequest: CommitRequest,
        _ ids: inout LatestIDs
    ) throws(StorageError) {
        guard let entry else { return }
        guard let refusals = entry.refusals, try isNews(entry, commitRequest) else {
            return try insert(entry, commitRequest, &ids)
        }
        let answer = try connection.ask(
            SQL.auditNamedBetween,
            in: commitRequest.scope,
            .text(refusals.after),
            .text(refusals.before),
            .integer(Int64(AuditEntry.mostRefusals))
        )
        let known = try answer.first { Int($0.integer(0)) } ?? 0
        guard known >= AuditEntry.mostRefusals else {
            return try insert(entry, commitRequest, &ids)
        }
        if try !countOne(more: entry.counted, commitRequest) {
            try insert(entry.counted, commitRequest, &ids)
        }
    }

    private func isNews(
        _ entry: AuditEntry,
        _ commitRequest: CommitRequest
    ) throws(StorageError) -> Bool {
        guard let name = entry.name else { return true }
        return try find(name, commitRequest) == nil
    }

    private func find(
        _ name: String,
        _ commitRequest: CommitRequest
    ) throws(StorageError) -> (id: String, form: [UInt8])? {
        try connection.ask(CommonSQL.auditNamed, in: commitRequest.scope, .text(name)).first {
            ($0.text(0), $0.bytes(1))
        }
    }

    /// Increments the counter of an entry; false if there is none.
    private func countOne(
        more entry: AuditEntry,
        _ commitRequest: CommitRequest
    ) throws(StorageError) -> Bool {
        guard let name = entry.name, let found = try find(name, commitRequest) else { return false }
        var line = try AuditEntry.read(stored: found.form, place: connection.place)
        line.count = line.count.addingSaturated(1)
        try connection.ask(
            SQL.changeAudit,
            .text(commitRequest.app),
            .text(found.id),
            .bytes(line.storedForm)
        )
        return true
    }

    private func insert(
        _ entry: AuditEntry,
        _ commitRequest: CommitRequest,
        _ ids: inout LatestIDs
    ) throws(StorageError) {
        let id = try ids.next(in: commitRequest.app, at: commitRequest.now, random: random())
        try connection.ask(
            CommonSQL.insertAudit,
            .text(commitRequest.app),
            .text(id.description),
            .text(commitRequest.environment.rawValue),
            .text(entry.customer?.text ?? SQL.noCustomer),
            .optional(entry.other?.text),
            .optional(entry.name),
            .bytes(entry.storedForm)
        )
    }
}

/// The latest id of each app in one table, during a transaction that has locked the apps.
///
/// The latest row of an app is the only record of the ids that were used: it is never pruned.
struct LatestIDs {
    private var asked: [String: Answer] = [:]
    private var known: [String: EventID] = [:]

    /// Asks for the latest id of an app; the answer is read when an id is needed.
    mutating func ask(
        _ sql: StaticString,
        for app: String,
        on connection: Connection
    ) throws(StorageError) {
        asked[app] = try connection.ask(sql, .text(app))
    }

    /// Returns the id after all ids of the app, and records it as the latest one.
    mutating func next(
        in app: String,
        at now: Instant,
        random: UInt64
    ) throws(StorageError) -> EventID {
        if let answer = asked.removeValue(forKey: app) {
            known[app] = try answer.first { EventID($0.text(0)) } ?? nil
        }
        let id = EventID.next(after: known[app], at: now, random: random)
        known[app] = id
        return id
    }
}
