package import TideoverCore

/// A request for customers with answers that are due to be derived again.
package struct DueOrder: Hashable, Sendable {
    package let app: String
    package let environment: Environment
    /// The instant of the request by the caller's clock. Answers due by then are claimed.
    package let now: Instant
    /// When the claims expire by the same clock.
    package let until: Instant
    package let limit: Int

    package init(
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
package struct DueClaim: Hashable, Sendable {
    package let customer: CustomerKey
    /// The instant the answer fell due.
    package let dueAt: Instant
    /// Greater than the fence of every earlier claim to this customer. It distinguishes an expired
    /// claim from its successor.
    package let fence: Int64

    package init(customer: CustomerKey, dueAt: Instant, fence: Int64) {
        self.customer = customer
        self.dueAt = dueAt
        self.fence = fence
    }
}

/// The amount of due work, and when more falls due.
package struct DueReading: Hashable, Sendable {
    /// The number of customers with due answers; at most the requested limit.
    package let count: Int
    /// The due time of the longest overdue answer; nil if none is due.
    package let oldest: Instant?
    /// The earliest instant at which another answer falls due; nil if none is known.
    package let next: Instant?

    package init(count: Int, oldest: Instant?, next: Instant?) {
        self.count = count
        self.oldest = oldest
        self.next = next
    }
}
