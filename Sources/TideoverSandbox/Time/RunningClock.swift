/// A store's clock that runs at a multiple of our speed, or is stopped. It returns the store's due
/// time; the store's owner advances the store. Instants are in milliseconds, the store's since
/// 1970, ours from any origin.
public struct RunningClock: Hashable, Sendable {
    /// The multiple of our speed; 0 for a stopped clock.
    public private(set) var speed: Int64
    /// The start of this speed, on our clock.
    private var ours: Int64
    /// The start of this speed, on the store's clock.
    private var stores: Int64

    /// Creates a clock that runs from now on.
    public init(speed: Int64 = 0, ours: Int64, stores: Int64) {
        precondition(speed >= 0, "no clock runs backwards")
        self.speed = speed
        (self.ours, self.stores) = (ours, stores)
    }

    /// Changes the speed from now on.
    public mutating func run(at speed: Int64, ours: Int64, stores: Int64) {
        self = RunningClock(speed: speed, ours: ours, stores: max(stores, now(at: ours)))
    }

    /// Returns the due time of the store. A store that is already further continues from its own
    /// time. One that is stopped at `limit` continues from there without making up for the lost
    /// time.
    public mutating func now(at ours: Int64, stores: Int64, atMost limit: Int64 = .max) -> Int64 {
        let now = now(at: ours)
        let due = max(stores, min(now, limit))
        if due != now { (self.ours, self.stores) = (ours, due) }
        return due
    }

    private func now(at ours: Int64) -> Int64 {
        Int64(clamping: Int128(stores) + (Int128(ours) - Int128(self.ours)) * Int128(speed))
    }
}
