import Glibc

/// Blocking work on threads of its own, which the pool of tasks has no room for.
struct Threads {
    private var threads: [pthread_t] = []

    /// Starts `count` threads; each is told its number, from 0.
    static func start(_ count: Int, _ work: @escaping @Sendable (Int) -> Void) -> Threads {
        var started = Threads()
        for number in 0..<count { started.add { work(number) } }
        return started
    }

    /// What blocking work on a thread of its own returns, or throws.
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

    /// Returns when all of them have ended.
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

/// Whether something became so before the patience, in milliseconds, was over; looked at every 10 ms.
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
