/// A store's clock that runs so many times as fast as ours, or stands. It says where the store should be;
/// whoever holds the store takes it there. Instants are in milliseconds, the store's since 1970, ours since
/// whenever.
public struct RunningClock: Hashable, Sendable {
    /// How many times as fast as ours; 0 while it stands.
    public private(set) var speed: Int64
    /// When it began to run like this, by our clock.
    private var ours: Int64
    /// And by the store's.
    private var stores: Int64

    /// A clock that runs from now on.
    public init(speed: Int64 = 0, ours: Int64, stores: Int64) {
        precondition(speed >= 0, "no clock runs backwards")
        self.speed = speed
        (self.ours, self.stores) = (ours, stores)
    }

    /// Runs otherwise from now on.
    public mutating func run(at speed: Int64, ours: Int64, stores: Int64) {
        self = RunningClock(speed: speed, ours: ours, stores: max(stores, now(at: ours)))
    }

    /// Where the store should be. One that was told to jump, and is further, goes on from there; one that
    /// may come no further than `limit` goes on from that, and has nothing to make up.
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
