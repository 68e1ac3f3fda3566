import Foundation
import TideoverCore

/// A clock that advances by a fixed step with each reading.
final class Ticks: Sendable {
    private let hand: Hand
    private let step: Milliseconds

    init(from start: Instant, by step: Milliseconds) {
        hand = Hand(start)
        self.step = step
    }

    func next() -> Instant { hand.advance(by: step) }
}

/// A clock that a test sets or advances.
final class Hand: Sendable {
    private let lock = NSLock()
    // Guarded by the lock beside it.
    nonisolated(unsafe) private var instant: Instant

    init(_ instant: Instant) {
        self.instant = instant
    }

    var now: Instant {
        get { lock.withLock { instant } }
        set { lock.withLock { instant = newValue } }
    }

    /// Advances the clock, and returns the time before.
    func advance(by step: Milliseconds) -> Instant {
        lock.withLock {
            defer { instant = instant + step }
            return instant
        }
    }
}
