import TideoverCore
import TideoverStorage

/// Reads all records of an app in an environment through one connection, a page of one kind at a
/// time.
struct RecordQueries {
    let connection: Connection
    let scope: AppScope
    let limit: Int

    /// A smaller limit, because a piece of evidence can have megabytes.
    private static let mostEvidence = 32

    /// Returns the records of the place's kind after that place; an empty list at the end.
    func page(
        from place: RecordPlace,
        pieces: (Answer) throws(StorageError) -> [Evidence]
    ) throws(StorageError) -> RecordPage {
        RecordPage(try found(place, pieces), of: place.kind)
    }

    private func found(
        _ place: RecordPlace,
        _ pieces: (Answer) throws(StorageError) -> [Evidence]
    ) throws(StorageError) -> [StoredRecordReader.Found] {
        let reader = StoredRecordReader(scope, connection.place)
        let first = SQLValue.text(place.text(0))
        let second = SQLValue.text(place.text(1))
        switch place.kind {
        case .evidence:
            let most = min(limit, Self.mostEvidence)
            let answer = try ask(CommonSQL.evidenceRecords, first, second, most: most)
            var pieces = try pieces(answer)[...]
            return try answer.all { reader.evidence(pieces.removeFirst(), $0) }
        case .fact:
            let assertedAt = SQLValue.integer(place.integer(1))
            let identity = SQLValue.bytes(place.bytes(2))
            return try ask(SQL.factRecords, first, assertedAt, identity).all(reader.fact)
        case .owner:
            let position = SQLValue.integer(place.integer(1, otherwise: -1))
            return try ask(CommonSQL.ownerRecords, first, position).all(reader.owner)
        case .alias: return try ask(CommonSQL.aliasRecords, first).all(reader.alias)
        case .attribute:
            return try ask(CommonSQL.attributeRecords, first, second).all(reader.attribute)
        case .prompt: return try ask(CommonSQL.promptRecords, first, second).all(reader.prompt)
        case .drift: return try ask(CommonSQL.driftRecords, first, second).all(reader.drift)
        case .event: return try ask(SQL.eventRecords, first).all(reader.event)
        case .told: return try ask(CommonSQL.toldRecords, first, second).all(reader.told)
        case .audit: return try ask(CommonSQL.auditRecords, first).all(reader.audit)
        case .bookmark: return try bookmarks(after: place.text(0), reader)
        case .policy:
            let effectiveAt = SQLValue.integer(place.integer(0))
            return try ask(CommonSQL.policyRecords, effectiveAt).all { reader.policy($0) }
        case .customer: return try ask(CommonSQL.customerRecords, first).all(reader.customer)
        }
    }

    private func ask(
        _ sql: StaticString,
        _ key: SQLValue...,
        most: Int? = nil
    ) throws(StorageError) -> Answer {
        let place = [SQLValue.text(scope.app), .text(scope.environment.rawValue)]
        return try connection.ask(sql, with: place + key + [.limit(most ?? limit)])
    }

    /// Returns the bookmarks of the first range after a name that has any.
    private func bookmarks(
        after name: String,
        _ reader: StoredRecordReader
    ) throws(StorageError) -> [StoredRecordReader.Found] {
        for range in BookmarkRecord.ranges(after: name) {
            let answer = try ask(CommonSQL.bookmarkRecords, .text(range.first), .text(range.last))
            let found = try answer.all { reader.bookmark($0) }
            if !found.isEmpty { return found }
        }
        return []
    }
}
