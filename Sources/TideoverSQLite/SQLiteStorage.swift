import TideoverCore
package import TideoverStorage

/// A storage in one SQLite file, opened by one process at a time.
///
/// One thread owns the only writing connection, and it alone commits and checkpoints. Readers have
/// read-only connections. SQLite before 3.51.3 can damage a database if a second connection commits
/// or checkpoints, and most systems ship such a version.
package final class SQLiteStorage: Storage {
    /// The file, without links.
    package let path: String
    /// Nil if the file was opened read-only.
    private let writer: Writer?
    private let largeCommits: LargeCommits?
    private let options: SQLiteOptions
    let readSessions: ReadSessionPool
    /// Nil if there is a writer, which then owns the lock, or if another process has it.
    private let lock: LockFile?

    /// Opens a database file, and creates it and its tables if needed.
    ///
    /// - Throws: `locked` while another process has it open, `newerSchema` for a file from a newer
    ///   version, `notAStorage` for a file of another program. For errors of the system, throws
    ///   `missingFolder`, `notPermitted`, `readOnly`, `full`, `corrupt` or `io`.
    package convenience init(path: String, options: SQLiteOptions = SQLiteOptions())
        throws(StorageError)
    {
        try self.init(path: path, options: options, faults: SQLiteFaults())
    }

    package init(
        path: String,
        options: SQLiteOptions,
        faults: SQLiteFaults
    ) throws(StorageError) {
        let path = try DatabaseFile.resolve(path)
        let lock = try LockFile(database: path)
        let writeSession = try Self.writeSession(path: path, options)
        CopyReport.removeAll(of: path)
        let readSessions = try ReadSessionPool(
            path: path,
            count: options.readerCount,
            busyTimeout: options.readerPatience
        )
        self.path = path
        self.readSessions = readSessions
        self.lock = nil
        self.options = options
        let writer = try Writer(
            writeSession: writeSession,
            lock: lock,
            readSessions: readSessions,
            options: options,
            faults: faults
        )
        self.writer = writer
        largeCommits = LargeCommits(writer: writer, path: path, options: options)
    }

    /// Opens an existing file read-only. The file is not changed, nothing is created beside it, and
    /// every write throws `readOnly`. No other process can open it meanwhile.
    ///
    /// - Throws: the errors of opening for writing, and `olderSchema` for a file that needs a
    ///   migration first.
    package convenience init(reading path: String) throws(StorageError) {
        let path = try DatabaseFile.resolve(path)
        let lock = try LockFile(reading: path)
        try self.init(path, access: DatabaseFile.quietAccess(to: path), lock: lock)
    }

    /// Opens a file read-only that another process has open for writing, and may go on to write.
    /// Every write throws `readOnly`. Each read is brief, so that the other process can restart its
    /// log.
    ///
    /// - Throws: as `init(reading:)`, without `locked`.
    package convenience init(readingUsed path: String) throws(StorageError) {
        try self.init(try DatabaseFile.resolve(path), access: .readOnly, lock: nil)
    }

    private init(
        _ path: String,
        access: Connection.Access,
        lock: LockFile?
    ) throws(StorageError) {
        let options = SQLiteOptions()
        self.lock = lock
        try Migration.requireCurrent(
            try Connection(path: path, access: access, busyTimeout: options.readerPatience)
        )
        readSessions = try ReadSessionPool(
            path: path,
            access: access,
            count: options.readerCount,
            busyTimeout: options.readerPatience
        )
        self.path = path
        self.options = options
        writer = nil
        largeCommits = nil
    }

    deinit {
        largeCommits?.beginClosing()
        writer?.beginClosing()
    }

    func openWriter() throws(StorageError) -> Writer {
        guard let writer else {
            throw StorageError(.readOnly, place: path, detail: "it was opened for reading alone")
        }
        return writer
    }

    private static func writeSession(
        path: String,
        _ options: SQLiteOptions
    ) throws(StorageError) -> sending WriteSession {
        let connection = try Connection(
            path: path,
            access: .readWrite,
            busyTimeout: options.writerPatience,
            gathersLog: true
        )
        try Migration.prepare(connection)
        if let bytes = options.maximumByteCount {
            try connection.set("max_page_count", to: max(1, bytes / 4_096))
        }
        return try WriteSession(connection, random: options.random)
    }

    // MARK: Writing

    package func commit(
        _ commitRequests: [CommitRequest],
        derive: @escaping @Sendable (CustomerLineages) -> Derivation
    ) async throws(StorageError) -> [CommitOutcome] {
        guard !commitRequests.isEmpty else { return [] }
        let rows = try CommitRequestRows.batch(commitRequests, place: path)
        let plan = DerivationPlan(mostInside: options.mostLineagesInside)
        let attempt = try await openWriter().write { writeSession throws(StorageError) in
            try writeSession.commit(rows, plan, derive: derive)
        }
        if case .ended(let outcomes) = attempt { return outcomes }
        guard let largeCommits else { preconditionFailure("a writer has a thread for it") }
        return try await largeCommits.commit(rows, derive: derive)
    }

    package func write<Answer: Sendable>(
        app: String?,
        _ changes: @escaping @Sendable (any StorageWriter) throws(StorageError) -> Answer
    ) async throws(StorageError) -> Answer {
        try await openWriter().write { writeSession throws(StorageError) in
            try changes(writeSession)
        }
    }

    package func close() async {
        guard let writer else { return readSessions.close(patience: 0) }
        await largeCommits?.close()
        await writer.close()
    }

    // MARK: Reading

    package func read<Answer>(
        _ questions: (any StorageReader) throws(StorageError) -> Answer
    ) throws(StorageError) -> Answer {
        try readSessions.read { readSession throws(StorageError) in
            try readSession.atOneInstant(questions)
        }
    }

    // MARK: The file

    /// Starts to copy the database into a new file beside it, a few pages between two transactions.
    /// The copy contains everything committed before it completes; `copyReport` reports when. The
    /// caller then moves the file away with `SQLiteBackup.finish`.
    ///
    /// - Throws: `busy` while another copy runs, `closed`, `readOnly`.
    package func beginCopy() throws(StorageError) -> CopyReport {
        let file = CopyReport.file(of: path, number: options.random())
        guard let report = try openWriter().beginCopy(to: file) else {
            throw StorageError(.busy, place: path, detail: "another copy is made")
        }
        return report
    }

    /// The progress of the latest copy; nil if there is none.
    package var copyReport: CopyReport? { writer?.copy }

    /// The interface through which a server copies the database.
    package var copier: DatabaseCopier {
        DatabaseCopier(
            begin: { () throws(StorageError) in try self.beginCopy() },
            latest: { self.copyReport }
        )
    }

    /// Starts to move rows that an earlier version stored to the tables of new ones, in parts,
    /// between two transactions. Statements read both tables, so this may end at any time; the next
    /// start goes on. `report` is called with an error that ends it, on the writer's thread.
    package func moveEarlierRows(report: @escaping @Sendable (StorageError) -> Void) {
        writer?.beginMoving(report)
    }

    /// Rejects every later write, because a check found the file damaged: a write could damage
    /// more. Reads continue.
    package func prohibitWriting(_ problem: String) {
        writer?.prohibit(
            StorageError(
                .corrupt,
                place: path,
                detail: "\(problem); nothing is written to a damaged database"
            )
        )
    }

    /// Returns the problems that the engine finds in the file; empty if it is sound. Reads the
    /// whole file.
    package func problems() throws(StorageError) -> [String] {
        try readSessions.read { readSession throws(StorageError) in try readSession.problems() }
    }

    /// Returns the first problem of the file's structure; empty if there is none. Reads the whole
    /// file, but does not compare indexes with their tables.
    package func quickProblems() throws(StorageError) -> [String] {
        try readSessions.read { readSession throws(StorageError) in
            try readSession.problems(SQL.quickCheck)
        }
    }

    /// The size of the file and of its write-ahead log, in bytes.
    package var byteCount: Int64 { DatabaseFile.byteCount(path) + logByteCount }

    /// The size of the write-ahead log, in bytes.
    package var logByteCount: Int64 { DatabaseFile.byteCount(path + "-wal") }

    /// The number of SQL statements that commits ran; nil if the file was opened read-only.
    package var statementCount: Int? { writer?.statementCount }
}

/// Injected failures, for tests: a disk seldom fails on demand.
package struct SQLiteFaults: Sendable {
    /// Called with the number of writes in a transaction before it is committed. The commit fails
    /// with the error it throws.
    package var beforeCommit: @Sendable (Int) throws(StorageError) -> Void

    package init(
        beforeCommit: @escaping @Sendable (Int) throws(StorageError) -> Void = { _ in }
    ) {
        self.beforeCommit = beforeCommit
    }
}
