import TideoverCore
import TideoverStorage

/// Moves facts and events that an earlier version stored to the tables of new ones, in parts, between
/// the writer's transactions.
final class RowMove {
    /// The number of rows of each table in one transaction: it delays the next one by a few
    /// milliseconds and one confirmation of the disk.
    private static let part: Int64 = 128

    private struct Table {
        let move: Statement
        let remove: Statement
    }

    private let connection: Connection
    private let tables: [Table]

    /// Returns nil if all rows are moved.
    init?(_ connection: Connection) throws(StorageError) {
        let hasFacts = try Self.hasFacts(connection)
        let hasEvents = try Self.hasEvents(connection)
        guard hasFacts || hasEvents else { return nil }
        self.connection = connection
        tables = [
            Table(
                move: try Statement(SQL.moveFacts, on: connection),
                remove: try Statement(SQL.removeMovedFacts, on: connection)
            ),
            Table(
                move: try Statement(SQL.moveEvents, on: connection),
                remove: try Statement(SQL.removeMovedEvents, on: connection)
            ),
        ]
    }

    /// Whether facts are left to move.
    static func hasFacts(_ connection: Connection) throws(StorageError) -> Bool {
        try connection.integer(SQL.anyFactByKey) != nil
    }

    private static func hasEvents(_ connection: Connection) throws(StorageError) -> Bool {
        try connection.integer(SQL.anyEventByKey) != nil
    }

    /// Moves some rows in one transaction; returns true when none is left. `check` is called before
    /// the transaction is committed.
    func step(
        _ writeSession: WriteSession,
        check: () throws(StorageError) -> Void
    ) throws(StorageError) -> Bool {
        try writeSession.begin()
        do {
            for table in tables { try table.move.run(.integer(Self.part)) }
            // No copy of a row may outlast its erasure.
            try writeSession.overwritingDeleted { () throws(StorageError) in
                for table in tables { try table.remove.run(.integer(Self.part)) }
            }
            let hasFacts = try Self.hasFacts(connection)
            let hasEvents = try Self.hasEvents(connection)
            try check()
            try writeSession.end()
            writeSession.used.earlierFacts = hasFacts
            return !hasFacts && !hasEvents
        } catch {
            writeSession.rollBack()
            throw error
        }
    }
}
