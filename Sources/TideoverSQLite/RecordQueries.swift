import TideoverCore
import TideoverStorage

/// Reads all records of an app in an environment through one connection, a page of one kind at a
/// time.
final class RecordQueries {
    /// A smaller limit, because a piece of evidence can have megabytes.
    private static let mostEvidence = 32

    private let place: String
    private let evidence: Statement
    private let facts: Statement
    private let owners: Statement
    private let aliases: Statement
    private let attributes: Statement
    private let prompts: Statement
    private let drift: Statement
    private let events: Statement
    private let told: Statement
    private let audit: Statement
    private let bookmarks: Statement
    private let policies: Statement
    private let customers: Statement

    init(_ connection: Connection) throws(StorageError) {
        place = connection.place
        evidence = try Statement(CommonSQL.evidenceRecords, on: connection)
        facts = try Statement(SQL.factRecords, on: connection)
        owners = try Statement(CommonSQL.ownerRecords, on: connection)
        aliases = try Statement(CommonSQL.aliasRecords, on: connection)
        attributes = try Statement(CommonSQL.attributeRecords, on: connection)
        prompts = try Statement(CommonSQL.promptRecords, on: connection)
        drift = try Statement(CommonSQL.driftRecords, on: connection)
        events = try Statement(SQL.eventRecords, on: connection)
        told = try Statement(CommonSQL.toldRecords, on: connection)
        audit = try Statement(CommonSQL.auditRecords, on: connection)
        bookmarks = try Statement(CommonSQL.bookmarkRecords, on: connection)
        policies = try Statement(CommonSQL.policyRecords, on: connection)
        customers = try Statement(CommonSQL.customerRecords, on: connection)
    }

    /// Returns the records of the place's kind after that place; an empty list at the end.
    func page(
        in scope: AppScope,
        from place: RecordPlace,
        limit: Int,
        piece: (Row) throws(StorageError) -> Evidence
    ) throws(StorageError) -> RecordPage {
        RecordPage(try found(scope, place, limit, piece), of: place.kind)
    }

    private func found(
        _ scope: AppScope,
        _ place: RecordPlace,
        _ limit: Int,
        _ piece: (Row) throws(StorageError) -> Evidence
    ) throws(StorageError) -> [StoredRecordReader.Found] {
        let reader = StoredRecordReader(scope, self.place)
        let most = SQLValue.limit(limit)
        let first = SQLValue.text(place.text(0))
        let second = SQLValue.text(place.text(1))
        switch place.kind {
        case .evidence:
            let most = SQLValue.limit(min(limit, Self.mostEvidence))
            return try evidence.all(in: scope, first, second, most) { row throws(StorageError) in
                reader.evidence(try piece(row), row)
            }
        case .fact:
            let assertedAt = SQLValue.integer(place.integer(1))
            let identity = SQLValue.bytes(place.bytes(2))
            return try facts.all(in: scope, first, assertedAt, identity, most, read: reader.fact)
        case .owner:
            let position = SQLValue.integer(place.integer(1, otherwise: -1))
            return try owners.all(in: scope, first, position, most, read: reader.owner)
        case .alias: return try aliases.all(in: scope, first, most, read: reader.alias)
        case .attribute:
            return try attributes.all(in: scope, first, second, most, read: reader.attribute)
        case .prompt: return try prompts.all(in: scope, first, second, most, read: reader.prompt)
        case .drift: return try drift.all(in: scope, first, second, most, read: reader.drift)
        case .event: return try events.all(in: scope, first, most, read: reader.event)
        case .told: return try told.all(in: scope, first, second, most, read: reader.told)
        case .audit: return try audit.all(in: scope, first, most, read: reader.audit)
        case .bookmark: return try bookmarks(in: scope, after: place.text(0), most, reader)
        case .policy:
            let effectiveAt = SQLValue.integer(place.integer(0))
            return try policies.all(in: scope, effectiveAt, most) { reader.policy($0) }
        case .customer: return try customers.all(in: scope, first, most, read: reader.customer)
        }
    }

    /// Returns the bookmarks of the first range after a name that has any.
    private func bookmarks(
        in scope: AppScope,
        after name: String,
        _ most: SQLValue,
        _ reader: StoredRecordReader
    ) throws(StorageError) -> [StoredRecordReader.Found] {
        for range in BookmarkRecord.ranges(after: name) {
            let (first, last) = (SQLValue.text(range.first), SQLValue.text(range.last))
            let found = try bookmarks.all(in: scope, first, last, most) { reader.bookmark($0) }
            if !found.isEmpty { return found }
        }
        return []
    }
}
