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

    /// How early the connection is closed to make room for another; nil if it must stay open.
    ///
    /// Those whose last request was refused come first, at any time between two answers. Then come idle
    /// ones, then those that send their request. A client needs a moment to send its first bytes, and
    /// some time to send a whole request, so young ones stay. A request that arrived is always
    /// answered.
    package func evictionRank(
        at now: ContinuousClock.Instant,
        afterRefusal isRefused: Bool
    ) -> EvictionRank? {
        let age = since.duration(to: now)
        switch kind {
        case .idle where isRefused, .head where isRefused, .body where isRefused:
            return EvictionRank(group: 0, since: since)
        case .idle: return age < .milliseconds(100) ? nil : EvictionRank(group: 1, since: since)
        case .head, .body: return age < .seconds(1) ? nil : EvictionRank(group: 2, since: since)
        case .joining, .answering, .replying, .closing: return nil
        }
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

/// An order among connections: the smallest is the first to be closed to make room for another.
package struct EvictionRank: Hashable, Comparable {
    let group: Int
    let since: ContinuousClock.Instant

    package static func < (a: EvictionRank, b: EvictionRank) -> Bool {
        (a.group, a.since) < (b.group, b.since)
    }
}
