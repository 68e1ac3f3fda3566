import Glibc

/// A value that one thread at a time may use.
///
/// It is locked by the operating system's mutex, which the thread sanitizer sees; on Linux it takes
/// what `Synchronization.Mutex` guards for a race.
final class Locked<Value>: @unchecked Sendable {  // `value` is touched only between lock and unlock
    private var value: Value
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    init(_ value: sending Value) {
        self.value = value
        let status = pthread_mutex_init(mutex, nil)
        precondition(status == 0, "the operating system has a mutex left")
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func withLock<Answer>(_ body: (inout Value) -> Answer) -> Answer {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(&value)
    }
}
