import TideoverLocks

@testable import TideoverCommandLine

/// A number that a test increases while other threads read it.
final class Counter: Sendable {
    private let stored = Locked(0)
    var value: Int { stored.withLock { $0 } }
    func add(_ amount: Int) { stored.withLock { $0 += amount } }
}
