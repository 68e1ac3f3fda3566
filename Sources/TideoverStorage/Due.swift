public import TideoverCore

/// A request for customers whose answers are due to be derived again.
public struct DueOrder: Hashable, Sendable {
    public let app: String
    public let environment: Environment
    /// The instant of the request by the caller's clock: what fell due by it is given.
    public let now: Instant
    /// When the claims run out by the same clock.
    public let until: Instant
    public let limit: Int

    public init(
        app: String,
        environment: Environment,
        now: Instant,
        until: Instant,
        limit: Int
    ) {
        self.app = app
        self.environment = environment
        self.now = now
        self.until = until
        self.limit = limit
    }
}

/// A customer claimed because the answer fell due.
public struct DueClaim: Hashable, Sendable {
    public let customer: CustomerKey
    /// The instant it fell due.
    public let dueAt: Instant
    /// Greater than that of any claim to this customer before: what tells an old claim from one that
    /// was given out since.
    public let fence: Int64

    public init(customer: CustomerKey, dueAt: Instant, fence: Int64) {
        self.customer = customer
        self.dueAt = dueAt
        self.fence = fence
    }
}

/// How much is due, and when more will be.
public struct DueReading: Hashable, Sendable {
    /// Customers whose answers are due; at most the limit asked for.
    public let count: Int
    /// Since when the longest due one is; nil where nothing is.
    public let oldest: Instant?
    /// The earliest instant at which another one falls due; nil where none is known to.
    public let next: Instant?

    public init(count: Int, oldest: Instant?, next: Instant?) {
        self.count = count
        self.oldest = oldest
        self.next = next
    }
}
