public import TideoverCore

/// How what falls due is worked through.
public struct DeadlinePace: Sendable {
    /// The longest rest between two looks. What was learned meanwhile can fall due earlier than
    /// anything known at the look before, so this is how late it may be noticed.
    public var longestRest: Duration
    /// How many customers one transaction derives: other writes wait for it.
    public var batch: Int
    /// For how long a batch is claimed; after a failure, how long it is left alone.
    public var lease: Milliseconds
    /// The longest rest after failures, which double it each time from a second on.
    public var longestBackoff: Duration

    public init(
        longestRest: Duration = .seconds(1),
        batch: Int = 32,
        lease: Milliseconds = .seconds(30),
        longestBackoff: Duration = .seconds(60)
    ) {
        self.longestRest = longestRest
        self.batch = batch
        self.lease = lease
        self.longestBackoff = longestBackoff
    }

    /// How long to rest when so many looks in a row have failed.
    func backoff(after failures: Int) -> Duration {
        min(longestBackoff, .seconds(1) * (1 << min(max(0, failures - 1), 16)))
    }

    /// How long to rest until an instant, by the time that passes outside.
    func rest(from now: Instant, until next: Instant?) -> Duration {
        guard let next else { return longestRest }
        return min(longestRest, max(.milliseconds(1), .milliseconds((next - now).count)))
    }
}
