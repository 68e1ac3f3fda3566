public import TideoverCore

/// A request for customers with answers that are due to be derived again.
public struct DueOrder: Hashable, Sendable {
    public let app: String
    public let environment: Environment
    /// The instant of the request by the caller's clock. Answers due by then are claimed.
    public let now: Instant
    /// When the claims expire by the same clock.
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
    /// The instant the answer fell due.
    public let dueAt: Instant
    /// Greater than the fence of every earlier claim to this customer. It distinguishes an expired
    /// claim from its successor.
    public let fence: Int64

    public init(customer: CustomerKey, dueAt: Instant, fence: Int64) {
        self.customer = customer
        self.dueAt = dueAt
        self.fence = fence
    }
}

/// The amount of due work, and when more falls due.
public struct DueReading: Hashable, Sendable {
    /// The number of customers with due answers; at most the requested limit.
    public let count: Int
    /// The due time of the longest overdue answer; nil if none is due.
    public let oldest: Instant?
    /// The earliest instant at which another answer falls due; nil if none is known.
    public let next: Instant?

    public init(count: Int, oldest: Instant?, next: Instant?) {
        self.count = count
        self.oldest = oldest
        self.next = next
    }
}
