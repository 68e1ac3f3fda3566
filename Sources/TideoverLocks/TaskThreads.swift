/// Threads for tasks: some for tasks that block, or one for each processor for tasks that compute.
///
/// Swift's own pool has as many threads as there are processors. If that many tasks block, for
/// example while a database across the network answers, no other one runs. Here a thread is added
/// while all others are busy, up to a limit; further tasks wait, in order. Giving a task to the
/// pool takes system calls; a busy thread here takes its next one without any.
package final class TaskThreads: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var threads = 0
        var idle = 0
        var isClosed = false
    }

    private let state = ConditionLock(State())
    private let most: Int

    /// Starts the first thread.
    ///
    /// - Throws: `NoThreadLeft` if the system cannot start one.
    package init(most: Int) throws(NoThreadLeft) {
        self.most = most
        state.update(matters: { _ in false }) { $0.threads = 1 }
        guard startCounted() else { throw NoThreadLeft() }
    }

    /// Runs `body` and the tasks in it on these threads.
    package func run<Answer: Sendable>(
        _ body: @Sendable @concurrent () async throws -> Answer
    ) async rethrows -> Answer {
        try await withTaskExecutorPreference(self, operation: body)
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isMissing = state.updateWakingOne { state in
            state.jobs.append(job)
            guard state.idle < state.jobs.count, state.threads < most else { return false }
            state.threads += 1
            return true
        }
        // Without another thread the job waits for one of those that exist.
        if isMissing { _ = startCounted() }
    }

    /// Ends the threads once no job is left.
    package func close() { state.update { $0.isClosed = true } }

    /// Starts a thread that is counted already.
    private func startCounted() -> Bool {
        guard startThread({ self.work() }) == 0 else {
            state.update(matters: { _ in false }) { $0.threads -= 1 }
            return false
        }
        return true
    }

    private func work() {
        while let job = next() { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    private func next() -> UnownedJob? {
        state.update(matters: { _ in false }) { $0.idle += 1 }
        // A thread that has taken a job is no longer idle at the same moment. Otherwise the next job
        // would wait for it, and perhaps for ever.
        return state.wait { state -> UnownedJob?? in
            guard !state.jobs.isEmpty || state.isClosed else { return nil }
            state.idle -= 1
            guard state.jobs.isEmpty else { return .some(state.jobs.removeFirst()) }
            // A task can still continue here after `close`, on a new thread.
            state.threads -= 1
            return .some(nil)
        }
    }
}

/// The system cannot start a thread.
package struct NoThreadLeft: Error {}
