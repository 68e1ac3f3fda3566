package import TideoverStorage

/// One step of the schema. A released step never changes; a later change is a new step.
package struct Migration: Sendable {
    /// Rises from 1; the table `tideover_schema` has the number of the last step.
    package let number: Int
    package let statements: [StaticString]

    package static let all = [first]

    /// The number of the last step.
    package static let latest = all.last?.number ?? 0

    private static let mostAttempts = 5

    /// Brings the schema up to date, in one transaction.
    ///
    /// Servers that start together wait for one another at the row of `tideover_schema`, so each
    /// step is applied once. It is a row, not an advisory lock of the session, because a pooler
    /// may give each transaction another session.
    ///
    /// - Throws: `newerSchema` for a database of a newer version, which is not changed;
    ///   `notAStorage` if a table of another program has a name of ours.
    package static func prepare(_ connection: Connection) throws(StorageError) {
        for attempt in 1... {
            do {
                return try apply(on: connection)
            } catch {
                if connection.isUsable { try connection.rollBack() }
                // Two servers that create the first table at once: one of them fails.
                let isRace = error.reason == .refused || connection.hadConflict
                guard isRace, attempt < mostAttempts else { throw error }
            }
        }
    }

    private static func apply(on connection: Connection) throws(StorageError) {
        try connection.ask(SQL.begin)
        try connection.ask(SQL.createSchemaTable)
        try connection.ask(SQL.insertSchemaRow)
        let found = Int(try connection.ask(SQL.lockSchema).first { $0.integer(0) } ?? 0)
        guard found <= latest else {
            throw StorageError(
                .newerSchema(found: found, known: latest),
                place: connection.place
            )
        }
        for migration in all where migration.number > found {
            for statement in migration.statements { try connection.ask(statement) }
        }
        if found < latest { try connection.ask(SQL.setSchema, .integer(Int64(latest))) }
        try connection.ask(SQL.commit)
        try connection.wait()
    }

    /// Throws unless every step has been applied.
    ///
    /// - Throws: `olderSchema`, `newerSchema`; `notAStorage` if there are no tables.
    static func requireCurrent(_ connection: Connection) throws(StorageError) {
        let answer = try connection.ask(SQL.schema)
        let found = Int(try answer.first { $0.integer(0) } ?? 0)
        guard found != latest else { return }
        throw StorageError(
            found > latest
                ? .newerSchema(found: found, known: latest)
                : .olderSchema(found: found, known: latest),
            place: connection.place
        )
    }
}

extension Connection {
    /// Ends the transaction without its writes.
    func rollBack() throws(StorageError) {
        try ask(SQL.rollBack)
        try wait()
    }
}
