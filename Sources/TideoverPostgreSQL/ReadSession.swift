import TideoverCore
import TideoverStorage

/// Reads through one connection, each time in a transaction that cannot write.
final class ReadSession: StorageReader {
    let connection: Connection
    private let customers: CustomerQueries
    private let timeout: Int64
    private let idleTimeout: Int64

    init(_ address: PostgreSQLAddress, options: PostgreSQLOptions) throws(StorageError) {
        timeout = options.readTimeout
        idleTimeout = options.idleTimeout
        connection = try Connection(address, patience: timeout + PostgreSQLStorage.grace)
        customers = CustomerQueries(connection: connection)
    }

    var isUsable: Bool { connection.isUsable }

    /// Runs statements that see the same commits.
    func atOneInstant<Result>(
        _ body: (ReadSession) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        do {
            try connection.ask(SQL.beginReading)
            try connection.ask(SQL.limitTime, .text("\(timeout)"), .text("\(idleTimeout)"))
            let result = try body(self)
            try connection.ask(CommonSQL.commit)
            // The next use of the connection reads the answer: nothing depends on it.
            try connection.finishSending()
            return result
        } catch {
            if isUsable {
                try? connection.wait()
                try? connection.rollBack()
            }
            throw error
        }
    }

    func row(of customer: CustomerKey) throws(StorageError) -> CustomerRow? {
        try customers.row(of: customer)
    }

    func lineages(
        of customer: CustomerKey,
        now: Instant
    ) throws(StorageError) -> CustomerLineages? {
        let found = try customers.lineages(of: customer, now: now)
        return found.answer == nil && found.lineageRecords.isEmpty ? nil : found
    }

    func lineageRecord(_ lineage: Lineage, app: String) throws(StorageError) -> LineageRecord {
        let scope = AppScope(app, lineage.environment)
        return try customers.storedLineageRecord(lineage, in: scope)
    }

    // MARK: Evidence

    func evidence(_ id: EvidenceID, app: String) throws(StorageError) -> Evidence? {
        let answer = try connection.ask(SQL.evidence, .text(app), .text(id.hex))
        return try pieces(answer) { _ in id }.first
    }

    func evidence(
        in scope: AppScope,
        after: EvidenceID?,
        limit: Int
    ) throws(StorageError) -> [Evidence] {
        let answer = try connection.ask(
            CommonSQL.evidenceAfter,
            .text(scope.app),
            .text(after?.hex ?? ""),
            .text(scope.environment.rawValue),
            .limit(limit)
        )
        return try pieces(answer)
    }

    func evidence(
        in scope: AppScope,
        keyed prefix: String,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [Evidence] {
        let answer = try connection.ask(
            CommonSQL.evidenceKeyed,
            in: scope,
            .text(after ?? prefix),
            .text(prefix.behindPrefix),
            .limit(limit)
        )
        return try pieces(answer)
    }

    /// Reads pieces of evidence, and their headers in one more round trip.
    func pieces(
        _ answer: Answer,
        id: (Row) -> EvidenceID = { EvidenceID(hex: $0.text(5)) }
    ) throws(StorageError) -> [Evidence] {
        let found = try answer.all { row throws(StorageError) in
            guard let source = Source(rawValue: row.text(1)) else {
                throw rows.damaged("evidence has an unknown source")
            }
            return StoredPiece(
                id: id(row),
                dedupeKey: row.text(0),
                source: source,
                signedAt: row.optionalInstant(2),
                receivedAt: row.instant(3),
                form: try form(row.bytes(4))
            )
        }
        var texts: [HeaderFingerprint: Answer] = [:]
        for fingerprint in found.flatMap(\.form.fingerprints) where texts[fingerprint] == nil {
            texts[fingerprint] = try connection.ask(CommonSQL.header, .bytes(fingerprint.bytes))
        }
        var headers: [HeaderFingerprint: [UInt8]] = [:]
        for (fingerprint, answer) in texts {
            headers[fingerprint] = try answer.first { $0.bytes(0) }
        }
        var pieces: [Evidence] = []
        for piece in found { pieces.append(try evidence(piece, headers)) }
        return pieces
    }

    /// A piece of evidence without the headers that complete its bytes.
    private struct StoredPiece {
        let id: EvidenceID
        let dedupeKey: String
        let source: Source
        let signedAt: Instant?
        let receivedAt: Instant
        let form: EvidenceForm
    }

    private func form(_ encoded: [UInt8]) throws(StorageError) -> EvidenceForm {
        do {
            return try EvidenceForm(encoded: encoded)
        } catch {
            throw rows.damaged("evidence cannot be put together: \(error)")
        }
    }

    private func evidence(
        _ piece: StoredPiece,
        _ headers: [HeaderFingerprint: [UInt8]]
    ) throws(StorageError) -> Evidence {
        let received: [UInt8]
        do {
            received = try piece.form.received(headers: headers)
        } catch {
            throw rows.damaged("evidence cannot be put together: \(error)")
        }
        guard EvidenceID(of: received) == piece.id else {
            throw rows.damaged("evidence no longer has its digest")
        }
        return Evidence(
            id: piece.id,
            dedupeKey: piece.dedupeKey,
            source: piece.source,
            signedAt: piece.signedAt,
            receivedAt: piece.receivedAt,
            bytes: received
        )
    }

    // MARK: Lineages

    func lineages(
        in scope: AppScope,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [LineageRecord] {
        var keys: [String] = []
        while keys.count < limit {
            let last = keys.last ?? after ?? ""
            let answer = try connection.ask(SQL.lineageAfter, in: scope, .text(last))
            guard let next = try answer.first({ $0.text(0) }) else { break }
            keys.append(next)
        }
        return try customers.storedLineageRecords(keys, in: scope)
    }

    func lineageRecords(
        named name: PurchaseName,
        app: String,
        limit: Int
    ) throws(StorageError) -> [LineageRecord] {
        let answer = try connection.ask(
            CommonSQL.named,
            .text(app),
            .text(name.kind),
            .text(name.text),
            .limit(limit)
        )
        let found = try answer.all { row throws(StorageError) in
            guard let environment = Environment(rawValue: row.text(0)) else {
                throw rows.damaged("a purchase has no environment")
            }
            return (AppScope(app, environment), row.text(1))
        }
        var records: [LineageRecord] = []
        for (scope, key) in found {
            records += try customers.storedLineageRecords([key], in: scope)
        }
        return records
    }

    func unclaimed(
        in scope: AppScope,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [LineageRecord] {
        let answer = try connection.ask(
            CommonSQL.unclaimed,
            in: scope,
            .text(after ?? ""),
            .limit(limit)
        )
        return try customers.storedLineageRecords(answer.all { $0.text(0) }, in: scope)
    }

    func unclaimedCount(in scope: AppScope, limit: Int) throws(StorageError) -> Int {
        let answer = try connection.ask(SQL.unclaimedCount, in: scope, .limit(limit))
        return try answer.first { Int($0.integer(0)) } ?? 0
    }

    // MARK: Customers

    func drift(of customer: CustomerKey, limit: Int) throws(StorageError) -> [Drift] {
        try customers.drift(of: customer, limit: limit)
    }

    func drift(
        in scope: AppScope,
        after: Drift?,
        limit: Int
    ) throws(StorageError) -> [Drift] {
        try customers.drift(scope, after: after, limit: limit)
    }

    func identity(of customer: CustomerKey) throws(StorageError) -> CustomerIdentity {
        try customers.identity(of: customer)
    }

    func customers(
        in scope: AppScope,
        prefix: String,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [ListedCustomer] {
        try customers.list(scope, prefix: prefix, after: after, limit: limit)
    }

    func customers(
        in scope: AppScope,
        email: EmailAddress,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [ListedCustomer] {
        try customers.list(scope, email: email, after: after, limit: limit)
    }

    func due(
        in scope: AppScope,
        now: Instant,
        limit: Int
    ) throws(StorageError) -> DueReading {
        let next = try connection.ask(CommonSQL.nextDue, in: scope, .instant(now))
        let due = try connection.ask(CommonSQL.dueCount, in: scope, .instant(now), .limit(limit))
        let instant = try next.first { $0.optionalInstant(0) } ?? nil
        let found = try due.first { (Int($0.integer(0)), $0.optionalInstant(1)) }
        return DueReading(count: found?.0 ?? 0, oldest: found?.1, next: instant)
    }

    // MARK: Audit and events

    func audit(
        app: String,
        customer: CustomerKey?,
        after: EventID?,
        limit: Int
    ) throws(StorageError) -> [AuditRecord] {
        let after = SQLValue.text(after?.description ?? "")
        guard let customer else {
            let answer = try connection.ask(CommonSQL.audit, .text(app), after, .limit(limit))
            return try answer.all(rows.auditRecord)
        }
        var found: [EventID: AuditRecord] = [:]
        for id in try customers.identity(of: customer).all {
            let answer = try connection.ask(
                SQL.auditOf,
                in: customer.scope,
                .text(id.text),
                after,
                .limit(limit)
            )
            for line in try answer.all(rows.auditRecord) { found[line.id] = line }
        }
        return Array(found.values.sorted { $0.id < $1.id }.prefix(max(0, limit)))
    }

    func outbox(
        app: String,
        after: EventID?,
        limit: Int
    ) throws(StorageError) -> [OutboxEvent] {
        let answer = try connection.ask(
            SQL.outbox,
            .text(app),
            .text(after?.description ?? ""),
            .limit(limit)
        )
        return try answer.all { row throws(StorageError) in try rows.event(row, of: app) }
    }

    func latestEvents(app: String, limit: Int) throws(StorageError) -> [OutboxEvent] {
        let answer = try connection.ask(SQL.latestEvents, .text(app), .limit(limit))
        return try answer.all { row throws(StorageError) in
            try rows.event(row, of: app)
        }.reversed()
    }

    // MARK: Everything else

    func records(
        in scope: AppScope,
        from place: RecordPlace,
        limit: Int
    ) throws(StorageError) -> RecordPage {
        let queries = RecordQueries(connection: connection, scope: scope, limit: limit)
        var place = place
        while true {
            let found = try queries.page(from: place) { answer throws(StorageError) in
                try pieces(answer)
            }
            if !found.records.isEmpty { return found }
            guard let kind = place.kind.next else { return found }
            place = RecordPlace(kind)
        }
    }

    func bookmark(_ key: BookmarkKey) throws(StorageError) -> [UInt8]? {
        let answer = try connection.ask(CommonSQL.bookmark, in: key.scope, .text(key.name))
        return try answer.first { $0.bytes(0) }
    }

    func bookmarks(
        in scope: AppScope,
        prefix: String
    ) throws(StorageError) -> [String: [UInt8]] {
        let found = try connection.ask(
            CommonSQL.bookmarks,
            in: scope,
            .text(prefix),
            .text(prefix.behindPrefix)
        ).all { ($0.text(0), $0.bytes(1)) }
        return Dictionary(uniqueKeysWithValues: found)
    }

    func attributes(of customer: CustomerKey) throws(StorageError) -> [CustomerAttribute] {
        try connection.attributes(of: customer)
    }

    func sharedChanges() throws(StorageError) -> SharedChanges? {
        try connection.ask(SQL.sharedChanges).first {
            SharedChanges(keys: $0.integer(0), policyVersions: $0.integer(1))
        }
    }

    func servers() throws(StorageError) -> [ServerRecord] {
        let answer = try connection.ask(
            SQL.servers,
            .integer(PostgreSQLStorage.serverLifetime)
        )
        return try answer.all {
            ServerRecord(id: $0.text(0), version: $0.text(1), configuration: $0.text(2))
        }
    }

    /// Returns the mark of the latest announcement of a server; nil if it has none.
    func announcement(of server: String) throws(StorageError) -> Int64? {
        try connection.ask(SQL.announcement, .text(server)).first { $0.integer(0) }
    }

    func counts(app: String) throws(StorageError) -> [Tally: Int64] {
        let found = try connection.ask(CommonSQL.tallies, .text(app)).all(rows.tally)
        // Names that differ only in the encoding of their accents are merged.
        return Dictionary(found, uniquingKeysWith: +)
    }

    func keys() throws(StorageError) -> [KeyRecord] {
        try connection.ask(CommonSQL.keys).all(rows.key)
    }

    func policyVersions(in scope: AppScope) throws(StorageError) -> [PolicyVersion] {
        try connection.ask(CommonSQL.policyVersions, in: scope).all { $0.policyVersion }
    }

    private var rows: StoredRowReader { connection.rows }
}
