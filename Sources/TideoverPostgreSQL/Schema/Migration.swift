package import TideoverStorage

/// One step of the schema. A released step never changes; a later change is a new step.
///
/// Servers of the version before a step keep running while the next version applies it, and may be
/// started again. So a step only adds: tables, indexes, columns that are null or have a default. A
/// later version, released once no server needs the old form, removes it in a step with a
/// `minimum`.
package struct Migration: Sendable {
    /// Rises from 1; the table `tideover_schema` has the number of the last step.
    package let number: Int
    /// The lowest last step of a program that can use a database with this step. It is this step's
    /// number if the step removes or changes what earlier programs use, or needs writes that they
    /// do not make.
    package let minimum: Int
    package let statements: [StaticString]

    package init(number: Int, minimum: Int = 1, statements: [StaticString]) {
        self.number = number
        self.minimum = minimum
        self.statements = statements
    }

    package static let all = [first, second, third, fourth, fifth]

    /// The number of the last step.
    package static let latest = all.last?.number ?? 0

    private static let mostAttempts = 5
    /// Milliseconds a server waits for missing steps. One can build the index of a large table.
    private static let patience: Int64 = 3_600_000
    /// How long a step waits for a table. While it waits, every other statement waits behind it, for
    /// example because a backup reads the table.
    private static let longestWait = "5s"

    /// Brings the schema up to date, in one transaction, and returns the number of its last step.
    /// That is more than `latest` if a newer version applied steps which this one can work with.
    ///
    /// Servers that start together wait for one another at the row of `tideover_schema`, so each
    /// step is applied once. It is a row, not an advisory lock of the session, because a pooler
    /// may give each transaction another session.
    ///
    /// - Throws: `newerSchema` for a database that needs a newer version, and `busy` while servers
    ///   run that could not work with the missing steps, or while another program keeps a table
    ///   locked; it is not changed. `notAStorage` if a table
    ///   of another program has a name of ours.
    @discardableResult
    package static func prepare(
        _ connection: Connection,
        steps: [Migration] = all
    ) throws(StorageError) -> Int {
        var attempt = 1
        while true {
            do {
                return try apply(steps, on: connection)
            } catch {
                if connection.isUsable { try connection.rollBack() }
                // Two servers that create the first table at once: one of them fails.
                let isRace = error.reason == .refused || connection.hadConflict
                guard isRace, attempt < mostAttempts else { throw error }
                attempt += 1
            }
        }
    }

    private static func apply(
        _ steps: [Migration],
        on connection: Connection
    ) throws(StorageError) -> Int {
        let usualPatience = connection.patience
        defer { connection.patience = usualPatience }
        try connection.ask(SQL.begin)
        try connection.ask(SQL.createSchemaTable)
        try connection.ask(SQL.insertSchemaRow)
        let seen = try schema(of: connection)
        if steps.contains(where: { $0.number > seen }) { try allowTime(connection) }
        let found = Int(try connection.ask(SQL.lockSchema).first { $0.integer(0) } ?? 0)
        let missing = steps.filter { $0.number > found }
        if missing.isEmpty { try requireUsable(found, connection) }
        try requireNoServer(before: missing, after: found, connection)
        if !missing.isEmpty { try connection.ask(SQL.limitLocks, .text(longestWait)) }
        for step in missing {
            for statement in step.statements { try connection.ask(statement) }
            try connection.ask(SQL.setSchema, .integer(Int64(step.number)))
            if step.minimum > 1 {
                try connection.ask(SQL.setMinimum, .integer(Int64(step.minimum)))
            }
        }
        try connection.ask(CommonSQL.commit)
        try connection.wait()
        return missing.last?.number ?? found
    }

    /// Lets the steps of this transaction take long, and the wait for a server that applies them.
    private static func allowTime(_ connection: Connection) throws(StorageError) {
        connection.patience = patience
        let idleTimeout = PostgreSQLOptions().idleTimeout
        try connection.ask(SQL.limitTime, .text("0"), .text("\(idleTimeout)"))
    }

    /// Returns the number of the last step, which another server may be about to change.
    private static func schema(of connection: Connection) throws(StorageError) -> Int {
        Int(try connection.ask(SQL.schema).first { $0.integer(0) } ?? 0)
    }

    /// Throws `busy` while servers run that could not work with the missing steps.
    private static func requireNoServer(
        before missing: [Migration],
        after found: Int,
        _ connection: Connection
    ) throws(StorageError) {
        let minimum = missing.map(\.minimum).max() ?? 0
        guard found >= second.number, minimum > found else { return }
        let answer = try connection.ask(
            SQL.olderServers,
            .integer(Int64(minimum)),
            .integer(PostgreSQLStorage.serverLifetime)
        )
        let count = try answer.first { $0.integer(0) } ?? 0
        guard count > 0 else { return }
        throw StorageError(
            .busy,
            place: connection.place,
            detail: "stop the servers of older versions before this upgrade: \(count)"
        )
    }

    /// Throws unless every step has been applied; returns the number of the last one.
    ///
    /// - Throws: `olderSchema`, `newerSchema`; `notAStorage` if there are no tables.
    @discardableResult
    static func requireCurrent(_ connection: Connection) throws(StorageError) -> Int {
        let found = try schema(of: connection)
        guard found >= latest else {
            throw StorageError(
                .olderSchema(found: found, known: latest),
                place: connection.place
            )
        }
        try requireUsable(found, connection)
        return found
    }

    /// Throws `newerSchema` if a step that was applied needs a newer version.
    private static func requireUsable(
        _ found: Int,
        _ connection: Connection
    ) throws(StorageError) {
        // A newer database has the column; that of the first step lacks it.
        guard found > latest else { return }
        let minimum = Int(try connection.ask(SQL.minimum).first { $0.integer(0) } ?? .max)
        guard minimum > latest else { return }
        throw StorageError(
            .newerSchema(found: found, known: latest),
            place: connection.place,
            detail: "a version that knows schema \(minimum) is needed"
        )
    }
}

extension Connection {
    /// Ends the transaction without its writes.
    func rollBack() throws(StorageError) {
        try ask(CommonSQL.rollBack)
        try wait()
    }
}
