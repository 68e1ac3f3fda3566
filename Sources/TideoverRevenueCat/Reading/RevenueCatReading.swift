package import TideoverCore

/// One authenticated RevenueCat event for the app.
package struct RevenueCatReading: Hashable, Sendable {
    package let event: RevenueCatEvent
    /// The environment of the event; nil for a statement about customers in every environment.
    package let environment: Environment?
    private let relayed: RelayedStatements

    init(event: RevenueCatEvent, environment: Environment?, relayed: RelayedStatements) {
        self.event = event
        self.environment = environment
        self.relayed = relayed
    }

    /// The key that all deliveries of the event share; unique within its app.
    package var dedupeKey: String { "revenuecat:\(event.id)" }

    /// The event type, as RevenueCat spells it.
    package var eventType: String { event.type.raw }

    /// Whether it is a test event.
    package var isTest: Bool { event.type.known == .test }

    /// RevenueCat's values that this version does not know, without duplicates.
    package var unrecognised: [Unrecognised] { event.unrecognised }

    /// The statement about customers, if any.
    package var customers: CustomerStatement? { event.customerStatement }

    /// All customers that the message names, without duplicates.
    package var everyCustomer: [CustomerID] { event.everyCustomer }

    /// Notes for operators who inspect the message.
    package var notes: [RevenueCatNote] {
        let unusable = event.unusable
        guard unusable.isEmpty else { return [.incomplete(product: nil, missing: unusable)] }
        return switch event.type.known {
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

    /// The lineages of its facts, as RevenueCat names them.
    package var lineages: Set<Lineage> { Set(relayed.statements.map(\.lineage)) }

    /// Returns the facts, with the time of arrival and the stored evidence. They have the rank of a
    /// relay: they fill gaps, and override no store.
    package func facts(
        learnedAt: Instant,
        evidence: EvidenceID,
        chains: StoreChains = StoreChains([])
    ) -> [Fact] {
        relayed.facts(learnedAt, .revenueCatWebhook, evidence, chains)
    }

    /// Returns the owners that RevenueCat states. These are claims like a device's: the store's own
    /// statement of an owner has priority. The policy decides whether an existing owner keeps a
    /// purchase.
    package func claims(
        at learnedAt: Instant,
        chains: StoreChains = StoreChains([])
    ) -> [OwnershipClaim] {
        relayed.claims(of: event.customer, at: learnedAt, chains)
    }
}

/// One response about a customer, with its facts.
package struct RevenueCatSubscriberReading: Hashable, Sendable {
    package let subscriber: RevenueCatSubscriber
    package let customer: CustomerID?
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

    /// The omitted parts, with reasons.
    package var notes: [RevenueCatNote] { relayed.notes }

    /// The lineages of its facts, as RevenueCat names them.
    package var lineages: Set<Lineage> { Set(relayed.statements.map(\.lineage)) }

    /// Returns the facts, with the time and source of arrival and the stored evidence. They have
    /// the rank of a relay, like those of events.
    package func facts(
        learnedAt: Instant,
        source: Source = .revenueCatAPI,
        evidence: EvidenceID,
        chains: StoreChains = StoreChains([])
    ) -> [Fact] {
        relayed.facts(learnedAt, source, evidence, chains)
    }

    /// Returns the owners that RevenueCat states, as claims like those of an event.
    package func claims(
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

    /// Returns one claim per lineage, in the order of the first statements. A grant names its
    /// customer itself, so it has no claim.
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
