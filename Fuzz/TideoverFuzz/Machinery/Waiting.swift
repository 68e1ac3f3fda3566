import TideoverLocks

/// Runs asynchronous code to its end on the calling thread, because libFuzzer waits for each input.
/// A switch to other threads and back would take longer than the input itself.
final class Waiting: TaskExecutor {
    private let jobs = Locked<[UnownedJob]>([])

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    private func next() -> UnownedJob? {
        jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }

    static func run<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) -> Value {
        let thread = Waiting()
        let result = Locked<Value?>(nil)
        Task(executorPreference: thread) {
            let value = await body()
            result.withLock { $0 = value }
        }
        while let job = thread.next() {
            job.runSynchronously(on: thread.asUnownedTaskExecutor())
        }
        guard let value = result.withLock({ $0 }) else {
            Failure.stop("something waits for another thread")
        }
        return value
    }
}
