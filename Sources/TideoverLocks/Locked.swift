import Glibc

/// A value for exclusive use by one thread at a time.
///
/// It uses a POSIX mutex instead of `Synchronization.Mutex`. The thread sanitizer supports the
/// former, but on Linux reports every use of the latter as a race, which would hide real ones. The
/// value is behind a pointer, so that printing its owner never prints it.
// Unchecked: `state` is accessed only with the mutex locked.
package final class Locked<State: ~Copyable>: @unchecked Sendable {
    private let state: UnsafeMutablePointer<State>
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    package init(_ state: consuming sending State) {
        self.state = .allocate(capacity: 1)
        self.state.initialize(to: state)
        mutex = .allocate(capacity: 1)
        precondition(pthread_mutex_init(mutex, nil) == 0, "the system has no mutex left")
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
        state.deinitialize(count: 1)
        state.deallocate()
    }

    /// Runs `body` with exclusive access; it must not lock again.
    package func withLock<Answer, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Answer
    ) throws(Failure) -> sending Answer {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state.pointee)
    }

    /// Runs `body` with exclusive access; returns nil at once if another thread has the lock.
    package func withLockIfAvailable<Answer, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Answer
    ) throws(Failure) -> sending Answer? {
        guard pthread_mutex_trylock(mutex) == 0 else { return nil }
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state.pointee)
    }
}
