package import TideoverStorage

/// A storage in a PostgreSQL database, used by any number of servers at once.
///
/// Each server has one writing connection, on a thread of its own, and some for reads. What keeps
/// the servers apart is in the database alone: see `WriteSession`. A write returns after the
/// database has confirmed it; whether that includes a replica is a setting of the database
/// (`synchronous_commit`).
///
/// Reads block their thread, as the protocol states, at most for `readerPatience` and
/// `readTimeout`.
package final class PostgreSQLStorage: Storage {
    /// Where the database is, without secrets.
    package let place: String
    /// The number of the last step of its schema, if a newer version applied it; this one can work
    /// with it.
    package let newerSchema: Int?
    /// Nil if the database was opened read-only.
    private let writer: Writer?
    let readSessions: ReadSessionPool

    /// The name in `app_lock` for data without an app.
    static let noApp = ""

    /// How many milliseconds longer than the database's own timeout an answer is awaited.
    static let grace: Int64 = 2_000

    /// Connects to a database, and creates its tables if `makesTables`.
    ///
    /// The address is read by libpq, such as `postgres://user@host/database`. It has no password:
    /// libpq finds one in the file that `passfile` names.
    ///
    /// - Throws: `unavailable` if no server that can write answers, `notPermitted` for a refused
    ///   user or an unusable address, `newerSchema` for a database that needs a newer version,
    ///   `olderSchema` or `notAStorage` without current tables if none are made.
    package init(
        address: String,
        makesTables: Bool = true,
        options: PostgreSQLOptions = PostgreSQLOptions()
    ) throws(StorageError) {
        let address = try PostgreSQLAddress(address)
        let connection = try Self.connect(address, options)
        let schema =
            makesTables
            ? try Migration.prepare(connection) : try Migration.requireCurrent(connection)
        newerSchema = schema > Migration.latest ? schema : nil
        let readSessions = try ReadSessionPool(address, options: options)
        self.readSessions = readSessions
        place = address.place
        writer = try Writer(
            connection,
            address: address,
            readers: readSessions,
            options: options
        )
    }

    /// Connects to an existing database, and changes nothing: every write throws `readOnly`.
    ///
    /// - Throws: the errors of opening for writing, and `olderSchema` for a database that needs a
    ///   migration first.
    package init(reading address: String, options: PostgreSQLOptions = PostgreSQLOptions())
        throws(StorageError)
    {
        let address = try PostgreSQLAddress(address)
        let schema = try Migration.requireCurrent(try Self.connect(address, options))
        newerSchema = schema > Migration.latest ? schema : nil
        readSessions = try ReadSessionPool(address, options: options)
        place = address.place
        writer = nil
    }

    deinit {
        // The writer's thread closes the readers when it ends.
        if let writer { writer.beginClosing() } else { readSessions.close(patience: 0) }
    }

    private static func connect(
        _ address: PostgreSQLAddress,
        _ options: PostgreSQLOptions
    ) throws(StorageError) -> sending Connection {
        try Connection(address, patience: options.writeTimeout + grace)
    }

    func openWriter() throws(StorageError) -> Writer {
        guard let writer else {
            throw StorageError(.readOnly, place: place, detail: "it was opened for reading alone")
        }
        return writer
    }

    /// The number of transactions that were repeated because the database ended them in favour of
    /// others.
    package var repetitionCount: Int { writer?.counts.repetitions ?? 0 }

    /// How often the writer sent something and waited for the answer.
    package var roundTripCount: Int { writer?.counts.roundTrips ?? 0 }

    // MARK: Writing

    package func commit(
        _ commitRequests: [CommitRequest],
        derive: @escaping @Sendable (CustomerLineages) -> Derivation
    ) async throws(StorageError) -> [CommitOutcome] {
        guard let first = commitRequests.first else { return [] }
        let batch = try CommitRequestRows.batch(commitRequests, place: place)
        let job = CommitJob(batch: batch, derive: derive)
        return try await openWriter().commit(job, app: first.app)
    }

    package func write<Answer: Sendable>(
        app: String?,
        _ changes: @escaping @Sendable (any StorageWriter) throws(StorageError) -> Answer
    ) async throws(StorageError) -> Answer {
        try await openWriter().write(app: app ?? Self.noApp) { session throws(StorageError) in
            try changes(session)
        }
    }

    package func close() async {
        guard let writer else { return readSessions.close(patience: 0) }
        await writer.close()
    }

    // MARK: Reading

    package func read<Answer>(
        _ questions: (any StorageReader) throws(StorageError) -> Answer
    ) throws(StorageError) -> Answer {
        try readSessions.read { session throws(StorageError) in try questions(session) }
    }
}
