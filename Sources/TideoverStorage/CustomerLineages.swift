package import TideoverCore

/// Everything stored about one customer: the input of the customer's derivation.
package struct CustomerLineages: Hashable, Sendable {
    package let key: CustomerKey
    /// All ids of the customer.
    package let identity: CustomerIdentity
    /// The latest derived answer; nil for a customer never derived.
    package let answer: CustomerRow?
    /// The lineages the customer owns or ever owned, by any id, in the order of their keys.
    /// Lineages that were left out are not included.
    package private(set) var lineageRecords: [LineageRecord]
    /// The settled lineages that are not among `lineageRecords`; nil if there are none.
    package let leftOut: LeftOut?
    /// The names of the customer's events so far, in the order of their commits.
    package let deliveredEvents: [String]
    /// The open differences from the state a device saw, oldest first.
    package let openDrift: [Drift]
    /// The prompts shown to the customer recently, by any id, latest first.
    package let prompts: [PromptExposure]
    /// The instant of the derivation.
    package let now: Instant
    /// When a device first presented all its purchases; nil if no device did.
    package let reconciledAt: Instant?
    /// What devices presented of their stores.
    package let presented: PresentedStores
    /// The lowest version of the answer: a joined id may have been answered under greater versions.
    private let leastVersion: Int64

    /// A customer who was reconciled before stays so, from the instant in the answer.
    package init(
        key: CustomerKey,
        aliases: [CustomerAlias] = [],
        answer: CustomerRow?,
        lineageRecords: [LineageRecord],
        leftOut: LeftOut? = nil,
        deliveredEvents: [String] = [],
        openDrift: [Drift] = [],
        prompts: [PromptExposure] = [],
        leastVersion: Int64 = 0,
        now: Instant,
        reconciledAt: Instant? = nil,
        presented: PresentedStores = PresentedStores()
    ) {
        self.reconciledAt = answer?.reconciledAt ?? reconciledAt
        var all = answer?.presented ?? PresentedStores()
        all.merge(presented)
        self.presented = all
        self.key = key
        identity = CustomerIdentity(key.customer, aliases: aliases)
        self.leastVersion = leastVersion
        self.answer = answer
        self.lineageRecords = lineageRecords
        self.leftOut = leftOut
        self.deliveredEvents = deliveredEvents
        self.openDrift = openDrift
        self.prompts = prompts
        self.now = now
    }

    /// Replaces a lineage with its current state.
    package mutating func replace(_ lineageRecord: LineageRecord) {
        guard let place = lineageRecords.firstIndex(where: { $0.lineage == lineageRecord.lineage })
        else {
            return
        }
        lineageRecords[place] = lineageRecord
    }

    /// The version of the latest answer, 0 before the first.
    package var version: Int64 { max(answer?.version ?? 0, leastVersion) }

    /// Returns the version of an answer with these bytes. It rises by one exactly when the bytes
    /// differ from those before.
    package func version(of bytes: [UInt8]) -> Int64 {
        answer?.answer == bytes ? version : version.addingSaturated(1)
    }

    /// Returns the row that stores a derivation.
    package func row(for derivation: Derivation) -> CustomerRow {
        CustomerRow(
            key: key,
            version: version(of: derivation.answer),
            answer: derivation.answer,
            validUntil: derivation.validUntil,
            fingerprint: derivation.fingerprint,
            derivedAt: now,
            pass: derivation.pass,
            reconciledAt: reconciledAt,
            presented: presented
        )
    }
}

/// Settled lineages that a derivation does not receive. It receives the first settled lineage by
/// key, which represents the others.
package struct LeftOut: Hashable, Sendable {
    package let count: Int
    /// The instant from which all of them are settled.
    package let since: Instant

    package init(count: Int, since: Instant) {
        self.count = count
        self.since = since
    }
}

/// A lineage that changes no answer and no event from an instant on, until a new fact about it is
/// learned.
package struct SettledLineage: Hashable, Sendable {
    package let lineage: Lineage
    package let since: Instant

    package init(_ lineage: Lineage, since: Instant) {
        self.lineage = lineage
        self.since = since
    }
}

/// One lineage with all its facts and all its owners, past and present.
package struct LineageRecord: Hashable, Sendable {
    package let lineage: Lineage
    /// The facts, in the order of their assertion.
    package let facts: [Fact]
    /// The owners, in the order they were written.
    package let owners: [OwnershipEntry]

    package init(lineage: Lineage, facts: [Fact], owners: [OwnershipEntry]) {
        self.lineage = lineage
        self.facts = facts
        self.owners = owners
    }
}

/// The result of deriving a customer from its lineages.
package struct Derivation: Hashable, Sendable {
    /// The answer as JSON text; a storage does not parse it.
    package let answer: [UInt8]
    /// When the customer must be derived again even without new facts, because the answer changes
    /// or an event falls due; nil for never.
    package let validUntil: Instant?
    /// Identifies the policy and catalogue of the derivation.
    package let fingerprint: String
    /// The events to deliver, in order.
    package let events: [Event]
    /// The pass issued with the answer; nil if there is none.
    package let pass: IssuedPass?
    /// Differences from the state a device saw: first those that ended or changed, then those that
    /// begin. An ended difference never changes again. At most one per entitlement is open.
    package let drift: [Drift]
    /// The lineages that later derivations under the same fingerprint may leave out.
    package let settled: [SettledLineage]
    /// Whether the derivation needs the lineages that were left out. If so, it is discarded and the
    /// customer is derived again from all lineages.
    package let needsAll: Bool

    package init(
        answer: [UInt8],
        validUntil: Instant?,
        fingerprint: String,
        events: [Event] = [],
        pass: IssuedPass? = nil,
        drift: [Drift] = [],
        settled: [SettledLineage] = [],
        needsAll: Bool = false
    ) {
        self.settled = settled
        self.needsAll = needsAll
        self.answer = answer
        self.validUntil = validUntil
        self.fingerprint = fingerprint
        self.events = events
        self.pass = pass
        self.drift = drift
    }
}

/// Something that happened to a customer, to be delivered to subscribers.
package struct Event: Hashable, Sendable {
    /// The unique name: a customer's second event with this name is dropped. Nil for an event that
    /// may repeat.
    package let name: String?
    /// Never empty; a storage rejects an empty kind.
    package let kind: String
    /// When it happened, possibly long before it was learned.
    package let at: Instant
    /// JSON text; a storage does not parse it.
    package let body: [UInt8]

    package init(name: String? = nil, kind: String, at: Instant, body: [UInt8]) {
        self.name = name
        self.kind = kind
        self.at = at
        self.body = body
    }
}

/// A customer's latest derived answer.
package struct CustomerRow: Hashable, Sendable {
    package let key: CustomerKey
    /// From 1; rises by one exactly when the bytes of `answer` change.
    package let version: Int64
    /// The answer as JSON text.
    package let answer: [UInt8]
    /// When the answer must be derived again even without new facts; nil for never.
    package let validUntil: Instant?
    /// Identifies the policy and catalogue of the derivation.
    package let fingerprint: String
    package let derivedAt: Instant
    /// The pass issued with the answer; nil if there is none.
    package let pass: IssuedPass?
    /// When a device first presented all its purchases; nil if no device did.
    package let reconciledAt: Instant?
    /// What devices presented of their stores.
    package let presented: PresentedStores

    package init(
        key: CustomerKey,
        version: Int64,
        answer: [UInt8],
        validUntil: Instant?,
        fingerprint: String,
        derivedAt: Instant,
        pass: IssuedPass? = nil,
        reconciledAt: Instant? = nil,
        presented: PresentedStores = PresentedStores()
    ) {
        self.reconciledAt = reconciledAt
        self.presented = presented
        self.key = key
        self.version = version
        self.answer = answer
        self.validUntil = validUntil
        self.fingerprint = fingerprint
        self.derivedAt = derivedAt
        self.pass = pass
    }
}

/// A signed pass, as it is stored beside the answer it was issued with. A new pass changes neither
/// the answer nor its version.
package struct IssuedPass: Hashable, Sendable {
    /// The signed document; empty if it would have been too long for clients to read.
    package let compact: [UInt8]
    /// Identifies the signing key; a storage does not interpret it.
    package let signer: String
    package let issuedAt: Instant
    /// The middle of its lifetime; nil if a new pass would last no longer.
    package let renewAt: Instant?

    package init(compact: [UInt8], signer: String, issuedAt: Instant, renewAt: Instant?) {
        self.compact = compact
        self.signer = signer
        self.issuedAt = issuedAt
        self.renewAt = renewAt
    }
}

/// An event waiting for delivery.
package struct OutboxEvent: Hashable, Sendable {
    package let id: EventID
    package let customer: CustomerKey
    /// The version of the customer's answer at the time of the event.
    package let version: Int64
    package let event: Event

    package init(id: EventID, customer: CustomerKey, version: Int64, event: Event) {
        self.id = id
        self.customer = customer
        self.version = version
        self.event = event
    }
}
