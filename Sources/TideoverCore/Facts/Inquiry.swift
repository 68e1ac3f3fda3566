/// A query to a store about a purchase, with its outcome. It changes nothing by itself. An outage
/// limits how long an assumption may last.
public struct Inquiry: Hashable, Sendable {
    /// When the request was sent, by our clock.
    public var askedAt: Instant
    public var outcome: Outcome

    public init(askedAt: Instant, outcome: Outcome) {
        self.askedAt = askedAt
        self.outcome = outcome
    }

    public enum Outcome: Hashable, Sendable {
        /// The store answered; the content becomes separate facts.
        case answered
        /// The store does not know the purchase, or no longer does.
        case gone
        /// No response, or a response that reports a fault of the store itself.
        case unreachable
        /// The store does not permit the request.
        case refused
        /// The store asks for a retry later.
        case throttled
        case unrecognised(String)

        /// Whether the query still needs an answer.
        public var isFailure: Bool {
            switch self {
            case .answered, .gone: false
            case .unreachable, .refused, .throttled, .unrecognised: true
            }
        }
    }

    /// Returns when a request was sent by the store's clock: the date of its response minus the
    /// duration. The data in a response may be as old as the request. A clock that moved by
    /// thousands of years in between still yields a writable instant.
    public static func instant(asked: Instant, answered: Instant, dated: Instant) -> Instant {
        max(dated - max(.zero, answered - asked), Instant.writable.lowerBound)
    }
}
