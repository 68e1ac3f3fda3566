/// We asked a store about a purchase: that we did, and how it went. It changes nothing by itself; an
/// outage bounds how long an assumption may stand.
public struct Inquiry: Hashable, Sendable {
    /// When we asked, by our clock.
    public var askedAt: Instant
    public var outcome: Outcome

    public init(askedAt: Instant, outcome: Outcome) {
        self.askedAt = askedAt
        self.outcome = outcome
    }

    public enum Outcome: Hashable, Sendable {
        /// The store answered; what it said are facts of their own.
        case answered
        /// The store does not know the purchase, or not any more.
        case gone
        /// No answer, or one that says that the store itself is at fault.
        case unreachable
        /// The store does not let us ask.
        case refused
        /// The store asks us to come back later.
        case throttled
        case unrecognised(String)

        /// Whether the question is still open.
        public var isFailure: Bool {
            switch self {
            case .answered, .gone: false
            case .unreachable, .refused, .throttled, .unrecognised: true
            }
        }
    }

    /// When a question was asked by the store's clock: the date of its answer less the time that the
    /// answer took. What an answer says may be as old as the question. A clock that was set by thousands
    /// of years in between makes no instant that cannot be written.
    public static func instant(asked: Instant, answered: Instant, dated: Instant) -> Instant {
        max(dated - max(.zero, answered - asked), Instant.writable.lowerBound)
    }
}
