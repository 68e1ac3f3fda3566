/// The phase of a connection and its start, to which the time limits apply.
package struct ConnectionPhase: Hashable {
    /// The kind of a phase.
    package enum Kind: Hashable {
        /// Accepted from the listener, not yet passed to the engine.
        case joining
        /// No byte of a request has arrived.
        case idle
        /// Request line and header fields are arriving.
        case head
        /// The body is arriving.
        case body
        /// The handler has the request; no time limit applies.
        case answering
        /// The response is being sent.
        case replying
        /// The connection was asked to close.
        case closing
    }

    /// The kind of the phase.
    package let kind: Kind
    /// When the phase began.
    package let since: ContinuousClock.Instant

    /// Creates a phase that starts now.
    package init(_ kind: Kind, at now: ContinuousClock.Instant) {
        self.kind = kind
        since = now
    }

    /// Whether the connection has exceeded the time limit of its phase.
    package func isOverdue(at now: ContinuousClock.Instant, _ limits: HTTPServerLimits) -> Bool {
        guard let limit = Self.limit(of: kind, limits) else { return false }
        return since.duration(to: now) > limit
    }

    /// Returns the priority for closing the connection to make room for another; nil if it must
    /// stay open.
    ///
    /// Connections with a rejected last request come first, at any time between two responses. Then
    /// come idle ones, then those that are sending a request. New ones stay, since a client needs
    /// some time to send its first bytes and then a whole request. A received request is always
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

/// An order of connections: the smallest is closed first to make room for another.
package struct EvictionRank: Hashable, Comparable {
    let group: Int
    let since: ContinuousClock.Instant

    package static func < (a: EvictionRank, b: EvictionRank) -> Bool {
        (a.group, a.since) < (b.group, b.since)
    }
}
