/// What a connection is waiting for, and since when: what the limits of time are judged by.
package struct ConnectionPhase: Hashable {
    /// What is waited for.
    package enum Kind: Hashable {
        /// Taken from the listener, not yet known to the engine.
        case joining
        /// No byte of a request has arrived.
        case idle
        /// Request line and header fields are arriving.
        case head
        /// The body is arriving.
        case body
        /// The handler has the request; its time is its own matter.
        case answering
        /// The answer is being sent.
        case replying
        /// The connection was told to close.
        case closing
    }

    /// What the connection waits for.
    package let kind: Kind
    /// Since when.
    package let since: ContinuousClock.Instant

    /// A phase that starts now.
    package init(_ kind: Kind, at now: ContinuousClock.Instant) {
        self.kind = kind
        since = now
    }

    /// Whether the connection has waited longer than it may.
    package func isOverdue(at now: ContinuousClock.Instant, _ limits: HTTPServerLimits) -> Bool {
        guard let limit = Self.limit(of: kind, limits) else { return false }
        return since.duration(to: now) > limit
    }

    private static func limit(of kind: Kind, _ limits: HTTPServerLimits) -> Duration? {
        switch kind {
        case .joining: .seconds(5)
        case .idle: limits.idle
        case .head: limits.head
        case .body: limits.body
        case .replying: limits.reply
        case .answering, .closing: nil
        }
    }
}
