import TideoverCalendar
import TideoverJSON

/// Reads the Google Play parts of a scenario's head.
struct PlayHeadReader {
    /// The whole scenario.
    let top: JSONNode
    let customers: [StoreCustomer]
    let lag: Int64

    /// Nil if the scenario has no Google Play part.
    func read() throws(ScenarioError) -> ScenarioGooglePlay? {
        guard let node = top["googlePlay"] else { return nil }
        let reader = try ObjectReader(
            node,
            "googlePlay",
            keys: ["packageName", "subscriptions", "products", "pubSub", "credentials"]
        )
        var entitlements: [String: [String]] = [:]
        var subscriptions: [GooglePlaySubscriptionProduct] = []
        for (id, member) in try members("subscriptions", of: reader) {
            let product = try ObjectReader(
                member,
                "a subscription",
                keys: ["entitlements", "basePlans"]
            )
            entitlements[id] = try product.required("entitlements", readStrings)
            subscriptions.append(
                GooglePlaySubscriptionProduct(id: id, basePlans: try basePlans(product))
            )
        }
        var products: [GooglePlayOneTimeProduct] = []
        for (id, member) in try members("products", of: reader) {
            let product = try ObjectReader(
                member,
                "a product",
                keys: ["entitlements", "price", "consumable"]
            )
            entitlements[id] = try product.required("entitlements", readStrings)
            products.append(
                GooglePlayOneTimeProduct(
                    id: id,
                    isConsumable: try flag("consumable", of: product) ?? false,
                    price: GooglePlayPrice(try product.required("price", readPrice))
                )
            )
        }
        guard !entitlements.isEmpty else { throw fault(.none(of: "subscriptions"), node) }
        return ScenarioGooglePlay(
            app: GooglePlayApp(
                packageName: try reader.required("packageName", readString),
                subscriptions: subscriptions,
                products: products
            ),
            entitlements: entitlements,
            customers: try playCustomers(),
            habits: try habits(reader),
            hasCredentials: try flag("credentials", of: reader) ?? true
        )
    }

    private func members(
        _ key: String,
        of reader: ObjectReader
    ) throws(ScenarioError) -> [(key: String, value: JSONNode)] {
        guard let node = reader.node[key] else { return [] }
        try checkKind(node, .object, key, .object)
        return node.members.map { ($0.key, $0.value) }
    }

    private func flag(_ key: String, of reader: ObjectReader) throws(ScenarioError) -> Bool? {
        guard let node = reader.node[key] else { return nil }
        guard let value = node.bool else { throw fault(.expected(.bool, for: key), node) }
        return value
    }

    // MARK: Plans

    private func basePlans(
        _ product: ObjectReader
    ) throws(ScenarioError) -> [GooglePlayBasePlan] {
        var plans: [GooglePlayBasePlan] = []
        for (id, member) in try members("basePlans", of: product) {
            plans.append(try basePlan(id, member))
        }
        guard !plans.isEmpty else { throw fault(.none(of: "basePlans"), product.node) }
        return plans
    }

    private func basePlan(
        _ id: String,
        _ node: JSONNode
    ) throws(ScenarioError) -> GooglePlayBasePlan {
        let reader = try ObjectReader(
            node,
            "a base plan",
            keys: ["period", "price", "grace", "hold", "prepaid", "installments", "trial"]
        )
        let trial = try reader.optional("trial", readSpan)
        let offer = trial.map {
            GooglePlayOffer(id: "trial", phases: [GooglePlayOffer.Phase(period: $0)])
        }
        return GooglePlayBasePlan(
            id: id,
            kind: try kind(reader),
            period: try reader.required("period", readSpan),
            price: GooglePlayPrice(try reader.required("price", readPrice)),
            graceDays: try days("grace", of: reader) ?? 0,
            holdDays: try days("hold", of: reader),
            offers: offer.map { [$0] } ?? []
        )
    }

    /// Reads how a plan continues at its expiry. After the committed payments it renews period by
    /// period.
    private func kind(
        _ reader: ObjectReader
    ) throws(ScenarioError) -> GooglePlayBasePlan.Kind {
        if try flag("prepaid", of: reader) ?? false { return .prepaid }
        guard let payments = try reader.wholeNumber("installments") else { return .autoRenewing }
        return .instalments(payments: max(payments, 1), renewsCommitment: false)
    }

    /// Reads whole days, the unit of Google's grace and hold.
    private func days(_ key: String, of reader: ObjectReader) throws(ScenarioError) -> Int64? {
        guard let span = try reader.optional(key, readSpan) else { return nil }
        return span.end(of: 1, from: 0) / CivilDate.millisecondsPerDay
    }

    // MARK: Customers

    /// Returns the customers of Google Play: those who name it, or all if no other store sells
    /// anything.
    private func playCustomers() throws(ScenarioError) -> [GooglePlayCustomer] {
        var players: [GooglePlayCustomer] = []
        for customer in customers {
            guard let node = top["customers"]?[customer.name], try buysHere(node) else { continue }
            let region = try node["region"].map(readString)
            let isTester = node["licenceTester"]
            if let isTester, isTester.bool == nil {
                throw fault(.expected(.bool, for: "licenceTester"), isTester)
            }
            players.append(
                GooglePlayCustomer(
                    name: customer.name,
                    obfuscatedAccountId: customer.appAccountToken,
                    region: region ?? "US",
                    isLicenceTester: isTester?.bool ?? false
                )
            )
        }
        return players
    }

    private func buysHere(_ node: JSONNode) throws(ScenarioError) -> Bool {
        guard let store = node["store"] else { return top["products"] == nil }
        return try named(store, .store, ["appStore", "googlePlay"]) { $0 } == "googlePlay"
    }

    // MARK: Delivery

    private func habits(_ reader: ObjectReader) throws(ScenarioError) -> PubSubDeliveryFaults {
        var habits = PubSubDeliveryFaults()
        habits.lag = lag
        guard let node = reader.node["pubSub"] else { return habits }
        let pubSub = try ObjectReader(
            node,
            "pubSub",
            keys: ["scatter", "redelivered", "republished"]
        )
        habits.scatter = try pubSub.optional("scatter", readSpan)?.end(of: 1, from: 0) ?? 0
        habits.redelivered = try pubSub.wholeNumber("redelivered") ?? 0
        habits.republished = try pubSub.wholeNumber("republished") ?? 0
        return habits
    }
}
