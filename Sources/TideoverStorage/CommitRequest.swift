public import TideoverCore

/// A customer of one app in one environment.
public struct CustomerKey: Hashable, Sendable, Comparable {
    public let app: String
    public let environment: Environment
    public let customer: CustomerID

    public init(app: String, environment: Environment, customer: CustomerID) {
        self.app = app
        self.environment = environment
        self.customer = customer
    }

    public static func < (a: CustomerKey, b: CustomerKey) -> Bool {
        (a.app, a.environment.rawValue, a.customer) < (b.app, b.environment.rawValue, b.customer)
    }
}

/// The input of one commit, all of one app and one environment.
public struct CommitRequest: Sendable {
    public let app: String
    public let environment: Environment
    /// The source of the facts; nil when nothing arrived and only time has passed.
    public let evidence: Evidence?
    /// The learned facts; stored ones are ignored.
    public let facts: [Fact]
    /// Customers to derive again even if no fact is new.
    public let customers: [CustomerKey]
    /// Customers with a device that presented all its purchases; they are derived again, too.
    public let reconciled: [CustomerKey]
    /// The store of that device; nil if unknown.
    public let presentedIn: Store?
    /// Claims to customers to derive again, each only if it is still valid.
    public let claims: [DueClaim]
    /// Customers' claims to lineages; all affected customers are derived again.
    public let ownership: OwnershipClaims?
    /// Prompts that were shown to customers; these are derived again, too.
    public let prompts: [ShownPrompt]
    /// Another id of a customer. It has no effect if the stored data refuses it.
    public let alias: CustomerAlias?
    /// Additional audit entries, which nothing else in the commit request implies.
    public let audit: [AuditEntry]
    /// The rule for moving a purchase from its owner to another customer.
    public let transfer: Policy.Transfer
    /// The increments of the app's counters.
    public let tallies: [Tally: Int64]
    /// The instant of the commit by the caller's clock.
    public let now: Instant

    /// Facts, claims and customers must belong to the given app and environment; `commit` rejects
    /// others.
    public init(
        app: String,
        environment: Environment,
        evidence: Evidence? = nil,
        facts: [Fact] = [],
        customers: [CustomerKey] = [],
        reconciled: [CustomerKey] = [],
        presentedIn: Store? = nil,
        claims: [DueClaim] = [],
        ownership: OwnershipClaims? = nil,
        prompts: [ShownPrompt] = [],
        alias: CustomerAlias? = nil,
        audit: [AuditEntry] = [],
        transfer: Policy.Transfer = .claim,
        tallies: [Tally: Int64] = [:],
        now: Instant
    ) {
        self.app = app
        self.environment = environment
        self.evidence = evidence
        self.facts = facts
        self.customers = customers
        self.reconciled = reconciled
        self.presentedIn = presentedIn
        self.claims = claims
        self.ownership = ownership
        self.prompts = prompts
        self.alias = alias
        self.audit = audit
        self.transfer = transfer
        self.tallies = tallies
        self.now = now
    }
}

extension CommitRequest {
    /// The reason why no storage may commit this; nil if one may. The checked values come from
    /// received bytes, so a violation is rejected. A trap would stop the server at each restart of
    /// the same work.
    package var objection: String? {
        guard facts.allSatisfy({ $0.lineage.environment == environment }) else {
            return "a fact belongs to another environment"
        }
        guard let claims = ownership?.claims else { return objectionToCustomers }
        guard claims.allSatisfy({ $0.lineage.environment == environment }) else {
            return "a claimed lineage belongs to another environment"
        }
        guard Set(claims.map(\.lineage)).count == claims.count else {
            return "one lineage is claimed twice"
        }
        return objectionToCustomers
    }

    private var objectionToCustomers: String? {
        let named = customers + reconciled + claims.map(\.customer) + prompts.map(\.customer)
        let isOwn = named.allSatisfy {
            $0.app == app && $0.environment == environment
        }
        return isOwn ? nil : "a customer belongs to another app or environment"
    }
}

/// A prompt that was shown to a customer. A second report of the same id adds the response, if the
/// first had none.
public struct ShownPrompt: Hashable, Sendable {
    public let customer: CustomerKey
    public let exposure: PromptExposure

    public init(customer: CustomerKey, exposure: PromptExposure) {
        self.customer = customer
        self.exposure = exposure
    }
}

/// The signed bytes or the API response that facts were read from, stored so that the facts can be
/// proved again.
public struct Evidence: Hashable, Sendable {
    /// The digest of `bytes`.
    public let id: EvidenceID
    /// The store's own id of the message, unique within app and environment. It identifies repeated
    /// deliveries. It never contains a signature, which can be encoded in more than one way.
    public let dedupeKey: String
    public let source: Source
    /// When the store signed it; nil if it carries no date.
    public let signedAt: Instant?
    public let receivedAt: Instant
    /// The exact bytes received.
    public let bytes: [UInt8]

    public init(
        id: EvidenceID,
        dedupeKey: String,
        source: Source,
        signedAt: Instant?,
        receivedAt: Instant,
        bytes: [UInt8]
    ) {
        self.id = id
        self.dedupeKey = dedupeKey
        self.source = source
        self.signedAt = signedAt
        self.receivedAt = receivedAt
        self.bytes = bytes
    }
}

/// The name of a counter.
public struct Tally: Hashable, Sendable {
    /// The maximum number of Unicode scalars stored of a name: names can come from outside.
    public static let maximumNameLength = 64

    /// Nil if the message was rejected before its environment was known.
    public let environment: Environment?
    /// The kind of counter, such as `refusal` or `unrecognised`.
    public let kind: String
    /// The counted value, such as a reason's code, or `field=value`; cut to `maximumNameLength`.
    public let name: String

    public init(environment: Environment?, kind: String, name: String) {
        self.environment = environment
        self.kind = kind
        self.name = String(
            String.UnicodeScalarView(name.unicodeScalars.prefix(Self.maximumNameLength))
        )
    }
}

/// Customers' claims to lineages, at most one for each lineage, and the rule that decides them.
public struct OwnershipClaims: Sendable {
    /// Decides a claim from the lineage as it is then stored and its holder; nil for a lineage
    /// without an owner. A pure function that runs inside the transaction, on the storage's own
    /// thread.
    public typealias Rule =
        @Sendable (OwnershipClaim, LineageRecord, LineageHolder?) throws(StorageError) ->
        ClaimRuling

    public let claims: [OwnershipClaim]
    public let rule: Rule

    public init(_ claims: [OwnershipClaim], rule: @escaping Rule) {
        self.claims = claims
        self.rule = rule
    }
}

/// The owner of a claimed lineage. Its other lineages are read only on demand, and once per commit.
public struct LineageHolder {
    public let identity: CustomerIdentity
    private let read: (_ isWhole: Bool) throws(StorageError) -> CustomerLineages

    /// `read` returns all lineages of the holder; without settled ones unless `isWhole`.
    public init(
        _ identity: CustomerIdentity,
        read: @escaping (_ isWhole: Bool) throws(StorageError) -> CustomerLineages
    ) {
        self.identity = identity
        self.read = read
    }

    /// Returns the holder's lineages; settled ones may be left out.
    public func lineages() throws(StorageError) -> CustomerLineages { try read(false) }

    /// Returns all lineages of the holder.
    public func allLineages() throws(StorageError) -> CustomerLineages { try read(true) }
}

/// The result of a commit.
public enum CommitOutcome: Hashable, Sendable {
    /// The commit is durable. Reports the number of new facts, the derived rows in the order of
    /// their keys, and the ruling on each claim, in order.
    case committed(newFacts: Int, customers: [CustomerRow], rulings: [ClaimRuling] = [])
    /// The evidence had been committed before; nothing was changed.
    case duplicate

    /// Adds the outcome of a commit that stored the same evidence in another environment.
    package mutating func add(_ other: CommitOutcome) {
        guard case .committed(let facts, let customers, let rulings) = other else { return }
        guard case .committed(let ownFacts, let ownCustomers, let ownRulings) = self else {
            self = other
            return
        }
        self = .committed(
            newFacts: ownFacts + facts,
            customers: ownCustomers + customers,
            rulings: ownRulings + rulings
        )
    }
}
