import Glibc

/// A value for exclusive use by one thread at a time, with a condition to wait for changes.
// Unchecked: `state` is accessed only with the mutex locked.
package final class ConditionLock<State>: @unchecked Sendable {
    private var state: State
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let change: UnsafeMutablePointer<pthread_cond_t>

    package init(_ state: sending State) {
        self.state = state
        mutex = .allocate(capacity: 1)
        change = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        // Waiting must not depend on changes of the system clock.
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(change, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(change)
        pthread_mutex_destroy(mutex)
        change.deallocate()
        mutex.deallocate()
    }

    /// Updates the value, and wakes the waiting threads, unless `matters` returns false.
    package func update<Result>(
        matters: (State) -> Bool = { _ in true },
        _ body: (inout State) -> Result
    ) -> Result {
        pthread_mutex_lock(mutex)
        let result = body(&state)
        let isNews = matters(state)
        pthread_mutex_unlock(mutex)
        // A thread that wakes while the mutex is locked would only wait for it.
        if isNews { pthread_cond_broadcast(change) }
        return result
    }

    /// Runs `body` now and after each change until it returns a value.
    package func wait<Result>(until body: (inout State) -> Result?) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) { return result }
            pthread_cond_wait(change, mutex)
        }
    }

    /// Runs `body` now and after each change until it returns a value; returns nil after
    /// `milliseconds`.
    package func wait<Result>(
        upTo milliseconds: Int64,
        until body: (inout State) -> Result?
    ) -> Result? {
        var deadline = Self.deadline(in: milliseconds)
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) { return result }
            let code = pthread_cond_timedwait(change, mutex, &deadline)
            guard code != ETIMEDOUT else { return body(&state) }
        }
    }

    private static func deadline(in milliseconds: Int64) -> timespec {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let nanoseconds = time.tv_nsec + Int(milliseconds % 1000) * 1_000_000
        time.tv_sec += Int(milliseconds / 1000) + nanoseconds / 1_000_000_000
        time.tv_nsec = nanoseconds % 1_000_000_000
        return time
    }
}
