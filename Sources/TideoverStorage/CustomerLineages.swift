public import TideoverCore

/// Everything stored about one customer: what the customer's answer is derived from.
public struct CustomerLineages: Hashable, Sendable {
    public let key: CustomerKey
    /// All ids of the customer.
    public let identity: CustomerIdentity
    /// The answer derived last; nil for a customer never derived.
    public let answer: CustomerRow?
    /// The lineages the customer owns or ever owned, by whatever id, in the order of their keys;
    /// without those that were left out.
    public private(set) var holdings: [Holding]
    /// The settled lineages that are not among `holdings`; nil where all are.
    public let leftOut: LeftOut?
    /// The names of the events told of the customer so far, in the order of their commits.
    public let told: [String]
    /// The differences from what a device saw that have not ended, oldest first.
    public let openDrift: [Drift]
    /// The prompts shown to the customer lately, by whatever id, latest first.
    public let prompts: [PromptExposure]
    /// The instant to derive for.
    public let now: Instant
    /// When a device first presented all that it had; nil where none did.
    public let reconciledAt: Instant?
    /// When a device of a store first presented everything that the customer has there.
    public let presented: [Store: Instant]
    /// What the version of the answer is at least: an id that joined may have been answered under
    /// greater versions.
    private let leastVersion: Int64

    /// Who was reconciled before stays so, from the instant that the answer says.
    public init(
        key: CustomerKey,
        aliases: [CustomerAlias] = [],
        answer: CustomerRow?,
        holdings: [Holding],
        leftOut: LeftOut? = nil,
        told: [String] = [],
        openDrift: [Drift] = [],
        prompts: [PromptExposure] = [],
        leastVersion: Int64 = 0,
        now: Instant,
        reconciledAt: Instant? = nil,
        presented: [Store: Instant] = [:]
    ) {
        self.reconciledAt = answer?.reconciledAt ?? reconciledAt
        self.presented = (answer?.presented ?? [:]).merging(presented) { min($0, $1) }
        self.key = key
        identity = CustomerIdentity(key.customer, aliases: aliases)
        self.leastVersion = leastVersion
        self.answer = answer
        self.holdings = holdings
        self.leftOut = leftOut
        self.told = told
        self.openDrift = openDrift
        self.prompts = prompts
        self.now = now
    }

    /// Puts a lineage in its place as it now is.
    package mutating func replace(_ holding: Holding) {
        guard let place = holdings.firstIndex(where: { $0.lineage == holding.lineage }) else {
            return
        }
        holdings[place] = holding
    }

    /// The version of the answer derived last, 0 before the first.
    public var version: Int64 { max(answer?.version ?? 0, leastVersion) }

    /// The version that an answer will have: it rises by one exactly when the answer's bytes differ
    /// from those before.
    public func version(of bytes: [UInt8]) -> Int64 {
        answer?.answer == bytes ? version : version + 1
    }

    /// The row that holds a derivation.
    public func row(for derivation: Derivation) -> CustomerRow {
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

/// Settled lineages that a derivation is not given. The first of all settled ones by key is given:
/// it answers for them.
public struct LeftOut: Hashable, Sendable {
    public let count: Int
    /// From when on all of them are settled.
    public let since: Instant

    public init(count: Int, since: Instant) {
        self.count = count
        self.since = since
    }
}

/// A lineage that can change no answer and no event from an instant on, until something new is
/// learned of it.
public struct SettledLineage: Hashable, Sendable {
    public let lineage: Lineage
    public let since: Instant

    public init(_ lineage: Lineage, since: Instant) {
        self.lineage = lineage
        self.since = since
    }
}

/// One lineage with all that was ever said of it, and all who ever owned it.
public struct Holding: Hashable, Sendable {
    public let lineage: Lineage
    /// In the order of their assertion.
    public let facts: [Fact]
    /// In the order they were written.
    public let owners: [OwnershipEntry]

    public init(lineage: Lineage, facts: [Fact], owners: [OwnershipEntry]) {
        self.lineage = lineage
        self.facts = facts
        self.owners = owners
    }
}

/// What a customer's lineages amount to.
public struct Derivation: Hashable, Sendable {
    /// The answer as JSON text; a storage does not look inside.
    public let answer: [UInt8]
    /// When it is to be derived again though nothing new was learned, because the answer changes or
    /// there is something to tell; nil for never.
    public let validUntil: Instant?
    /// Names the policy and catalogue it was derived with.
    public let fingerprint: String
    /// What others should hear of, in order.
    public let events: [Event]
    /// The pass that goes with the answer; nil where none is issued.
    public let pass: IssuedPass?
    /// Differences from what a device saw: those that ended or of which more is known, then those that
    /// begin. One that has ended is not changed again, and of an entitlement one at most is open.
    public let drift: [Drift]
    /// The lineages, among those it was derived from, that later derivations under the same
    /// fingerprint may leave out.
    public let settled: [SettledLineage]
    /// Whether it needs the lineages that were left out: then nothing of it is kept, and it is derived
    /// again from all.
    public let needsAll: Bool

    public init(
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

/// Something that happened to a customer, for others to hear of.
public struct Event: Hashable, Sendable {
    /// What is told of a customer under one name is told once: another event of that name is left
    /// out. Nil for what may be told again.
    public let name: String?
    /// Never empty; a storage refuses one that is.
    public let kind: String
    /// When it happened, which can be long before it was learned.
    public let at: Instant
    /// JSON text; a storage does not look inside.
    public let body: [UInt8]

    public init(name: String? = nil, kind: String, at: Instant, body: [UInt8]) {
        self.name = name
        self.kind = kind
        self.at = at
        self.body = body
    }
}

/// A customer's answer as derived last.
public struct CustomerRow: Hashable, Sendable {
    public let key: CustomerKey
    /// From 1; rises by one exactly when the bytes of `answer` change.
    public let version: Int64
    /// The answer as JSON text.
    public let answer: [UInt8]
    /// When it is due to be derived again though nothing new was learned; nil for never.
    public let validUntil: Instant?
    /// Names the policy and catalogue it was derived with.
    public let fingerprint: String
    public let derivedAt: Instant
    /// The pass that goes with the answer; nil where none was issued.
    public let pass: IssuedPass?
    /// When a device first presented all that it had; nil where none did.
    public let reconciledAt: Instant?
    /// When a device of a store first presented everything that the customer has there.
    public let presented: [Store: Instant]

    public init(
        key: CustomerKey,
        version: Int64,
        answer: [UInt8],
        validUntil: Instant?,
        fingerprint: String,
        derivedAt: Instant,
        pass: IssuedPass? = nil,
        reconciledAt: Instant? = nil,
        presented: [Store: Instant] = [:]
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

/// A signed pass as it is kept beside the answer that it was issued with. A new one changes neither
/// the answer nor its version.
public struct IssuedPass: Hashable, Sendable {
    /// The signed document; empty where it would have been too long for anybody to read.
    public let compact: [UInt8]
    /// Names who signed it; a storage does not look inside.
    public let signer: String
    public let issuedAt: Instant
    /// When half of its life is over; nil where a new one would last no longer.
    public let renewAt: Instant?

    public init(compact: [UInt8], signer: String, issuedAt: Instant, renewAt: Instant?) {
        self.compact = compact
        self.signer = signer
        self.issuedAt = issuedAt
        self.renewAt = renewAt
    }
}

/// An event waiting to be heard.
public struct OutboxEvent: Hashable, Sendable {
    public let id: EventID
    public let customer: CustomerKey
    /// The version of the customer's answer that the event came with.
    public let version: Int64
    public let event: Event

    public init(id: EventID, customer: CustomerKey, version: Int64, event: Event) {
        self.id = id
        self.customer = customer
        self.version = version
        self.event = event
    }
}
