import TideoverLocks

/// A clock in nanoseconds that moves only on request.
final class Uptime: Sendable {
    private let state = Locked<Int64>(5_000_000_000)

    var nanoseconds: Int64 {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
