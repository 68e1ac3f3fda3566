import Glibc
import TideoverLocks
import TideoverStorage

/// One request to write.
struct WriterJob: Sendable {
    /// Does the work; what it returns tells the caller so, and is called once the work is durable.
    let run: @Sendable (Ledger) throws(StorageError) -> @Sendable () -> Void
    /// Tells the caller that nothing was done.
    let fail: @Sendable (StorageError) -> Void
}

/// The queue in front of the one thread that writes.
///
/// What gathers while the disk confirms one transaction becomes the next: many requests share one
/// confirmation, which is what costs. Each has a savepoint, so that a request that fails takes back
/// only its own work.
final class Writer: Sendable {
    struct Queue {
        var jobs: [WriterJob] = []
        /// How many jobs the thread waits for; to wake it for each of them would cost more than the
        /// waiting gains.
        var wanted = 1
        /// The latest copy of the database that was asked for, and whether it has yet to begin.
        var copy: CopyReport?
        var isCopyWanted = false
        /// Why nothing may be written any more.
        var prohibition: StorageError?
        var isClosing = false
        var isClosed = false
        var waitingForClose: [CheckedContinuation<Void, Never>] = []
    }

    private let queue: Monitor<Queue>
    private let place: String
    private let limit: Int

    /// Starts the thread, which from now on owns the ledger and the lock.
    init(
        ledger: sending Ledger,
        lock: LockFile,
        readers: ReaderPool,
        options: SQLiteOptions,
        faults: SQLiteFaults
    ) throws(StorageError) {
        queue = Monitor(Queue())
        place = ledger.connection.place
        limit = options.maximumQueueLength
        let thread = WriterThread(
            queue: queue,
            ledger: ledger,
            lock: lock,
            readers: readers,
            options: options,
            faults: faults
        )
        try thread.start()
    }

    /// Runs `work` in a transaction, and returns when that is on disk.
    func write<Value: Sendable>(
        _ work: @escaping @Sendable (Ledger) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        let result: Result<Value, StorageError> = await withCheckedContinuation { caller in
            let job = WriterJob(
                run: { ledger throws(StorageError) in
                    let value = try work(ledger)
                    return { caller.resume(returning: .success(value)) }
                },
                fail: { caller.resume(returning: .failure($0)) }
            )
            if let refusal = enqueue(job) { job.fail(refusal) }
        }
        return try result.get()
    }

    /// As `write`, for a thread that may block.
    func writeAndWait<Value: Sendable>(
        _ work: @escaping @Sendable (Ledger) throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        let answer = Monitor<Result<Value, StorageError>?>(nil)
        let job = WriterJob(
            run: { ledger throws(StorageError) in
                let value = try work(ledger)
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

    /// Refuses every later write with an error.
    func prohibit(_ error: StorageError) {
        queue.update { $0.prohibition = error }
    }

    /// Begins to copy the database into a file; nil while another copy is made.
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

    /// How far the latest copy is; nil where none was asked for.
    var copy: CopyReport? { queue.update(matters: { _ in false }) { $0.copy } }

    /// Lets the thread end when it has done what is waiting.
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
