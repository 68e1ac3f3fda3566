import Dispatch
import TideoverLocks

/// Runs what is asynchronous to its end, for libFuzzer, which waits for each input.
enum Waiting {
    static func run<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) -> Value {
        let done = DispatchSemaphore(value: 0)
        let result = Locked<Value?>(nil)
        Task.detached {
            let value = await body()
            result.withLock { $0 = value }
            done.signal()
        }
        done.wait()
        guard let value = result.withLock({ $0 }) else { Failure.stop("nothing came of it") }
        return value
    }
}
