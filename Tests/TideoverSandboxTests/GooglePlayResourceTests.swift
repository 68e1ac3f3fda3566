import Testing
import TideoverCore
import TideoverGooglePlay
import TideoverJSON
import TideoverSandbox

/// Compares the simulated store's resources with Google's description of its API, with the
/// independent reader, and with the rules of standing.
@Suite struct GooglePlayResourceTests {
    private static let seeds: Range<UInt64> = 1..<25
    private static let steps = 20

    @Test(.enabled(if: PublisherDocument.isPresent, "Google's document is not beside the project"))
    func `every resource conforms to Google's description`() throws {
        try checkLives(by: PublisherDocument())
    }

    @Test func `every resource has only documented fields, each of its type`() throws {
        try checkLives(by: PublisherDocument(schemas: DocumentedPlay.schemas()))
    }

    private func checkLives(by document: PublisherDocument) throws {
        for seed in Self.seeds {
            var life = try PlayedLife(seed: seed)
            var orders: Set<String> = []
            for _ in 0..<Self.steps {
                try life.act()
                let machine = life.store.machine
                for token in life.store.tokens {
                    let subscription = machine.subscription(token: token)
                    orders.formUnion(subscription?.orders ?? [])
                    let product = machine.product(token: token)
                    let faults =
                        subscription.map {
                            document.faults(in: $0, as: "SubscriptionPurchaseV2")
                        } ?? product.map { document.faults(in: $0, as: "ProductPurchaseV2") }
                    #expect(faults == [], "seed \(seed)")
                    let first = machine.productV1(token: token)
                    let faultsV1 = first.map { document.faults(in: $0, as: "ProductPurchase") }
                    #expect(faultsV1 ?? [] == [], "seed \(seed)")
                }
                for order in orders {
                    let order = try #require(machine.order(order))
                    #expect(document.faults(in: order, as: "Order") == [], "seed \(seed)")
                }
                for voided in machine.voided(since: 0, until: .max) {
                    let faults = document.faults(in: voided.resource, as: "VoidedPurchase")
                    #expect(faults == [], "seed \(seed)")
                }
                try life.pass(until: life.nextInstant())
            }
        }
    }

    @Test func `every resource is read as intended, without unknown values`() throws {
        for seed in Self.seeds {
            var life = try PlayedLife(seed: seed)
            for _ in 0..<Self.steps {
                try life.act()
                let machine = life.store.machine
                for token in life.store.tokens {
                    if let resource = machine.subscription(token: token) {
                        try compare(resource, SubscriptionPurchaseV2(wire: node(resource)))
                    } else {
                        let resource = try #require(machine.product(token: token))
                        let read = try ProductPurchaseV2(wire: node(resource))
                        #expect(read.purchaseState?.known != nil)
                    }
                }
                for voided in machine.voided(since: 0, until: .max) {
                    let read = try VoidedPurchase(wire: node(voided.resource))
                    #expect(read.orderId == voided.order)
                    #expect(read.voidedTime.millisecondsSince1970 == voided.voidedAt)
                    #expect(read.voidedReason?.known?.rawValue == voided.reason.rawValue)
                }
                try life.pass(until: life.nextInstant())
            }
            for notification in life.store.notifications {
                let read = try DeveloperNotification(payload: node(notification.content))
                #expect(read.unknownMembers.isEmpty)
                #expect(read.eventTime?.millisecondsSince1970 == notification.at)
                if case .subscription(let content) = read.content {
                    #expect(content.notificationType?.known != nil)
                }
            }
        }
    }

    private func compare(_ resource: JSONObject, _ read: SubscriptionPurchaseV2) throws {
        #expect(read.subscriptionState?.known?.rawValue == resource["subscriptionState"]?.string)
        #expect(read.linkedPurchaseToken == resource["linkedPurchaseToken"]?.string)
        let items = try #require(resource["lineItems"]?.array)
        #expect(read.lineItems.map(\.productId) == items.compactMap { $0["productId"]?.string })
        #expect(
            read.lineItems.map { $0.expiryTime?.millisecondsSince1970 }
                == items.map { $0["expiryTime"]?.string.flatMap { InstantText.read($0) } }
        )
        #expect(read.lineItems.allSatisfy { $0.plan != nil })
    }

    private func node(_ object: JSONObject) throws -> JSONNode {
        try JSONDocument(JSONValue.object(object).encoded()).root
    }

    /// The results for these lives are meaningful only if the lives cover everything.
    @Test func `the lives include every state and every kind of notification`() throws {
        var states: Set<String> = []
        var types: Set<GooglePlayEvent.SubscriptionType> = []
        for seed in Self.seeds {
            var life = try PlayedLife(seed: seed)
            for _ in 0..<Self.steps {
                try life.act()
                for token in life.store.tokens {
                    let resource = life.store.machine.subscription(token: token)
                    if let state = resource?["subscriptionState"]?.string { states.insert(state) }
                }
                try life.pass(until: life.nextInstant())
            }
            for case .subscription(let type, _) in life.store.notifications.map(\.event) {
                types.insert(type)
            }
        }
        let all = Set(SubscriptionPurchaseV2.State.allCases.map(\.rawValue))
        #expect(all.subtracting(states) == [])
        #expect(Set(GooglePlayEvent.SubscriptionType.allCases).subtracting(types) == [])
    }

    // MARK: Standing

    /// A back end that reads each purchase after every change gives access exactly when the store
    /// does.
    @Test func `the rules of standing give the access that the store has`() throws {
        for seed in Self.seeds {
            var life = try PlayedLife(seed: seed)
            var listener = PlayListener()
            for _ in 0..<Self.steps {
                try life.act()
                try listener.listen(to: life.store)
                let next = life.nextInstant()
                while let event = life.store.machine.nextEvent, event <= next {
                    try life.pass(until: event - 1)
                    try listener.check(life.store, seed)
                    try life.pass(until: event)
                    try listener.listen(to: life.store)
                    try listener.check(life.store, seed)
                }
                try life.pass(until: next)
                try listener.check(life.store, seed)
            }
        }
    }
}

extension JSONObject {
    /// The orders in a subscription's resource.
    fileprivate var orders: [String] {
        (self["lineItems"]?.array ?? []).compactMap { $0["latestSuccessfulOrderId"]?.string }
    }
}

/// A back end that reads every purchase as soon as it has changed.
private struct PlayListener {
    private static let catalogue: Catalogue = {
        let monthly = Product(entitlements: ["premium"], group: "pro", period: Period(months: 1))
        return Catalogue(products: [
            "cards.pro": monthly, "cards.plus": monthly, "cards.extra": monthly,
            "cards.lifetime": Product(entitlements: ["premium"], kind: .nonConsumable),
            "cards.coins": Product(entitlements: [], kind: .consumable),
        ])
    }()

    private let reader = PlayReader(
        app: PlayIdentity(
            packageName: "com.example.cards",
            environments: [.simulated],
            isSimulated: true
        ),
        naming: { PlayToken("#" + $0) }
    )
    private var facts: [Lineage: [Fact]] = [:]
    private var histories: [Lineage: LineageHistory] = [:]
    private var chains: [PlayToken: Lineage] = [:]
    private var read: [String: JSONObject] = [:]

    mutating func listen(to store: PlayedStore) throws {
        for token in store.tokens where store.machine.state(ofToken: token) == .readable {
            let subscription = store.machine.subscription(token: token)
            let resource = try #require(subscription ?? store.machine.product(token: token))
            guard read[token] != resource else { continue }
            read[token] = resource
            let now = Instant(millisecondsSince1970: store.machine.now)
            let exchange = StoreExchange(askedAt: now, answeredAt: now, dated: now)
            let node = try JSONDocument(JSONValue.object(resource).encoded()).root
            let known = PlayChains(chains)
            let reading =
                subscription != nil
                ? try reader.read(
                    SubscriptionPurchaseV2(wire: node),
                    of: token,
                    exchange,
                    chains: known
                )
                : try reader.read(ProductPurchaseV2(wire: node), of: token, exchange, chains: known)
            #expect(reading.unrecognised.isEmpty)
            take(reading, of: token, at: now)
        }
    }

    private mutating func take(_ reading: PlayReading, of token: String, at now: Instant) {
        let evidence = EvidenceID(hex: now.rfc3339 + token)
        for fact in reading.facts(learnedAt: now, evidence: evidence) {
            facts[fact.lineage, default: []].append(fact)
            if reading.lineages.count == 1 { chains[PlayToken("#" + token)] = fact.lineage }
        }
        for lineage in reading.lineages {
            histories[lineage] = LineageHistory(
                lineage: lineage,
                facts: facts[lineage] ?? [],
                catalogue: Self.catalogue
            )
        }
    }

    func check(_ store: PlayedStore, _ seed: UInt64) throws {
        let at = store.machine.now
        let truth = store.machine.holdings(of: "anna", at: at)
            .filter { $0.product != "cards.coins" }
        let isEntitled = truth.contains { $0.truth.isEntitled }
        let now = Instant(millisecondsSince1970: at)
        let standings = histories.values.map { $0.standing(at: now, policy: Policy()) }
        let isServed = standings.contains { [.active, .grace].contains($0.state) }
        #expect(
            isServed == isEntitled,
            "seed \(seed) at \(now.rfc3339): \(truth.map(\.truth)) \(standings.map(\.rule.rawValue))"
        )
    }
}
