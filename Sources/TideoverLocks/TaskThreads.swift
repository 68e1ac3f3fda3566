import Glibc

/// Threads for tasks: some for tasks that block, or one for each processor for tasks that compute.
///
/// Swift's own pool has as many threads as there are processors. If that many tasks block, for
/// example while a database across the network answers, no other one runs. Here a thread is added
/// while all others are busy, up to a limit; further tasks wait, in order.
///
/// Waking a thread takes a system call and a switch. So at most one thread is on its way to the
/// waiting tasks. It takes one, and sends for the next thread if others are left.
// Unchecked: the state is behind a lock, and a semaphore is made for several threads.
package final class TaskThreads: TaskExecutor, @unchecked Sendable {
    private struct State {
        /// The waiting jobs after those that were taken.
        private var jobs: [UnownedJob] = []
        private var taken = 0
        var threads = 0
        /// The threads that wait at the semaphore and were not woken.
        var waiting = 0
        /// The threads that were started or woken, and have not looked for a task yet.
        var coming = 0
        var isClosed = false

        var isEmpty: Bool { taken == jobs.count }

        mutating func append(_ job: UnownedJob) { jobs.append(job) }

        /// Takes the oldest job; nil if none waits.
        mutating func takeFirst() -> UnownedJob? {
            guard !isEmpty else { return nil }
            let job = jobs[taken]
            taken += 1
            // Removed together, so that the jobs behind them move rarely.
            if isEmpty || taken >= max(64, jobs.count / 2) {
                jobs.removeFirst(taken)
                taken = 0
            }
            return job
        }

        /// Decides whether the waiting tasks need one more thread, and counts it.
        mutating func reinforcement(most: Int) -> Reinforcement? {
            guard !isEmpty, coming == 0 else { return nil }
            if waiting > 0 {
                waiting -= 1
                coming += 1
                return .woken
            }
            guard threads < most else { return nil }
            threads += 1
            coming += 1
            return .started
        }
    }

    private enum Reinforcement { case woken, started }

    private enum Turn { case run(UnownedJob), wait, end }

    private let state = Locked(State())
    private let wakes: UnsafeMutablePointer<sem_t>
    private let most: Int

    /// Starts the first thread.
    ///
    /// - Throws: `NoThreadLeft` if the system cannot start one.
    package init(most: Int) throws(NoThreadLeft) {
        self.most = most
        wakes = .allocate(capacity: 1)
        sem_init(wakes, 0, 0)
        state.withLock { state in
            state.threads = 1
            state.coming = 1
        }
        guard startCounted() else { throw NoThreadLeft() }
    }

    deinit {
        sem_destroy(wakes)
        wakes.deallocate()
    }

    /// Runs `body` and the tasks in it on these threads.
    package func run<Answer: Sendable>(
        _ body: @Sendable @concurrent () async throws -> Answer
    ) async rethrows -> Answer {
        try await withTaskExecutorPreference(self, operation: body)
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        reinforce(
            state.withLock { state in
                state.append(job)
                return state.reinforcement(most: most)
            }
        )
    }

    /// Ends the threads once no job is left.
    package func close() {
        let woken = state.withLock { state in
            state.isClosed = true
            defer { state.waiting = 0 }
            state.coming += state.waiting
            return state.waiting
        }
        for _ in 0..<woken { sem_post(wakes) }
    }

    private func reinforce(_ reinforcement: Reinforcement?) {
        switch reinforcement {
        case .woken: sem_post(wakes)
        // If it cannot be started, the jobs wait for one of the threads that exist.
        case .started: _ = startCounted()
        case nil: break
        }
    }

    /// Starts a thread that is counted already.
    private func startCounted() -> Bool {
        if startThread({ self.work() }) == 0 { return true }
        let other = state.withLock { state in
            state.threads -= 1
            state.coming -= 1
            // Tasks given meanwhile counted on this thread. One that waits by now takes them.
            return state.reinforcement(most: 0)
        }
        reinforce(other)
        return false
    }

    private func work() {
        var isComing = true
        while true {
            switch next(isComing) {
            case .run(let job):
                job.runSynchronously(on: asUnownedTaskExecutor())
                isComing = false
            case .wait:
                // Interrupted by a signal, it waits on.
                while sem_wait(wakes) != 0 {}
                isComing = true
            case .end: return
            }
        }
    }

    private func next(_ isComing: Bool) -> Turn {
        let (turn, reinforcement) = state.withLock { state -> (Turn, Reinforcement?) in
            if isComing { state.coming -= 1 }
            if let job = state.takeFirst() {
                return (.run(job), state.reinforcement(most: most))
            }
            guard state.isClosed else {
                state.waiting += 1
                return (.wait, nil)
            }
            // A task can still continue here after `close`, on a new thread.
            state.threads -= 1
            return (.end, nil)
        }
        reinforce(reinforcement)
        return turn
    }
}

/// The system cannot start a thread.
package struct NoThreadLeft: Error {}
