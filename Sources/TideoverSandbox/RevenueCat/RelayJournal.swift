import TideoverJSON

/// The simulated RevenueCat's records of customers, and its answers. They contain only what the
/// stores have reported: an extended period is visible only after the store has reported it.
struct RelayJournal: Sendable {
    /// By the id that the app set.
    private(set) var customers: [String: [RelayedPurchase]] = [:]
    /// Entitlements by product id.
    private let entitlements: [String: [String]]
    private var random: SeededRandom

    init(entitlements: [String: [String]], seed: UInt64) {
        self.entitlements = entitlements
        random = SeededRandom(seed: seed ^ 0x7265_6C61_7965_64)
    }

    /// Returns the index of the customer's purchase with this store id; nil if RevenueCat has none.
    func place(of original: String, for customer: String) -> Int? {
        customers[customer]?.firstIndex { $0.original == original }
    }

    /// Stores the current state of a purchase, and creates events of its changes.
    mutating func keep(
        _ purchase: RelayedPurchase,
        of customer: String,
        _ news: [RelayNews],
        at now: Int64
    ) -> [RelayEvent] {
        if let place = place(of: purchase.original, for: customer) {
            customers[customer]?[place] = purchase
        } else {
            customers[customer, default: []].append(purchase)
        }
        let members = purchase.members(of: customer, unlocking: unlocked(by: purchase))
        return news.map { news in
            var content = members
            for (key, value) in news.more { content[key] = value }
            return event(news.type, of: customer, content, at: now)
        }
    }

    /// Moves the purchases of one customer to another, who signed in and restored them.
    mutating func transfer(from former: String, to customer: String, at now: Int64) -> RelayEvent {
        customers[customer, default: []] += customers[former] ?? []
        customers[former] = []
        let content: JSONObject = [
            "app_id": "app1a2b3c4d", "transferred_from": .array([.string(former)]),
            "transferred_to": .array([.string(customer)]),
        ]
        return event(.transfer, of: customer, content, at: now)
    }

    private mutating func event(
        _ type: RelayEvent.EventType,
        of customer: String,
        _ content: JSONObject,
        at now: Int64
    ) -> RelayEvent {
        RelayEvent(id: random.uuid(), type: type, at: now, customer: customer, content: content)
    }

    private func unlocked(by purchase: RelayedPurchase) -> [String] {
        entitlements[purchase.product] ?? []
    }
}

// MARK: - Answers

extension RelayJournal {
    /// Whether an app that asks only RevenueCat gives access: the SDK's `isActive`.
    func isActive(_ entitlement: String, of customer: String, at now: Int64) -> Bool {
        best(entitlement, of: customer).map { ($0.entitledUntil ?? .max) >= now } ?? false
    }

    /// Returns the answer to `GET /v1/subscribers/{app_user_id}`.
    func answer(about customer: String, at now: Int64) -> JSONObject {
        let purchases = customers[customer] ?? []
        var (subscriptions, others): (JSONObject, JSONObject) = ([:], [:])
        for purchase in purchases {
            if purchase.expiresAt != nil {
                subscriptions[purchase.product] = purchase.subscription
            } else {
                let before = others[purchase.product]?.array ?? []
                others[purchase.product] = .array(before + [purchase.nonSubscription])
            }
        }
        let names = Set(purchases.flatMap(unlocked)).sorted()
        let concluded = names.reduce(into: JSONObject()) { object, name in
            object[name] = best(name, of: customer)?.entitlement
        }
        return [
            "request_date": .string(InstantText.write(now)), "request_date_ms": .integer(now),
            "subscriber": [
                "original_app_user_id": .string(customer),
                "subscriptions": .object(subscriptions), "non_subscriptions": .object(others),
                "entitlements": .object(concluded),
            ],
        ]
    }

    private func best(_ entitlement: String, of customer: String) -> RelayedPurchase? {
        (customers[customer] ?? []).filter { unlocked(by: $0).contains(entitlement) }
            .max { ($0.entitledUntil ?? .max) < ($1.entitledUntil ?? .max) }
    }
}
