import TideoverCore
import TideoverStorage

/// Reads all records of an app in an environment through one connection, a page of one kind at a
/// time.
struct RecordQueries {
    /// A smaller limit, because a piece of evidence can have megabytes.
    private static let mostEvidence = 32

    let statements: Statements

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
        let reader = StoredRecordReader(scope, statements.connection.place)
        let most = SQLValue.limit(limit)
        let first = SQLValue.text(place.text(0))
        let second = SQLValue.text(place.text(1))
        switch place.kind {
        case .evidence:
            let most = SQLValue.limit(min(limit, Self.mostEvidence))
            return try statements[CommonSQL.evidenceRecords].all(in: scope, first, second, most) {
                row throws(StorageError) in
                reader.evidence(try piece(row), row)
            }
        case .fact:
            let assertedAt = SQLValue.integer(place.integer(1))
            let identity = SQLValue.bytes(place.bytes(2))
            return try statements[SQL.factRecords].all(
                in: scope,
                first,
                assertedAt,
                identity,
                most,
                read: reader.fact
            )
        case .owner:
            let position = SQLValue.integer(place.integer(1, otherwise: -1))
            return try statements[CommonSQL.ownerRecords].all(
                in: scope,
                first,
                position,
                most,
                read: reader.owner
            )
        case .alias:
            return try statements[CommonSQL.aliasRecords].all(
                in: scope,
                first,
                most,
                read: reader.alias
            )
        case .attribute:
            return try statements[CommonSQL.attributeRecords].all(
                in: scope,
                first,
                second,
                most,
                read: reader.attribute
            )
        case .prompt:
            return try statements[CommonSQL.promptRecords].all(
                in: scope,
                first,
                second,
                most,
                read: reader.prompt
            )
        case .drift:
            return try statements[CommonSQL.driftRecords].all(
                in: scope,
                first,
                second,
                most,
                read: reader.drift
            )
        case .event:
            return try statements[SQL.eventRecords].all(in: scope, first, most, read: reader.event)
        case .told:
            return try statements[CommonSQL.toldRecords].all(
                in: scope,
                first,
                second,
                most,
                read: reader.told
            )
        case .audit:
            return try statements[CommonSQL.auditRecords].all(
                in: scope,
                first,
                most,
                read: reader.audit
            )
        case .bookmark: return try bookmarks(in: scope, after: place.text(0), most, reader)
        case .policy:
            let effectiveAt = SQLValue.integer(place.integer(0))
            return try statements[CommonSQL.policyRecords].all(in: scope, effectiveAt, most) {
                reader.policy($0)
            }
        case .customer:
            return try statements[CommonSQL.customerRecords].all(
                in: scope,
                first,
                most,
                read: reader.customer
            )
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
            let found = try statements[CommonSQL.bookmarkRecords].all(in: scope, first, last, most)
            { reader.bookmark($0) }
            if !found.isEmpty { return found }
        }
        return []
    }
}
