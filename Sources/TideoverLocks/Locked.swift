import Glibc

/// A value that one thread at a time may use.
///
/// A POSIX mutex rather than `Synchronization.Mutex`: the thread sanitizer knows the former and
/// reports every use of the latter on Linux as a race, which would hide the true ones. The value
/// stands behind a pointer, so that printing whatever holds it prints nothing of it.
// Unchecked: `state` is touched only with the mutex held.
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

    /// Runs `body` alone; it must not come back here.
    package func withLock<Answer, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Answer
    ) throws(Failure) -> sending Answer {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state.pointee)
    }

    /// Runs `body` alone, or not at all while another thread is inside: then nil.
    package func withLockIfAvailable<Answer, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Answer
    ) throws(Failure) -> sending Answer? {
        guard pthread_mutex_trylock(mutex) == 0 else { return nil }
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state.pointee)
    }
}
