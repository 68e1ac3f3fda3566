public import TideoverCore

/// Asks a storage to let go of rows of one kind that are older than an instant, a batch at a time.
public struct PruneOrder: Sendable {
    /// What can be let go of by its age alone, since no answer is derived from it.
    public enum Kind: String, Sendable, CaseIterable {
        /// Evidence of which no stored fact was read: messages that told nothing new. What proves a
        /// fact stays for as long as the fact does.
        case evidence
        /// Differences from what devices saw that have ended.
        case drift
        /// Lines of the audit.
        case audit
        /// Events. The names of those that a customer was told of stay, so that none is told again.
        case told
        /// Customers without a purchase, an alias, an event or a difference: ids of which nothing is
        /// known.
        case customers
    }

    public let kind: Kind
    public let app: String
    public let environment: Environment
    /// What happened at this instant or later stays.
    public let before: Instant
    /// Where the batch before ended; empty for the first.
    public let place: String
    /// How many rows are looked at.
    public let limit: Int

    public init(
        _ kind: Kind,
        app: String,
        environment: Environment,
        before: Instant,
        place: String = "",
        limit: Int
    ) {
        self.kind = kind
        self.app = app
        self.environment = environment
        self.before = before
        self.place = place
        self.limit = limit
    }
}

/// What came of a batch.
public struct Pruned: Hashable, Sendable {
    /// How many rows went.
    public let count: Int
    /// Where to go on; nil at the end.
    public let next: String?

    public init(count: Int, next: String?) {
        self.count = count
        self.next = next
    }
}

/// What is to be forgotten of a customer, as whoever asks has found it.
public struct Erasure: Sendable {
    /// The customer, by any id.
    public let customer: CustomerKey
    /// The evidence that the facts of the customer's own purchases name, as far as it is known.
    public let known: Set<EvidenceID>
    /// Of that evidence, what tells of nothing else.
    public let exclusive: Set<EvidenceID>
    /// The events that tell of the customer.
    public let events: [EventID]
    /// Stands in the place of the customer's id where a row has to stay: nobody's id.
    public let pseudonym: CustomerID

    public init(
        _ customer: CustomerKey,
        known: Set<EvidenceID>,
        exclusive: Set<EvidenceID>,
        events: [EventID],
        pseudonym: CustomerID
    ) {
        self.customer = customer
        self.known = known
        self.exclusive = exclusive
        self.events = events
        self.pseudonym = pseudonym
    }
}

/// How much was forgotten of a customer.
public struct Erased: Hashable, Sendable {
    /// Purchases that nobody else ever owned.
    public var purchases = 0
    /// Purchases that another customer owned too, which stay.
    public var shared = 0
    public var facts = 0
    public var evidence = 0
    public var events = 0
    public var drift = 0
    /// Lines of the audit.
    public var audit = 0

    public init() {}

    public static func += (sum: inout Erased, more: Erased) {
        sum.purchases += more.purchases
        sum.shared += more.shared
        sum.facts += more.facts
        sum.evidence += more.evidence
        sum.events += more.events
        sum.drift += more.drift
        sum.audit += more.audit
    }
}
