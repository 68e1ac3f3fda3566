import TideoverCore
import TideoverLocks
import TideoverStorage

/// Runs commits that concern customers with many lineages, one after the other, on a separate
/// thread.
///
/// Reading and deriving such a customer takes longer than others may wait for the writer. It
/// happens here on a read-only connection. The writer then stores the result if nothing of the
/// customer changed meanwhile. Otherwise the customer is derived again, and after a few attempts
/// inside the transaction.
final class LargeCommits: Sendable {
    typealias Derive = @Sendable (CustomerLineages) -> Derivation

    private struct Job: Sendable {
        let batch: [CommitRequestRows]
        let derive: Derive
        let finish: @Sendable (Result<[CommitOutcome], StorageError>) -> Void
    }

    private struct State {
        var jobs: [Job] = []
        var hasThread = false
        var isClosing = false
        var waitingForClose: [CheckedContinuation<Void, Never>] = []
    }

    /// One attempt to find the customers to derive, one more for settled lineages, one to store,
    /// two for changes.
    private static let mostAttempts = 5
    /// The maximum number of lineages one commit marks as settled: each is a write in the
    /// transaction.
    private static let mostMarks = 256

    private let state = ConditionLock(State())
    private let writer: Writer
    private let path: String
    private let options: SQLiteOptions

    init(writer: Writer, path: String, options: SQLiteOptions) {
        self.writer = writer
        self.path = path
        self.options = options
    }

    func commit(
        _ batch: [CommitRequestRows],
        derive: @escaping Derive
    ) async throws(StorageError) -> [CommitOutcome] {
        let result = await withCheckedContinuation { caller in
            enqueue(Job(batch: batch, derive: derive) { caller.resume(returning: $0) })
        }
        return try result.get()
    }

    private func enqueue(_ job: Job) {
        let (refusal, starts) = state.update { state -> (StorageError?, Bool) in
            guard !state.isClosing else { return (StorageError(.closed, place: path), false) }
            guard state.jobs.count < options.maximumQueueLength else {
                let detail = "\(state.jobs.count) writes of large customers are waiting"
                return (StorageError(.busy, place: path, detail: detail), false)
            }
            state.jobs.append(job)
            defer { state.hasThread = true }
            return (nil, !state.hasThread)
        }
        if let refusal { return job.finish(.failure(refusal)) }
        guard starts else { return }
        let code = startThread { self.run() }
        guard code != 0 else { return }
        let (left, waiting) = state.update { state in
            state.hasThread = false
            defer { (state.jobs, state.waitingForClose) = ([], []) }
            return (state.jobs, state.waitingForClose)
        }
        for job in left { job.finish(.failure(StorageError(errno: code, place: path))) }
        for caller in waiting { caller.resume() }
    }

    /// Lets the thread end after it finishes the waiting jobs.
    func beginClosing() { state.update { $0.isClosing = true } }

    /// Returns after the thread has ended.
    func close() async {
        await withCheckedContinuation { caller in
            let isOver = state.update { state in
                state.isClosing = true
                if state.hasThread { state.waitingForClose.append(caller) }
                return !state.hasThread
            }
            if isOver { caller.resume() }
        }
    }

    // MARK: The thread

    private func run() {
        var reading: Reading?
        while let job = next() {
            job.finish(outcome(of: job, &reading))
        }
        reading = nil
        let waiting = state.update { state in
            state.hasThread = false
            defer { state.waitingForClose = [] }
            return state.waitingForClose
        }
        for caller in waiting { caller.resume() }
    }

    /// Returns the next job; nil when no more will come.
    private func next() -> Job? {
        while true {
            let turn = state.wait(upTo: .max >> 32) { state -> Job?? in
                if !state.jobs.isEmpty { return .some(state.jobs.removeFirst()) }
                return state.isClosing ? .some(nil) : nil
            }
            if let turn { return turn }
        }
    }

    private func outcome(
        of job: Job,
        _ reading: inout Reading?
    ) -> Result<[CommitOutcome], StorageError> {
        do {
            return .success(try commit(job, &reading))
        } catch {
            return .failure(error)
        }
    }

    private func commit(
        _ job: Job,
        _ reading: inout Reading?
    ) throws(StorageError) -> [CommitOutcome] {
        var plan = DerivationPlan(mostInside: options.mostLineagesInside, isOutside: true)
        for _ in 0..<Self.mostAttempts {
            switch try attempt(job, plan) {
            case .ended(let outcomes): return outcomes
            case .postponed(let inputs):
                if reading == nil { reading = try Reading(path, options) }
                // Derivations of other customers stay valid as long as nothing of them changes.
                for input in inputs {
                    plan.derived[input.outline.key] = nil
                    reading?.derive(input, job.derive, &plan)
                }
            }
        }
        guard case .ended(let outcomes) = try attempt(job, DerivationPlan(mostInside: .max)) else {
            preconditionFailure("a commit without a limit ends")
        }
        return outcomes
    }

    private func attempt(_ job: Job, _ plan: DerivationPlan) throws(StorageError) -> CommitAttempt {
        try writer.writeAndWait { writeSession throws(StorageError) in
            try writeSession.commit(job.batch, plan, derive: job.derive)
        }
    }

    /// The connection that reads customers.
    private final class Reading {
        private let connection: Connection
        private let customers: CustomerQueries

        init(_ path: String, _ options: SQLiteOptions) throws(StorageError) {
            connection = try Connection(
                path: path,
                access: .readOnly,
                busyTimeout: options.readerPatience
            )
            customers = CustomerQueries(Statements(connection))
        }

        /// Adds a derivation to a plan. Unreadable data was removed meanwhile, or the last attempt
        /// meets it again and reports it.
        func derive(_ input: DerivationInput, _ derive: Derive, _ plan: inout DerivationPlan) {
            guard
                let lineages = try? inTransaction({ () throws(StorageError) in
                    try customers.lineages(in: input)
                })
            else { return }
            let derivation = derive(lineages)
            guard !derivation.needsAll || input.isWhole else {
                plan.whole.insert(input.outline.key)
                return
            }
            guard let marks = try? marks(input, derivation) else { return }
            plan.derived[input.outline.key] = DerivedCustomer(
                input,
                lineages,
                derivation,
                marks: marks
            )
        }

        /// Returns some of the settled lineages that are not marked yet.
        private func marks(
            _ input: DerivationInput,
            _ derivation: Derivation
        ) throws(StorageError) -> [SettledLineage] {
            let marked = try customers.marked(
                of: input.outline.key,
                under: derivation.fingerprint
            )
            let unmarked = derivation.settled.filter {
                input.newFacts[$0.lineage.key] != nil || !marked.contains($0.lineage.key)
            }
            return Array(unmarked.prefix(LargeCommits.mostMarks))
        }

        private func inTransaction<Value>(
            _ body: () throws(StorageError) -> Value
        ) throws(StorageError) -> Value {
            try connection.execute(SQL.beginReading)
            do {
                let value = try body()
                try connection.execute(CommonSQL.commit)
                return value
            } catch {
                if connection.isInTransaction { try? connection.execute(CommonSQL.rollBack) }
                throw error
            }
        }
    }
}
