package import TideoverCore

/// A customer of one app in one environment.
package struct CustomerKey: Hashable, Sendable, Comparable {
    package let app: String
    package let environment: Environment
    package let customer: CustomerID

    package init(app: String, environment: Environment, customer: CustomerID) {
        self.app = app
        self.environment = environment
        self.customer = customer
    }

    package static func < (a: CustomerKey, b: CustomerKey) -> Bool {
        (a.app, a.environment.rawValue, a.customer) < (b.app, b.environment.rawValue, b.customer)
    }
}

/// The input of one commit, all of one app and one environment.
package struct CommitRequest: Sendable {
    package let app: String
    package let environment: Environment
    /// The source of the facts; nil when nothing arrived and only time has passed.
    package let evidence: Evidence?
    /// The learned facts; stored ones are ignored.
    package let facts: [Fact]
    /// The customers that the evidence names. An erasure of one of them removes the evidence if no
    /// fact was read from it.
    package let evidenceNames: [CustomerID]
    /// Customers to derive again even if no fact is new.
    package let customers: [CustomerKey]
    /// Customers with a device that presented all its purchases; they are derived again, too.
    package let reconciled: [CustomerKey]
    /// The store of that device; nil if unknown.
    package let presentedIn: Store?
    /// The introductory offers of that device's store account that paid for purchases of other
    /// customers; they are stored of `customers`.
    package let accountOffers: [AccountOffer]
    /// Claims to customers to derive again, each only if it is still valid.
    package let claims: [DueClaim]
    /// Customers' claims to lineages; all affected customers are derived again.
    package let ownership: OwnershipClaims?
    /// Prompts that were shown to customers; these are derived again, too.
    package let prompts: [ShownPrompt]
    /// Another id of a customer. It has no effect if the stored data refuses it.
    package let alias: CustomerAlias?
    /// Additional audit entries, which nothing else in the commit request implies.
    package let audit: [AuditEntry]
    /// The rule for moving a purchase from its owner to another customer.
    package let transfer: Policy.Transfer
    /// The increments of the app's counters.
    package let tallies: [Tally: Int64]
    /// The instant of the commit by the caller's clock.
    package let now: Instant

    /// Facts, claims and customers must belong to the given app and environment; `commit` rejects
    /// others.
    package init(
        app: String,
        environment: Environment,
        evidence: Evidence? = nil,
        facts: [Fact] = [],
        evidenceNames: [CustomerID] = [],
        customers: [CustomerKey] = [],
        reconciled: [CustomerKey] = [],
        presentedIn: Store? = nil,
        accountOffers: [AccountOffer] = [],
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
        self.evidenceNames = evidenceNames
        self.customers = customers
        self.reconciled = reconciled
        self.presentedIn = presentedIn
        self.accountOffers = accountOffers
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
package struct ShownPrompt: Hashable, Sendable {
    package let customer: CustomerKey
    package let exposure: PromptExposure

    package init(customer: CustomerKey, exposure: PromptExposure) {
        self.customer = customer
        self.exposure = exposure
    }
}

/// The signed bytes or the API response that facts were read from, stored so that the facts can be
/// proved again.
package struct Evidence: Hashable, Sendable {
    /// The digest of `bytes`.
    package let id: EvidenceID
    /// The store's own id of the message, unique within app and environment. It identifies repeated
    /// deliveries. It never contains a signature, which can be encoded in more than one way.
    package let dedupeKey: String
    package let source: Source
    /// When the store signed it; nil if it carries no date.
    package let signedAt: Instant?
    package let receivedAt: Instant
    /// The exact bytes received.
    package let bytes: [UInt8]
    /// Signed documents among them that were decoded to verify them.
    package let decoded: [DecodedDocument]

    package init(
        id: EvidenceID,
        dedupeKey: String,
        source: Source,
        signedAt: Instant?,
        receivedAt: Instant,
        bytes: [UInt8],
        decoded: [DecodedDocument] = []
    ) {
        self.id = id
        self.dedupeKey = dedupeKey
        self.source = source
        self.signedAt = signedAt
        self.receivedAt = receivedAt
        self.bytes = bytes
        self.decoded = decoded
    }
}

/// A signed document and the payload that it encodes, so that it need not be decoded again.
package struct DecodedDocument: Hashable, Sendable {
    /// The compact serialization.
    package let text: ArraySlice<UInt8>
    package let payload: [UInt8]

    package init(text: ArraySlice<UInt8>, payload: [UInt8]) {
        self.text = text
        self.payload = payload
    }
}

/// The name of a counter.
package struct Tally: Hashable, Sendable {
    /// The maximum number of Unicode scalars stored of a name: names can come from outside.
    package static let maximumNameLength = 64

    /// Nil if the message was rejected before its environment was known.
    package let environment: Environment?
    /// The kind of counter, such as `refusal` or `unrecognised`.
    package let kind: String
    /// The counted value, such as a reason's code, or `field=value`; cut to `maximumNameLength`.
    package let name: String

    package init(environment: Environment?, kind: String, name: String) {
        self.environment = environment
        self.kind = kind
        self.name = String(
            String.UnicodeScalarView(name.unicodeScalars.prefix(Self.maximumNameLength))
        )
    }
}

/// Customers' claims to lineages, at most one for each lineage, and the rule that decides them.
package struct OwnershipClaims: Sendable {
    /// Decides a claim from the lineage as it is then stored and its holder; nil for a lineage
    /// without an owner. A pure function that runs inside the transaction, on the storage's own
    /// thread.
    package typealias Rule =
        @Sendable (OwnershipClaim, LineageRecord, LineageHolder?) throws(StorageError) ->
        ClaimRuling

    package let claims: [OwnershipClaim]
    package let rule: Rule
    private let actor: AuditEntry.Actor
    private let namedByStore: Set<Lineage>

    /// Creates claims by an actor, except those to lineages with a customer whom the store named.
    package init(
        _ claims: [OwnershipClaim],
        by actor: AuditEntry.Actor = .customer,
        namedByStore: Set<Lineage> = [],
        rule: @escaping Rule
    ) {
        self.claims = claims
        self.rule = rule
        self.actor = actor
        self.namedByStore = namedByStore
    }

    /// Returns who made a claim.
    package func actor(of claim: OwnershipClaim) -> AuditEntry.Actor {
        namedByStore.contains(claim.lineage) ? .store : actor
    }
}

/// The owner of a claimed lineage. Its other lineages are read only on demand, and once per commit.
package struct LineageHolder {
    package let identity: CustomerIdentity
    private let read: (_ isWhole: Bool) throws(StorageError) -> CustomerLineages

    /// `read` returns all lineages of the holder; without settled ones unless `isWhole`.
    package init(
        _ identity: CustomerIdentity,
        read: @escaping (_ isWhole: Bool) throws(StorageError) -> CustomerLineages
    ) {
        self.identity = identity
        self.read = read
    }

    /// Returns the holder's lineages; settled ones may be left out.
    package func lineages() throws(StorageError) -> CustomerLineages { try read(false) }

    /// Returns all lineages of the holder.
    package func allLineages() throws(StorageError) -> CustomerLineages { try read(true) }
}

/// The result of a commit.
package enum CommitOutcome: Hashable, Sendable {
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
