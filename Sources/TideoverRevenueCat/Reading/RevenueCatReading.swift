public import TideoverCore

/// One event of RevenueCat's, believed: it comes from there and is for the app.
public struct RevenueCatReading: Hashable, Sendable {
    public let event: RevenueCatEvent
    /// Where it is stored; nil for what is said of customers in every environment.
    public let environment: Environment?
    private let relayed: RelayedStatements

    init(event: RevenueCatEvent, environment: Environment?, relayed: RelayedStatements) {
        self.event = event
        self.environment = environment
        self.relayed = relayed
    }

    /// What all deliveries of the event share; unique within its app.
    public var dedupeKey: String { "revenuecat:\(event.id)" }

    /// What happened, in RevenueCat's word.
    public var eventType: String { event.type.raw }

    /// Whether it is a test event.
    public var isTest: Bool { event.type.known == .test }

    /// RevenueCat's words that this version does not know, each once.
    public var unrecognised: [Unrecognised] { event.unrecognised }

    /// What it says of customers; nil if nothing.
    public var customers: CustomerStatement? { event.customerStatement }

    /// What is worth saying of it to whoever inspects it.
    public var notes: [RevenueCatNote] {
        switch event.type.known {
        case nil: [.unknownType(event.type.raw)]
        case .test: [.test]
        case .invoiceIssuance, .virtualCurrencyTransaction, .experimentEnrollment:
            [.noPurchase(event.type.raw)]
        case .initialPurchase, .renewal, .nonRenewingPurchase, .cancellation, .uncancellation,
            .billingIssue, .expiration, .subscriptionPaused, .productChange, .transfer,
            .subscriptionExtended, .temporaryEntitlementGrant, .refundReversed, .subscriberAlias:
            relayed.notes
        }
    }

    /// The lineages that its facts speak of, as RevenueCat names them.
    public var lineages: Set<Lineage> { Set(relayed.statements.map(\.lineage)) }

    /// The facts it states, given when we heard and the evidence it is kept as. They are a relay's:
    /// they fill what no store has said, and overrule nothing.
    public func facts(
        learnedAt: Instant,
        evidence: EvidenceID,
        chains: StoreChains = StoreChains([])
    ) -> [Fact] {
        relayed.facts(learnedAt, .revenueCatWebhook, evidence, chains)
    }

    /// Whose RevenueCat says the purchases are. It is a claim like a device's: the store's own word for
    /// an owner outweighs it, and who holds a purchase keeps it as policy says.
    public func claims(
        at learnedAt: Instant,
        chains: StoreChains = StoreChains([])
    ) -> [OwnershipClaim] {
        relayed.claims(of: event.customer, at: learnedAt, chains)
    }
}

/// One answer about a customer, with the facts it states.
public struct RevenueCatSubscriberReading: Hashable, Sendable {
    public let subscriber: RevenueCatSubscriber
    public let customer: CustomerID?
    private let relayed: RelayedStatements

    init(
        subscriber: RevenueCatSubscriber,
        customer: CustomerID?,
        relayed: RelayedStatements
    ) {
        self.subscriber = subscriber
        self.customer = customer
        self.relayed = relayed
    }

    /// What was left out, and why.
    public var notes: [RevenueCatNote] { relayed.notes }

    /// The lineages that its facts speak of, as RevenueCat names them.
    public var lineages: Set<Lineage> { Set(relayed.statements.map(\.lineage)) }

    /// The facts it states, given when and how it reached us and the evidence it is kept as; a relay's,
    /// as those of events.
    public func facts(
        learnedAt: Instant,
        source: Source = .revenueCatAPI,
        evidence: EvidenceID,
        chains: StoreChains = StoreChains([])
    ) -> [Fact] {
        relayed.facts(learnedAt, source, evidence, chains)
    }

    /// Whose RevenueCat says the purchases are, as of an event's.
    public func claims(
        at learnedAt: Instant,
        chains: StoreChains = StoreChains([])
    ) -> [OwnershipClaim] {
        relayed.claims(of: customer, at: learnedAt, chains)
    }
}

extension RelayedStatements {
    fileprivate func facts(
        _ learnedAt: Instant,
        _ source: Source,
        _ evidence: EvidenceID,
        _ chains: StoreChains
    ) -> [Fact] {
        statements.map { statement in
            chains.joined(
                statement.fact(
                    learnedAt: learnedAt,
                    rank: .relayed,
                    source: source,
                    evidence: evidence
                )
            )
        }
    }

    /// One a lineage, in the order of their first words; a gift names its customer itself.
    fileprivate func claims(
        of customer: CustomerID?,
        at instant: Instant,
        _ chains: StoreChains
    ) -> [OwnershipClaim] {
        guard let customer else { return [] }
        let sold = statements.filter { if case .grant = $0.assertion { false } else { true } }
            .map { chains.lineage(of: $0.lineage) }
        return sold.indices.filter { !sold[..<$0].contains(sold[$0]) }.map {
            OwnershipClaim(lineage: sold[$0], customer: customer, at: instant)
        }
    }
}
