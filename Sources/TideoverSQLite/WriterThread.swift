import Glibc
import TideoverLocks
import TideoverStorage

/// The thread that owns the writing connection. It alone commits and checkpoints, and no thread of
/// Swift's task pool blocks while SQLite waits for the disk.
final class WriterThread {
    private let queue: ConditionLock<Writer.Queue>
    private var writeSession: WriteSession?
    private var lock: LockFile?
    private let readSessions: ReadSessionPool
    private let options: SQLiteOptions
    private let faults: SQLiteFaults
    private var plan = CheckpointPlan()
    private var latestGroupCount = 0
    /// The number of transactions to run with savepoints, since a job failed lately.
    private var cautiousTurns = 0
    private var copy: PageCopy?
    /// Nil once no row of an earlier version is left to move.
    private var rowMove: RowMove?
    private var moveReport: (@Sendable (StorageError) -> Void)?
    /// Set when the disk did not confirm a write: the content of the file is unknown until it is
    /// opened again.
    private var failure: StorageError?

    private static let quietMilliseconds: Int64 = 1_000
    private static let readerPatience: Int64 = 5_000
    private static let cautiousTurnsAfterFailure = 32

    init(
        queue: ConditionLock<Writer.Queue>,
        writeSession: WriteSession,
        lock: LockFile,
        readSessions: ReadSessionPool,
        options: SQLiteOptions,
        faults: SQLiteFaults
    ) {
        self.queue = queue
        self.writeSession = writeSession
        self.lock = lock
        self.readSessions = readSessions
        self.options = options
        self.faults = faults
    }

    func start() throws(StorageError) {
        // Ownership is transferred: the starting thread does not use it again.
        nonisolated(unsafe) let thread = self
        let code = startThread { thread.run() }
        guard code == 0 else {
            throw StorageError(errno: code, place: writeSession?.connection.place ?? "")
        }
    }

    // MARK: The thread

    private func run() {
        while let writeSession, takeTurn(writeSession) {}
        rowMove = nil
        // This is the last reference to the connection: it closes here, before the lock is
        // released.
        writeSession = nil
        lock = nil
        let waiting = queue.update { queue in
            queue.isClosed = true
            defer { queue.waitingForClose = [] }
            return queue.waitingForClose
        }
        for caller in waiting { caller.resume() }
    }

    /// Returns false after the last turn.
    private func takeTurn(_ writeSession: WriteSession) -> Bool {
        let hasWork = copy != nil || mayMove
        let isQuiet = !plan.isDirty && rowMove == nil
        switch nextTurn(hasWork ? 0 : isQuiet ? .max >> 32 : Self.quietMilliseconds) {
        case .write(let jobs):
            write(jobs, writeSession)
            goOnCopying(writeSession)
            goOnMoving(writeSession)
        case .rest:
            if !hasWork { checkpoint(writeSession, isIdle: true) }
            goOnCopying(writeSession)
            goOnMoving(writeSession)
        case .close:
            abandonCopy()
            readSessions.close(patience: Self.readerPatience)
            let mayWrite = queue.update(matters: { _ in false }) { $0.prohibition == nil }
            if failure == nil, mayWrite { checkpoint(writeSession, .truncate) }
            return false
        }
        return true
    }

    private enum Turn {
        case write([WriterJob]), rest, close
    }

    private func nextTurn(_ patience: Int64) -> Turn {
        guard waitFor(1, upTo: patience) else { return .rest }
        // Only under load, more jobs are about to arrive: one confirmation covers them all.
        if latestGroupCount > 1 {
            _ = waitFor(latestGroupCount, upTo: options.gatherMilliseconds)
        }
        return queue.update { queue in
            guard !queue.jobs.isEmpty else { return queue.isClosing ? .close : .rest }
            let group = Array(queue.jobs.prefix(options.maximumGroupCount))
            queue.jobs.removeFirst(group.count)
            return .write(group)
        }
    }

    /// Waits until enough jobs are queued, or no more will come; returns false on a timeout.
    private func waitFor(_ count: Int, upTo patience: Int64) -> Bool {
        queue.wait(upTo: patience) { queue in
            queue.wanted = count
            let isEnough =
                queue.jobs.count >= count || queue.isClosing || queue.isCopyWanted
                || queue.moveReport != nil
            return isEnough ? true : nil
        } == true
    }

    private func write(_ jobs: [WriterJob], _ writeSession: WriteSession) {
        latestGroupCount = jobs.count
        var rest = jobs[...]
        while !rest.isEmpty { rest = transaction(rest, writeSession) }
        checkpoint(writeSession, isIdle: false)
    }

    // MARK: One transaction

    private struct Done {
        let job: WriterJob
        let tell: @Sendable () -> Void
    }

    /// Runs the jobs as one transaction.
    ///
    /// - Returns: the jobs not tried, if the engine aborted the transaction.
    private func transaction(
        _ jobs: ArraySlice<WriterJob>,
        _ writeSession: WriteSession
    ) -> ArraySlice<WriterJob> {
        if cautiousTurns > 0 {
            cautiousTurns -= 1
        } else {
            guard begin(jobs, writeSession) else { return [] }
            if let done = runTogether(jobs, writeSession) {
                end(done, writeSession)
                return []
            }
            cautiousTurns = Self.cautiousTurnsAfterFailure
        }
        guard begin(jobs, writeSession) else { return [] }
        return runWithSavepoints(jobs, writeSession)
    }

    /// Begins a transaction; returns false after failing the jobs.
    private func begin(_ jobs: ArraySlice<WriterJob>, _ writeSession: WriteSession) -> Bool {
        let error = failure ?? error(of: { () throws(StorageError) in try writeSession.begin() })
        guard let error else { return true }
        for job in jobs { job.fail(error) }
        return false
    }

    /// Runs the jobs without savepoints, because with one SQLite copies each page before its first
    /// change.
    ///
    /// - Returns: nil after a rollback, if a job failed or must be undone. It is tried again with
    ///   savepoints, and reports its error then.
    private func runTogether(
        _ jobs: ArraySlice<WriterJob>,
        _ writeSession: WriteSession
    ) -> [Done]? {
        var done: [Done] = []
        do {
            for job in jobs {
                guard let tell = try writeSession.inTransaction(job.run) else { break }
                done.append(Done(job: job, tell: tell))
            }
        } catch {
            note(error)
        }
        guard done.count < jobs.count else { return done }
        writeSession.rollBack()
        return nil
    }

    private func runWithSavepoints(
        _ jobs: ArraySlice<WriterJob>,
        _ writeSession: WriteSession
    ) -> ArraySlice<WriterJob> {
        var done: [Done] = []
        for (index, job) in zip(jobs.indices, jobs) {
            do {
                done.append(Done(job: job, tell: try writeSession.inSavepoint(job.run)))
            } catch {
                job.fail(error)
                guard !writeSession.connection.isInTransaction else { continue }
                give(up: done, error)
                return jobs[(index + 1)...]
            }
        }
        end(done, writeSession)
        return []
    }

    private func end(_ done: [Done], _ writeSession: WriteSession) {
        do {
            try faults.beforeCommit(done.count)
            try lock?.check()
            try writeSession.end()
        } catch {
            writeSession.rollBack()
            give(up: done, error)
            return
        }
        plan.committed(pagesInLog: writeSession.pagesInLog)
        let count = writeSession.connection.statementCount
        queue.update(matters: { _ in false }) { $0.statementCount = count }
        for each in done { each.tell() }
    }

    private func give(up done: [Done], _ error: StorageError) {
        note(error)
        for each in done { each.job.fail(error) }
    }

    private func note(_ error: StorageError) {
        if error.reason == .unconfirmed { failure = error }
    }

    private func error(of body: () throws(StorageError) -> Void) -> StorageError? {
        do {
            try body()
            return nil
        } catch {
            return error
        }
    }

    // MARK: A copy

    /// Starts a requested copy, or copies more pages of the current one.
    private func goOnCopying(_ writeSession: WriteSession) {
        let wanted = queue.update(matters: { _ in false }) { queue -> String? in
            defer { queue.isCopyWanted = false }
            return queue.isCopyWanted ? queue.copy?.file : nil
        }
        guard wanted != nil || copy != nil else { return }
        do {
            if let wanted {
                // Only one copy is kept: a client that fetches the previous one has it open by now.
                CopyReport.removeAll(of: writeSession.connection.place)
                copy = try PageCopy(of: writeSession.connection, to: wanted)
            }
            guard let isComplete = try copy?.step(), let bytes = copy?.bytes else { return }
            // The copy is complete only after its connection is closed.
            if isComplete { copy = nil }
            note(isComplete ? .copied : .copying, bytes)
        } catch {
            abandonCopy(error)
        }
    }

    private func abandonCopy(_ error: StorageError? = nil) {
        copy = nil
        // This includes a copy that was requested but never started.
        guard queue.update(matters: { _ in false }, { $0.copy?.state == .copying }) else { return }
        let error = error ?? StorageError(.closed, place: writeSession?.connection.place ?? "")
        let file = queue.update(matters: { _ in false }) { $0.copy?.file }
        if let file { unlink(file) }
        note(.failed(error), nil)
    }

    private func note(_ state: CopyReport.State, _ bytes: (copied: Int64, all: Int64)?) {
        queue.update(matters: { _ in false }) { queue in
            queue.copy?.state = state
            guard let bytes else { return }
            queue.copy?.bytes = bytes.copied
            queue.copy?.bytesInAll = bytes.all
        }
    }

    // MARK: Rows of earlier versions

    /// Whether rows can be moved now. While a reader keeps the log from restarting, moving would only
    /// make it longer, and later checkpoints would wait for the reader.
    private var mayMove: Bool {
        let isLogBlocked = plan.isDirty && plan.pageCount >= CheckpointPlan.softPageCount
        return rowMove != nil && !isLogBlocked
    }

    /// Moves more rows. After an error, which is reported, the others stay in their table until the
    /// next start, and statements read both tables.
    private func goOnMoving(_ writeSession: WriteSession) {
        let (wanted, mayWrite) = queue.update(matters: { _ in false }) { queue in
            defer { queue.moveReport = nil }
            return (queue.moveReport, queue.prohibition == nil)
        }
        guard wanted != nil || rowMove != nil, failure == nil, mayWrite else {
            return rowMove = nil
        }
        do {
            if let wanted {
                moveReport = wanted
                rowMove = try RowMove(writeSession.connection)
            }
            guard mayMove, let move = rowMove else { return }
            let isDone = try move.step(writeSession) { () throws(StorageError) in
                try faults.beforeCommit(1)
                try lock?.check()
            }
            if isDone { rowMove = nil }
            plan.committed(pagesInLog: writeSession.pagesInLog)
            checkpoint(writeSession, isIdle: false)
        } catch {
            note(error)
            rowMove = nil
            moveReport?(error)
        }
    }

    // MARK: The log

    private func checkpoint(_ writeSession: WriteSession, isIdle: Bool) {
        guard failure == nil, let mode = plan.due(isIdle: isIdle) else { return }
        checkpoint(writeSession, mode)
    }

    private func checkpoint(_ writeSession: WriteSession, _ mode: CheckpointMode) {
        do {
            plan.attempted(mode, pagesLeft: try writeSession.connection.checkpoint(mode))
        } catch {
            // No acknowledged write is lost: it is in the log. A full disk is tried again later.
            note(error)
            plan.attempted(mode, pagesLeft: plan.pageCount)
        }
    }
}
