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

/// What one commit brings: all of one app and one environment.
public struct Intake: Sendable {
    public let app: String
    public let environment: Environment
    /// What the facts were read from; nil when nothing arrived and only time has passed.
    public let evidence: Evidence?
    /// What was learned; facts already stored are ignored.
    public let facts: [Fact]
    /// Customers to derive again even if no fact is new.
    public let customers: [CustomerKey]
    /// Customers for whom a device has presented all that it had; they are derived again, too.
    public let reconciled: [CustomerKey]
    /// The store of the device that presented it; nil if that is not known.
    public let presentedIn: Store?
    /// Claims to customers to derive again, each only if it still holds.
    public let claims: [DueClaim]
    /// Customers' claims to lineages; those concerned are derived again.
    public let ownership: OwnershipClaims?
    /// Prompts that were shown to customers, who are derived again, too.
    public let prompts: [ShownPrompt]
    /// The word that another id is a customer's too; it comes to nothing where it is refused by what
    /// is then stored.
    public let alias: CustomerAlias?
    /// Lines of the audit that follow from nothing else in the intake.
    public let audit: [AuditEntry]
    /// How what somebody holds can move to another.
    public let transfer: Policy.Transfer
    /// What to add to the app's counts.
    public let tallies: [Tally: Int64]
    /// The instant of the commit by the caller's clock.
    public let now: Instant

    /// Facts, claims and customers must belong to the app and environment named; `commit` refuses
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

extension Intake {
    /// Why no storage may commit this; nil if one may. What it checks follows from received bytes, so
    /// a violation is refused: a trap would stop the server at each restart of the same work.
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

/// The signed bytes or the answer that facts were read from, kept so that they can be proved again.
public struct Evidence: Hashable, Sendable {
    /// The digest of `bytes`.
    public let id: EvidenceID
    /// The store's own id of the message, unique within app and environment: what makes two
    /// deliveries one (never the text of a signature, which can be written in more than one way).
    public let dedupeKey: String
    public let source: Source
    /// When the store signed it; nil for what carries no date.
    public let signedAt: Instant?
    public let receivedAt: Instant
    /// Exactly what was received.
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

/// Something that is counted and not acted on.
public struct Tally: Hashable, Sendable {
    /// How many Unicode scalars of a name are kept: names can come from outside.
    public static let maximumNameLength = 64

    /// Nil when it was refused before its environment was known.
    public let environment: Environment?
    /// What kind of thing, such as `refusal` or `unrecognised`.
    public let kind: String
    /// Which, such as a reason's code, or `field=value`; cut to `maximumNameLength`.
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
    /// A pure function that runs inside the transaction, on the storage's own thread: from a claim, the
    /// lineage as it is then stored, and its holder (nil where nobody holds it).
    public typealias Rule =
        @Sendable (OwnershipClaim, Holding, LineageHolder?) throws(StorageError) -> ClaimRuling

    public let claims: [OwnershipClaim]
    public let rule: Rule

    public init(_ claims: [OwnershipClaim], rule: @escaping Rule) {
        self.claims = claims
        self.rule = rule
    }
}

/// Who holds a lineage that is claimed. What else they hold is read only where it is asked for, and
/// once in a commit.
public struct LineageHolder {
    public let identity: CustomerIdentity
    private let read: (_ isWhole: Bool) throws(StorageError) -> CustomerLineages

    /// `read` returns everything the holder has; without settled lineages unless `isWhole`.
    public init(
        _ identity: CustomerIdentity,
        read: @escaping (_ isWhole: Bool) throws(StorageError) -> CustomerLineages
    ) {
        self.identity = identity
        self.read = read
    }

    /// What the holder has; settled lineages may be left out.
    public func lineages() throws(StorageError) -> CustomerLineages { try read(false) }

    /// Everything the holder has.
    public func allLineages() throws(StorageError) -> CustomerLineages { try read(true) }
}

/// How a commit ended.
public enum CommitOutcome: Hashable, Sendable {
    /// It is durable: how many facts were new, the rows derived, in the order of their keys, and what
    /// became of the claims to lineages, in their order.
    case committed(newFacts: Int, customers: [CustomerRow], rulings: [ClaimRuling] = [])
    /// The evidence had been committed before; nothing was changed.
    case duplicate

    /// Adds the outcome of a commit that brought the same evidence to another environment.
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
