import TideoverCore
import TideoverStorage

/// Moves facts that an earlier version stored to the table of new ones, in parts, between the
/// writer's transactions.
final class FactMove {
    /// The number of facts in one transaction: it delays the next one by a few milliseconds and one
    /// confirmation of the disk.
    private static let part: Int64 = 256

    private let connection: Connection
    private let move: Statement
    private let remove: Statement

    /// Returns nil if all facts are moved.
    init?(_ connection: Connection) throws(StorageError) {
        guard try Self.hasFacts(connection) else { return nil }
        self.connection = connection
        move = try Statement(SQL.moveFacts, on: connection)
        remove = try Statement(SQL.removeMovedFacts, on: connection)
    }

    /// Whether facts are left to move.
    static func hasFacts(_ connection: Connection) throws(StorageError) -> Bool {
        try connection.integer(SQL.anyFactByKey) != nil
    }

    /// Moves some facts in one transaction; returns true when none is left. `check` is called
    /// before the transaction is committed.
    func step(
        _ writeSession: WriteSession,
        check: () throws(StorageError) -> Void
    ) throws(StorageError) -> Bool {
        try writeSession.begin()
        do {
            try move.run(.integer(Self.part))
            try remove.run(.integer(Self.part))
            let isDone = try !Self.hasFacts(connection)
            try check()
            try writeSession.end()
            if isDone { writeSession.used.earlierFacts = false }
            return isDone
        } catch {
            writeSession.rollBack()
            throw error
        }
    }
}
