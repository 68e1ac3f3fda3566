package import TideoverCore

/// The schedule of the deadline worker.
package struct DeadlinePace: Sendable {
    /// The longest pause between two checks. Facts learned meanwhile can fall due earlier than all
    /// known deadlines, so this is the maximum delay.
    package var longestRest: Duration
    /// The number of customers in one transaction; other writes wait for it.
    package var batch: Int
    /// How long a batch is claimed, and after a failure how long it is not retried.
    package var lease: Milliseconds

    package init(
        longestRest: Duration = .seconds(1),
        batch: Int = 32,
        lease: Milliseconds = .seconds(30)
    ) {
        self.longestRest = longestRest
        self.batch = batch
        self.lease = lease
    }

    /// Returns the pause until an instant, in real time.
    func rest(from now: Instant, until next: Instant?) -> Duration {
        guard let next else { return longestRest }
        return min(longestRest, max(.milliseconds(1), .milliseconds((next - now).count)))
    }
}
