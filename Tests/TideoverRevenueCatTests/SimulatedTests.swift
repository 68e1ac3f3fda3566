import Testing
import TideoverCore
import TideoverJSON
import TideoverRevenueCat

/// Tests RevenueCat beside simulated stores, and catalogue products with base plans.
@Suite struct SimulatedTests {
    private static func reader(
        _ environments: [Environment],
        _ products: [String] = ["cards.pro.monthly"]
    ) -> RevenueCatReader {
        var catalogue = Catalogue()
        for product in products {
            catalogue.products[product] = Product(
                entitlements: ["premium"],
                period: Period(months: 1)
            )
        }
        return RevenueCatReader(environments: environments, catalogue: catalogue)
    }

    private static let evidence = EvidenceID(hex: "01")

    private func facts(_ reading: RevenueCatReading) -> [Fact] {
        reading.facts(learnedAt: RevenueCatWire.start, evidence: Self.evidence)
    }

    private func products(_ facts: [Fact]) -> [String] {
        facts.compactMap { fact in
            if case .term(let term) = fact.assertion { term.productId } else { nil }
        }
    }

    @Test(arguments: ["PRODUCTION", "SANDBOX"])
    func `in an app with only simulated stores every event is simulated`(
        claimed: String
    ) throws {
        let event = RevenueCatWire.event("INITIAL_PURCHASE", ["environment": .string(claimed)])
        let reading = try Self.reader([.simulated]).event(body: RevenueCatWire.body(event))
        #expect(reading.environment == .simulated)
        #expect(Set(facts(reading).map(\.lineage.environment)) == [.simulated])
    }

    @Test func `in an app with a real environment no event is simulated`() throws {
        let event = RevenueCatWire.event("INITIAL_PURCHASE", ["environment": "SANDBOX"])
        let both = Self.reader([.production, .simulated])
        #expect(throws: RevenueCatRefusal.self) {
            try both.event(body: RevenueCatWire.body(event))
        }
    }

    @Test func `an answer in such an app is simulated too`() throws {
        let subscription = JSONValue.object(SubscriberWire.subscription())
        let bytes = SubscriberWire.answer(["cards.pro.monthly": subscription])
        let reading = Self.reader([.simulated]).reading(of: try SubscriberWire.read(bytes))
        #expect(!reading.lineages.isEmpty)
        #expect(Set(reading.lineages.map(\.environment)) == [.simulated])
    }

    @Test(arguments: [
        (["cards.pro:monthly"], "cards.pro:monthly"), (["cards.pro"], "cards.pro"),
        (["cards.pro", "cards.pro:monthly"], "cards.pro:monthly"), ([], "cards.pro:monthly"),
    ])
    func `a Google Play product is named as in the catalogue`(
        listed: [String],
        named: String
    ) throws {
        let reader = Self.reader([.production], listed)
        let event = RevenueCatWire.event(
            "INITIAL_PURCHASE",
            ["store": "PLAY_STORE", "product_id": "cards.pro:monthly"]
        )
        let told = try reader.event(body: RevenueCatWire.body(event))
        #expect(products(facts(told)) == [named])
        let subscription = SubscriberWire.subscription([
            "store": "play_store", "product_plan_identifier": "monthly",
        ])
        let bytes = SubscriberWire.answer(["cards.pro": .object(subscription)])
        let answered = reader.reading(of: try SubscriberWire.read(bytes))
        #expect(
            products(answered.facts(learnedAt: RevenueCatWire.start, evidence: Self.evidence))
                == [named]
        )
    }
}
