import Glibc

/// Runs blocking work on separate threads, because it would block the task pool.
struct Threads {
    private var threads: [pthread_t] = []

    /// Starts `count` threads. Each receives its number, from 0.
    static func start(_ count: Int, _ work: @escaping @Sendable (Int) -> Void) -> Threads {
        var started = Threads()
        for number in 0..<count { started.add { work(number) } }
        return started
    }

    /// Runs blocking work on a separate thread. Returns its result or throws its error.
    static func one<Result: Sendable>(
        _ work: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            var thread = Threads()
            thread.add { continuation.resume(with: Swift.Result(catching: work)) }
        }
    }

    private mutating func add(_ work: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let code = pthread_create(
            &thread,
            nil,
            { job in
                guard let job else { return nil }
                Unmanaged<Job>.fromOpaque(job).takeRetainedValue().work()
                return nil
            },
            Unmanaged.passRetained(Job(work)).toOpaque()
        )
        precondition(code == 0, "the machine has no thread left for a trial")
        threads.append(thread)
    }

    /// Returns when all threads have ended.
    func join() {
        for thread in threads { pthread_join(thread, nil) }
    }

    private final class Job {
        let work: @Sendable () -> Void
        init(_ work: @escaping @Sendable () -> Void) { self.work = work }
    }
}

/// Pauses the calling thread.
func pause(_ milliseconds: Int) {
    usleep(UInt32(clamping: milliseconds) * 1_000)
}

/// Waits for a condition, up to `patience` in milliseconds, and checks it every 10 ms. Returns
/// whether it was met.
func waited(upTo patience: Int, until isSo: () throws -> Bool) rethrows -> Bool {
    let deadline = ContinuousClock.now + .milliseconds(patience)
    while try !isSo() {
        if ContinuousClock.now > deadline { return false }
        pause(10)
    }
    return true
}

/// The system's clock, in milliseconds since 1970.
func systemMilliseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
}
