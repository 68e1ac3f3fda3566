import TideoverStorage

/// The tables that stay empty in many databases, and whether each may have rows.
///
/// A commit does not search an empty one. Only the connection that adds the rows may know this: to
/// all others every table is used.
final class UsedTables {
    /// Ids that were joined with another.
    var alias = true
    /// Differences between answers of devices and of the server.
    var drift = true
    /// Prompts that were shown.
    var prompt = true
    /// Facts of earlier versions that are not moved yet.
    var earlierFacts = true

    /// Assumes that every table is used.
    init() {}

    /// Reads which tables are used now; the connection must be the only one that adds rows.
    init(_ connection: Connection) throws(StorageError) {
        alias = try connection.integer(SQL.anyAlias) != nil
        drift = try connection.integer(SQL.anyDrift) != nil
        prompt = try connection.integer(SQL.anyPrompt) != nil
        earlierFacts = try RowMove.hasFacts(connection)
    }
}
