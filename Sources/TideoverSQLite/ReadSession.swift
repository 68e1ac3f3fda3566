import TideoverCore
import TideoverStorage

/// Reads through one connection that cannot write.
final class ReadSession: StorageReader {
    let connection: Connection
    let statements: Statements
    private let customers: CustomerQueries

    init(path: String, access: Connection.Access, busyTimeout: Int32) throws(StorageError) {
        connection = try Connection(path: path, access: access, busyTimeout: busyTimeout)
        try connection.execute(
            """
            PRAGMA query_only = ON;
            PRAGMA mmap_size = 0;
            PRAGMA cell_size_check = ON;
            PRAGMA trusted_schema = OFF;
            """
        )
        statements = Statements(connection)
        customers = CustomerQueries(statements)
        // Opens the log, which SQLite finds by its name: later another file may have that name.
        _ = try statements[CommonSQL.customer]
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
        try customers.storedLineageRecord(lineage, in: AppScope(app, lineage.environment))
    }

    func evidence(_ id: EvidenceID, app: String) throws(StorageError) -> Evidence? {
        try statements[SQL.evidence].first(.text(app), .text(id.hex)) { row throws(StorageError) in
            try piece(row, id)
        }
    }

    func evidence(
        in scope: AppScope,
        after: EvidenceID?,
        limit: Int
    ) throws(StorageError) -> [Evidence] {
        try statements[CommonSQL.evidenceAfter].all(
            .text(scope.app),
            .text(after?.hex ?? ""),
            .text(scope.environment.rawValue),
            .limit(limit)
        ) { row throws(StorageError) in
            try piece(row, EvidenceID(hex: row.text(5)))
        }
    }

    func evidence(
        in scope: AppScope,
        keyed prefix: String,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [Evidence] {
        try statements[CommonSQL.evidenceKeyed].all(
            in: scope,
            .text(after ?? prefix),
            .text(prefix.behindPrefix),
            .limit(limit)
        ) { row throws(StorageError) in
            try piece(row, EvidenceID(hex: row.text(5)))
        }
    }

    private func piece(_ row: Row, _ id: EvidenceID) throws(StorageError) -> Evidence {
        guard let source = Source(rawValue: row.text(1)) else {
            throw rows.damaged("evidence has an unknown source")
        }
        return Evidence(
            id: id,
            dedupeKey: row.text(0),
            source: source,
            signedAt: row.optionalInstant(2),
            receivedAt: row.instant(3),
            bytes: try received(row.bytes(4), id)
        )
    }

    func lineages(
        in scope: AppScope,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [LineageRecord] {
        var lineageRecords: [LineageRecord] = []
        var key = after ?? ""
        while lineageRecords.count < limit,
            let next = try statements[SQL.lineageAfter].first(
                in: scope,
                .text(key),
                read: { $0.text(0) }
            )
        {
            lineageRecords.append(
                try customers.storedLineageRecord(next, in: scope)
            )
            key = next
        }
        return lineageRecords
    }

    func lineageRecords(
        named name: PurchaseName,
        app: String,
        limit: Int
    ) throws(StorageError) -> [LineageRecord] {
        let found = try statements[CommonSQL.named].all(
            .text(app),
            .text(name.kind),
            .text(name.text),
            .limit(limit)
        ) { row throws(StorageError) in
            guard let environment = Environment(rawValue: row.text(0)) else {
                throw rows.damaged("a purchase has no environment")
            }
            return (environment, row.text(1))
        }
        return try found.map { environment, lineage throws(StorageError) in
            try customers.storedLineageRecord(lineage, in: AppScope(app, environment))
        }
    }

    func drift(of customer: CustomerKey, limit: Int) throws(StorageError) -> [Drift] {
        try customers.drift(of: customer, limit: limit)
    }

    func drift(
        in scope: AppScope,
        after: Drift?,
        limit: Int
    ) throws(StorageError) -> [Drift] {
        try customers.drift(in: scope, after: after, limit: limit)
    }

    func identity(of customer: CustomerKey) throws(StorageError) -> CustomerIdentity {
        try customers.identity(of: customer)
    }

    func audit(
        app: String,
        customer: CustomerKey?,
        after: EventID?,
        limit: Int
    ) throws(StorageError) -> [AuditRecord] {
        let (after, most) = (after?.description ?? "", Int64(max(0, limit)))
        guard let customer else {
            return try statements[CommonSQL.audit].all(
                .text(app),
                .text(after),
                .integer(most),
                read: rows.auditRecord
            )
        }
        var found: [EventID: AuditRecord] = [:]
        for id in try customers.identity(of: customer).all {
            let lines = try statements[SQL.auditOf].all(
                .text(app),
                .text(customer.environment.rawValue),
                .text(id.text),
                .text(after),
                .integer(most),
                read: rows.auditRecord
            )
            for line in lines { found[line.id] = line }
        }
        return Array(found.values.sorted { $0.id < $1.id }.prefix(max(0, limit)))
    }

    func unclaimed(
        in scope: AppScope,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [LineageRecord] {
        let found = try statements[CommonSQL.unclaimed].all(
            in: scope,
            .text(after ?? ""),
            .limit(limit)
        ) { $0.text(0) }
        return try found.map { lineage throws(StorageError) in
            try customers.storedLineageRecord(lineage, in: scope)
        }
    }

    func customers(
        in scope: AppScope,
        prefix: String,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [ListedCustomer] {
        try customers.list(in: scope, prefix: prefix, after: after, limit: limit)
    }

    func customers(
        in scope: AppScope,
        email: EmailAddress,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [ListedCustomer] {
        try customers.list(in: scope, email: email, after: after, limit: limit)
    }

    func unclaimedCount(
        in scope: AppScope,
        limit: Int
    ) throws(StorageError) -> Int {
        try statements[SQL.unclaimedCount].first(in: scope, .limit(limit)) { Int($0.integer(0)) }
            ?? 0
    }

    func records(
        in scope: AppScope,
        from place: RecordPlace,
        limit: Int
    ) throws(StorageError) -> RecordPage {
        var place = place
        while true {
            let found = try RecordQueries(statements: statements).page(
                in: scope,
                from: place,
                limit: limit
            ) {
                row throws(StorageError) in
                try piece(row, EvidenceID(hex: row.text(5)))
            }
            if !found.records.isEmpty { return found }
            guard let kind = place.kind.next else { return found }
            place = RecordPlace(kind)
        }
    }

    func bookmark(_ key: BookmarkKey) throws(StorageError) -> [UInt8]? {
        try statements[CommonSQL.bookmark].first(in: key.scope, .text(key.name)) { $0.bytes(0) }
    }

    func bookmarks(
        in scope: AppScope,
        prefix: String
    ) throws(StorageError) -> [String: [UInt8]] {
        let found = try statements[CommonSQL.bookmarks].all(
            in: scope,
            .text(prefix),
            .text(prefix.behindPrefix)
        ) { ($0.text(0), $0.bytes(1)) }
        return Dictionary(uniqueKeysWithValues: found)
    }

    func outbox(
        app: String,
        after: EventID?,
        limit: Int
    ) throws(StorageError) -> [OutboxEvent] {
        try statements[SQL.outbox].all(
            .text(app),
            .text(after?.description ?? ""),
            .limit(limit)
        ) { row throws(StorageError) in try rows.event(row, of: app) }
    }

    func latestEvents(app: String, limit: Int) throws(StorageError) -> [OutboxEvent] {
        try statements[SQL.latestEvents].all(.text(app), .limit(limit)) {
            row throws(StorageError) in try rows.event(row, of: app)
        }.reversed()
    }

    func due(
        in scope: AppScope,
        now: Instant,
        limit: Int
    ) throws(StorageError) -> DueReading {
        let next = try statements[CommonSQL.nextDue].first(in: scope, .instant(now)) {
            $0.optionalInstant(0)
        }
        let found = try statements[CommonSQL.dueCount].first(
            in: scope,
            .instant(now),
            .limit(limit)
        ) {
            DueReading(
                count: Int($0.integer(0)),
                oldest: $0.optionalInstant(1),
                next: next ?? nil
            )
        }
        return found ?? DueReading(count: 0, oldest: nil, next: next ?? nil)
    }

    func counts(app: String) throws(StorageError) -> [Tally: Int64] {
        let found = try statements[CommonSQL.tallies].all(.text(app), read: rows.tally)
        // Names that differ only in the encoding of their accents are merged.
        return Dictionary(found, uniquingKeysWith: +)
    }

    func keys() throws(StorageError) -> [KeyRecord] {
        try statements[CommonSQL.keys].all(read: rows.key)
    }

    /// Nil: the lock of the file keeps other processes out.
    func sharedChanges() -> SharedChanges? { nil }

    func attributes(of customer: CustomerKey) throws(StorageError) -> [CustomerAttribute] {
        try statements.attributes(of: customer)
    }

    func policyVersions(
        in scope: AppScope
    ) throws(StorageError) -> [PolicyVersion] {
        try statements[CommonSQL.policyVersions].all(in: scope) {
            $0.policyVersion
        }
    }

    /// Returns the problems that the engine finds in the file; empty if it is sound.
    func problems(_ check: StaticString = SQL.check) throws(StorageError) -> [String] {
        do {
            let check = try Statement(check, on: connection)
            return try check.all { $0.text(0) }.filter { $0 != "ok" }
        } catch {
            // Damage can stop the check itself.
            guard error.reason == .corrupt else { throw error }
            return [error.detail]
        }
    }

    /// Answers questions that see the same commits.
    func atOneInstant<Answer>(
        _ questions: (any StorageReader) throws(StorageError) -> Answer
    ) throws(StorageError) -> Answer {
        try statements[SQL.beginReading].run()
        do {
            let answer = try questions(self)
            try statements[CommonSQL.commit].run()
            return answer
        } catch {
            if connection.isInTransaction { try? connection.execute(CommonSQL.rollBack) }
            throw error
        }
    }

    private func received(
        _ form: [UInt8],
        _ id: EvidenceID
    ) throws(StorageError) -> [UInt8] {
        let received: [UInt8]
        do {
            let form = try EvidenceForm(encoded: form)
            received = try form.received(headers: headers(form.fingerprints))
        } catch let error as StorageError {
            throw error
        } catch {
            throw rows.damaged("evidence cannot be put together: \(error)")
        }
        guard EvidenceID(of: received) == id else {
            throw rows.damaged("evidence no longer has its digest")
        }
        return received
    }

    private func headers(
        _ fingerprints: Set<HeaderFingerprint>
    ) throws(StorageError) -> [HeaderFingerprint: [UInt8]] {
        var texts: [HeaderFingerprint: [UInt8]] = [:]
        for fingerprint in fingerprints {
            texts[fingerprint] = try statements[CommonSQL.header].first(.bytes(fingerprint.bytes)) {
                $0.bytes(0)
            }
        }
        return texts
    }

    var rows: StoredRowReader { statements.rows }
}
