import TideoverLocks
import TideoverStorage

/// A write request.
struct WriterJob: Sendable {
    enum Work: Sendable {
        case commit(CommitJob, done: @Sendable ([CommitOutcome]) -> Void)
        /// Does the work in a transaction, possibly more than once. It returns a function that
        /// reports success to the caller, which is called once the work is durable.
        case other(@Sendable (WriteSession) throws(StorageError) -> @Sendable () -> Void)
    }

    /// The app with the data that it changes; empty for data without an app.
    let app: String
    let work: Work
    /// Reports to the caller that nothing was done.
    let fail: @Sendable (StorageError) -> Void
}

/// The queue of the writing thread of this server.
///
/// Requests that arrive while the database confirms one transaction form the next one. Many
/// requests share one confirmation and its round trips.
final class Writer: Sendable {
    struct Queue {
        var jobs: [WriterJob] = []
        var isClosing = false
        var isClosed = false
        var waitingForClose: [CheckedContinuation<Void, Never>] = []
    }

    /// What the thread did since the start.
    struct Counts {
        /// Transactions that were repeated because the database ended them in favour of others.
        var repetitions = 0
        var roundTrips = 0
    }

    private let queue: ConditionLock<Queue>
    private let place: String
    private let limit: Int
    private let latestCounts: Locked<Counts>

    /// Starts the thread, which owns the connection from now on.
    init(
        _ connection: sending Connection,
        address: PostgreSQLAddress,
        readers: ReadSessionPool,
        options: PostgreSQLOptions
    ) throws(StorageError) {
        queue = ConditionLock(Queue())
        place = address.place
        limit = options.maximumQueueLength
        latestCounts = Locked(Counts())
        let thread = WriterThread(
            connection,
            address: address,
            queue: queue,
            readers: readers,
            counts: latestCounts,
            options: options
        )
        try thread.start()
    }

    var counts: Counts { latestCounts.withLock { $0 } }

    func commit(_ job: CommitJob, app: String) async throws(StorageError) -> [CommitOutcome] {
        let result: Result<[CommitOutcome], StorageError> = await withCheckedContinuation {
            caller in
            enqueue(
                WriterJob(
                    app: app,
                    work: .commit(job) { caller.resume(returning: .success($0)) },
                    fail: { caller.resume(returning: .failure($0)) }
                )
            )
        }
        return try result.get()
    }

    /// Runs `work` in a transaction, and returns when the database has confirmed it.
    func write<Value: Sendable>(
        app: String,
        _ work: @escaping @Sendable (WriteSession) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        let result: Result<Value, StorageError> = await withCheckedContinuation { caller in
            enqueue(
                WriterJob(
                    app: app,
                    work: .other { session throws(StorageError) in
                        let value = try work(session)
                        return { caller.resume(returning: .success(value)) }
                    },
                    fail: { caller.resume(returning: .failure($0)) }
                )
            )
        }
        return try result.get()
    }

    private func enqueue(_ job: WriterJob) {
        let refusal = queue.update { queue -> StorageError? in
            guard !queue.isClosing else { return StorageError(.closed, place: place) }
            guard queue.jobs.count < limit else {
                return StorageError(.busy, place: place, detail: "\(limit) writes are waiting")
            }
            queue.jobs.append(job)
            return nil
        }
        if let refusal { job.fail(refusal) }
    }

    /// Lets the thread end after it finishes the waiting jobs.
    func beginClosing() {
        queue.update { $0.isClosing = true }
    }

    /// Returns when the thread has ended and the connections are closed.
    func close() async {
        await withCheckedContinuation { caller in
            let isClosed = queue.update { queue in
                queue.isClosing = true
                if !queue.isClosed { queue.waitingForClose.append(caller) }
                return queue.isClosed
            }
            if isClosed { caller.resume() }
        }
    }
}
