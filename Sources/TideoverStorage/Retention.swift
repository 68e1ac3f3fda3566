package import TideoverCore

/// Requests the removal of one batch of rows of a kind that are older than an instant.
package struct PruneOrder: Sendable {
    /// Data that is not an input of any answer, so that it can be removed by its age.
    package enum Kind: String, Sendable, CaseIterable {
        /// Evidence that contained no new fact. Evidence that proves a fact is stored as long as the
        /// fact.
        case evidence
        /// Differences between a device and the server that have ended.
        case drift
        /// Prompts that were shown.
        case prompts
        /// Attributes of ids without an answer, which no purchase or alias made known.
        case attributes
        /// Log-ins from anonymous ids of RevenueCat's SDKs without purchases.
        case logIns
        /// Audit entries.
        case audit
        /// Events. The names of delivered events remain, so that none is delivered again.
        case told
        /// Customers without a purchase, an alias, an event or a difference.
        case customers
        /// The attempt log of webhooks, of all environments.
        case webhookAttempts
    }

    package let kind: Kind
    package let app: String
    package let environment: Environment
    /// Rows of this instant or later remain.
    package let before: Instant
    /// `Pruned.next` of the previous batch; empty for the first.
    package let place: String
    /// The maximum number of rows to examine.
    package let limit: Int

    package init(
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

/// The result of one batch.
package struct Pruned: Hashable, Sendable {
    /// The number of removed rows.
    package let count: Int
    /// The place of the next batch; nil after the last.
    package let next: String?

    package init(count: Int, next: String?) {
        self.count = count
        self.next = next
    }
}

/// The data of a customer to erase, as read before the erasure.
package struct Erasure: Sendable {
    /// Any id of the customer.
    package let customer: CustomerKey
    /// The evidence of the facts of the customer's own purchases, at the time of reading.
    package let known: Set<EvidenceID>
    /// Of that evidence, the pieces that concern no other purchase.
    package let exclusive: Set<EvidenceID>
    /// Other evidence about the customer that concerns no other purchase, and may prove nothing.
    package let answers: Set<EvidenceID>
    /// The customer's events.
    package let events: [EventID]
    /// The app's latest event at the time of reading; nil if there was none. The customer's later
    /// events are found in the transaction.
    package let lastEvent: EventID?
    /// The names of the customer's bookmarks.
    package let bookmarks: [String]
    /// The beginnings of the names of bookmarks that are removed if their `value` is an id of the
    /// customer.
    package let bookmarkPrefixes: [String]
    /// A random id that replaces the customer's where a row must remain.
    package let pseudonym: CustomerID

    package init(
        _ customer: CustomerKey,
        known: Set<EvidenceID>,
        exclusive: Set<EvidenceID>,
        answers: Set<EvidenceID> = [],
        events: [EventID],
        lastEvent: EventID? = nil,
        bookmarks: [String] = [],
        bookmarkPrefixes: [String] = [],
        pseudonym: CustomerID
    ) {
        self.customer = customer
        self.known = known
        self.exclusive = exclusive
        self.answers = answers
        self.events = events
        self.lastEvent = lastEvent
        self.bookmarks = bookmarks
        self.bookmarkPrefixes = bookmarkPrefixes
        self.pseudonym = pseudonym
    }
}

extension Erasure {
    /// The ranges of the names that begin with `bookmarkPrefixes`, in the order of bytes. Each ends
    /// before its last name.
    package var bookmarkRanges: [(first: String, last: String)] {
        bookmarkPrefixes.map { ($0, $0.behindPrefix) }
    }
}

/// The numbers of rows that an erasure removed.
package struct Erased: Hashable, Sendable {
    /// Purchases that no other customer ever owned.
    package var purchases = 0
    /// Purchases that another customer owned too, which remain.
    package var shared = 0
    package var facts = 0
    package var evidence = 0
    package var events = 0
    package var drift = 0
    /// Prompts that were shown.
    package var prompts = 0
    /// Attributes, also deleted ones.
    package var attributes = 0
    /// Audit entries.
    package var audit = 0

    package init() {}

    package static func += (sum: inout Erased, more: Erased) {
        sum.purchases += more.purchases
        sum.shared += more.shared
        sum.facts += more.facts
        sum.evidence += more.evidence
        sum.events += more.events
        sum.drift += more.drift
        sum.prompts += more.prompts
        sum.attributes += more.attributes
        sum.audit += more.audit
    }
}
