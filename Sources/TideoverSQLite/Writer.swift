import Glibc
import TideoverLocks
import TideoverStorage

/// A write request.
struct WriterJob: Sendable {
    /// Does the work; a second time if the first was rolled back. It returns a function that reports
    /// success to the caller, which is called once the work is durable.
    let run: @Sendable (WriteSession) throws(StorageError) -> @Sendable () -> Void
    /// Reports to the caller that nothing was done.
    let fail: @Sendable (StorageError) -> Void
}

/// The queue of the single writing thread.
///
/// Requests that arrive while the disk confirms one transaction form the next one. Many requests
/// share one confirmation, which is the expensive part. If one fails, the transaction is run again
/// with a savepoint for each request, so that a failed request rolls back only its own work.
final class Writer: Sendable {
    struct Queue {
        var jobs: [WriterJob] = []
        /// The number of jobs the thread waits for; waking it for each job would cost more than the
        /// batch gains.
        var wanted = 1
        /// The latest requested copy of the database, and whether it is still to start.
        var copy: CopyReport?
        var isCopyWanted = false
        /// Receives the error that ends a requested move of facts; nil if none is requested.
        var moveReport: (@Sendable (StorageError) -> Void)?
        /// The number of SQL statements run until the latest commit.
        var statementCount = 0
        /// The reason why writes are prohibited.
        var prohibition: StorageError?
        var isClosing = false
        var isClosed = false
        var waitingForClose: [CheckedContinuation<Void, Never>] = []
    }

    private let queue: ConditionLock<Queue>
    private let place: String
    private let limit: Int

    /// Starts the thread, which owns the write session and the lock from now on.
    init(
        writeSession: sending WriteSession,
        lock: LockFile,
        readSessions: ReadSessionPool,
        options: SQLiteOptions,
        faults: SQLiteFaults
    ) throws(StorageError) {
        queue = ConditionLock(Queue())
        place = writeSession.connection.place
        limit = options.maximumQueueLength
        let thread = WriterThread(
            queue: queue,
            writeSession: writeSession,
            lock: lock,
            readSessions: readSessions,
            options: options,
            faults: faults
        )
        try thread.start()
    }

    /// Runs `work` in a transaction, and returns when it is on disk.
    func write<Value: Sendable>(
        _ work: @escaping @Sendable (WriteSession) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        let result: Result<Value, StorageError> = await withCheckedContinuation { caller in
            let job = WriterJob(
                run: { writeSession throws(StorageError) in
                    let value = try work(writeSession)
                    return { caller.resume(returning: .success(value)) }
                },
                fail: { caller.resume(returning: .failure($0)) }
            )
            if let refusal = enqueue(job) { job.fail(refusal) }
        }
        return try result.get()
    }

    /// Like `write`, for a thread that may block.
    func writeAndWait<Value: Sendable>(
        _ work: @escaping @Sendable (WriteSession) throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        let answer = ConditionLock<Result<Value, StorageError>?>(nil)
        let job = WriterJob(
            run: { writeSession throws(StorageError) in
                let value = try work(writeSession)
                return { answer.update { $0 = .success(value) } }
            },
            fail: { error in answer.update { $0 = .failure(error) } }
        )
        if let refusal = enqueue(job) { throw refusal }
        while true {
            if let result = answer.wait(upTo: .max >> 32, until: { $0 }) { return try result.get() }
        }
    }

    private func enqueue(_ job: WriterJob) -> StorageError? {
        queue.update(matters: { $0.jobs.count >= $0.wanted || $0.isClosing }) { queue in
            guard !queue.isClosing else { return StorageError(.closed, place: place) }
            if let prohibition = queue.prohibition { return prohibition }
            guard queue.jobs.count < limit else {
                return StorageError(.busy, place: place, detail: "\(limit) writes are waiting")
            }
            queue.jobs.append(job)
            return nil
        }
    }

    /// Rejects every later write with an error.
    func prohibit(_ error: StorageError) {
        queue.update { $0.prohibition = error }
    }

    /// Starts to copy the database into a file; returns nil while another copy runs.
    func beginCopy(to file: String) throws(StorageError) -> CopyReport? {
        let begun = queue.update { queue -> Result<CopyReport?, StorageError> in
            guard !queue.isClosing else { return .failure(StorageError(.closed, place: place)) }
            guard queue.copy?.state != .copying else { return .success(nil) }
            queue.copy = CopyReport(file: file)
            queue.isCopyWanted = true
            return .success(queue.copy)
        }
        return try begun.get()
    }

    /// Starts to move rows of earlier versions, if there are any.
    func beginMoving(_ report: @escaping @Sendable (StorageError) -> Void) {
        queue.update { $0.moveReport = report }
    }

    /// The progress of the latest copy; nil if there is none.
    var copy: CopyReport? { queue.update(matters: { _ in false }) { $0.copy } }

    /// The number of SQL statements run until the latest commit.
    var statementCount: Int { queue.update(matters: { _ in false }) { $0.statementCount } }

    /// Lets the thread end after it finishes the waiting jobs.
    func beginClosing() {
        queue.update { $0.isClosing = true }
    }

    /// Returns when the thread has ended and the file is free.
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
