import TideoverLocks
import TideoverStorage

/// The thread that owns the writing connection, so that no thread of Swift's task pool blocks while
/// the database works.
final class WriterThread {
    private let address: PostgreSQLAddress
    private let queue: ConditionLock<Writer.Queue>
    private let readers: ReadSessionPool
    private let counts: Locked<Writer.Counts>
    private let options: PostgreSQLOptions
    /// Nil after the connection was lost.
    private var session: WriteSession?

    private static let readerPatience: Int64 = 5_000

    init(
        _ connection: Connection,
        address: PostgreSQLAddress,
        queue: ConditionLock<Writer.Queue>,
        readers: ReadSessionPool,
        counts: Locked<Writer.Counts>,
        options: PostgreSQLOptions
    ) {
        self.address = address
        self.queue = queue
        self.readers = readers
        self.counts = counts
        self.options = options
        session = WriteSession(connection, options: options)
    }

    func start() throws(StorageError) {
        // Ownership is transferred: the starting thread does not use it again.
        nonisolated(unsafe) let thread = self
        guard startThread({ thread.run() }) == 0 else {
            throw StorageError(.busy, place: address.place, detail: "the system has no thread left")
        }
    }

    private func run() {
        while let jobs = nextJobs() { write(jobs) }
        readers.close(patience: Self.readerPatience)
        session = nil
        let waiting = queue.update { queue in
            queue.isClosed = true
            defer { queue.waitingForClose = [] }
            return queue.waitingForClose
        }
        for caller in waiting { caller.resume() }
    }

    /// Returns the next jobs; nil after the last ones.
    private func nextJobs() -> [WriterJob]? {
        while true {
            let jobs = queue.wait(upTo: .max >> 32) { queue -> [WriterJob]? in
                guard !queue.jobs.isEmpty || queue.isClosing else { return nil }
                let group = Array(queue.jobs.prefix(options.maximumGroupCount))
                queue.jobs.removeFirst(group.count)
                return group
            }
            if let jobs { return jobs.isEmpty ? nil : jobs }
        }
    }

    // MARK: Transactions

    /// What a transaction did.
    private struct Written {
        /// The functions that report success.
        var done: [@Sendable () -> Void] = []
        /// The jobs that are left for later transactions.
        var rest: [WriterJob] = []
    }

    /// Writes jobs in one transaction, and puts those that take too long back to the front of the
    /// queue. If one of them is rejected, each gets its own.
    private func write(_ jobs: [WriterJob]) {
        do {
            let written = try transaction(jobs)
            if !written.rest.isEmpty {
                queue.update { $0.jobs.insert(contentsOf: written.rest, at: 0) }
            }
            for tell in written.done { tell() }
        } catch {
            guard jobs.count > 1, error.reason.concernsOneJob else {
                for job in jobs { job.fail(error) }
                return
            }
            for job in jobs { write([job]) }
        }
    }

    /// Runs a transaction, and repeats it while the database ends it in favour of others. Nothing
    /// is repeated after the commit was sent, since it may have taken effect.
    private func transaction(_ jobs: [WriterJob]) throws(StorageError) -> Written {
        var attempt = 1
        var hadLoss = false
        while true {
            let isFresh = session == nil
            let session = try openSession()
            do {
                return try attemptTransaction(jobs, session)
            } catch {
                let (wasCommitting, hadConflict) = (
                    session.isCommitting, session.connection.hadConflict
                )
                end(session)
                if hadConflict, attempt < options.maximumAttempts {
                    attempt += 1
                    counts.withLock { $0.repetitions += 1 }
                    continue
                }
                // The connection may have been idle while the server restarted.
                guard self.session == nil, !isFresh, !wasCommitting, !hadLoss else { throw error }
                hadLoss = true
            }
        }
    }

    private func attemptTransaction(
        _ jobs: [WriterJob],
        _ session: WriteSession
    ) throws(StorageError) -> Written {
        let before = session.connection.roundTripCount
        defer { counts.withLock { $0.roundTrips += session.connection.roundTripCount - before } }
        try session.begin(Set(jobs.map(\.app)))
        var written = try commit(jobs, session)
        for job in jobs {
            if case .other(let work) = job.work { written.done.append(try work(session)) }
        }
        try session.end()
        return written
    }

    /// Runs the commits among jobs, at least one round of them.
    private func commit(
        _ jobs: [WriterJob],
        _ session: WriteSession
    ) throws(StorageError) -> Written {
        var commits: [CommitJob] = []
        var callers: [@Sendable ([CommitOutcome]) -> Void] = []
        var sources: [WriterJob] = []
        for job in jobs {
            guard case .commit(let commit, let done) = job.work else { continue }
            commits.append(commit)
            callers.append(done)
            sources.append(job)
        }
        guard !commits.isEmpty else { return Written() }
        var written = Written()
        let deadline = Deadline(in: options.groupTime)
        for round in try CommitPlan(commits, session).rounds {
            guard written.done.isEmpty || deadline.milliseconds > 0 else {
                written.rest += round.jobs.map { sources[$0] }
                continue
            }
            let own = round.jobs.map { commits[$0] }
            let outcomes = try CommitRound(session, round.scope, own).run()
            for (job, outcomes) in zip(round.jobs, outcomes) {
                let caller = callers[job]
                written.done.append { caller(outcomes) }
            }
        }
        return written
    }

    /// Ends a failed transaction; gives up a connection that cannot be used again.
    private func end(_ session: WriteSession) {
        do {
            try session.rollBack()
        } catch {
            self.session = nil
        }
        if !session.connection.isUsable { self.session = nil }
    }

    private func openSession() throws(StorageError) -> WriteSession {
        if let session { return session }
        let patience = options.writeTimeout + PostgreSQLStorage.grace
        let connection = try Connection(address, patience: patience)
        try Migration.requireCurrent(connection)
        let made = WriteSession(connection, options: options)
        session = made
        return made
    }
}

extension StorageError.Reason {
    /// Whether the failure is likely to lie in one of the jobs of a transaction, not in the
    /// database.
    fileprivate var concernsOneJob: Bool {
        switch self {
        case .refused, .corrupt, .engine: true
        case .busy, .unavailable, .full, .readOnly, .notPermitted, .missingFolder, .notAStorage,
            .locked, .replaced, .newerSchema, .olderSchema, .io, .unconfirmed, .closed:
            false
        }
    }
}
