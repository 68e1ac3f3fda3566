import TideoverCore
import TideoverJSON
import TideoverRevenueCat

/// The facts of one customer as they arrive, and the standings that the rules derive from them.
struct Life {
    var facts: [Fact] = []
    static let customer: CustomerID = {
        guard let id = CustomerID("u_42") else { preconditionFailure("an id is not empty") }
        return id
    }()

    /// Adds the facts of a RevenueCat event.
    mutating func hear(
        _ type: String,
        at timestamp: Instant = RevenueCatWire.start,
        _ changes: JSONObject = [:]
    ) throws {
        let id = "E-\(facts.count)"
        let reading = try RevenueCatWire.read(
            RevenueCatWire.event(type, at: timestamp, id: id, changes)
        )
        facts += reading.facts(
            learnedAt: timestamp + .minutes(1),
            evidence: EvidenceID(hex: "\(id)-\(type)"),
            chains: StoreChains(facts)
        )
    }

    /// Adds the facts of a given event object.
    mutating func receive(_ event: JSONObject) throws {
        facts += try RevenueCatWire.read(event).facts(
            learnedAt: RevenueCatWire.start + .minutes(1),
            evidence: EvidenceID(hex: "event-\(facts.count)"),
            chains: StoreChains(facts)
        )
    }

    /// Adds the facts of a RevenueCat response.
    mutating func read(_ bytes: [UInt8]) throws {
        let reading = RevenueCatWire.reader.reading(of: try SubscriberWire.read(bytes))
        facts += reading.facts(
            learnedAt: reading.subscriber.requestDate,
            evidence: EvidenceID(hex: "read-\(facts.count)"),
            chains: StoreChains(facts)
        )
    }

    /// Adds a fact from the store itself.
    mutating func store(_ assertion: Assertion, of lineage: Lineage, at asserted: Instant) {
        facts.append(
            Fact(
                lineage: lineage,
                assertion: assertion,
                effectiveAt: asserted,
                assertedAt: asserted,
                learnedAt: asserted,
                source: lineage.store == .appStore ? .appStoreAPI : .playAPI,
                evidence: EvidenceID(hex: "store-\(facts.count)")
            )
        )
    }

    static let appStore = Lineage(store: .appStore, environment: .production, id: "700")

    var lineages: [Lineage] { Set(facts.map(\.lineage)).sorted() }

    func snapshot(_ at: Instant, in environment: Environment = .production) -> Snapshot {
        history(in: environment).snapshot(at: at)
    }

    var history: CustomerHistory { history(in: .production) }

    private func history(in environment: Environment) -> CustomerHistory {
        CustomerHistory(
            customer: Self.customer,
            environment: environment,
            lineageRecords: lineages.map { lineage in
                OwnedHistory(
                    history: LineageHistory(
                        lineage: lineage,
                        facts: facts,
                        catalogue: Versioned(RevenueCatWire.catalogue)
                    ),
                    owners: [
                        OwnershipEntry(
                            lineage: lineage,
                            customer: Self.customer,
                            from: .distantPast,
                            why: .claimed
                        )
                    ]
                )
            },
            catalogue: Versioned(RevenueCatWire.catalogue),
            policy: Versioned(Policy())
        )
    }

    func standing(_ at: Instant, _ entitlement: String = "premium") -> Standing? {
        snapshot(at)[entitlement]?.standing
    }

    /// State, reason, rule and confidence of the premium entitlement.
    func told(_ at: Instant) -> String {
        guard let standing = standing(at) else { return "none" }
        let words = [standing.state.rawValue, standing.reason.rawValue, standing.rule.rawValue]
        return (words + [standing.confidence.rawValue]).joined(separator: " ")
    }
}

extension Instant {
    static func day(_ text: String) -> Instant { RevenueCatWire.instant(text + "T12:00:00Z") }
}
