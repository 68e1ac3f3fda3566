package import TideoverCore
package import TideoverJSON

/// Translates a stored change of an answer to the event of RevenueCat that no transition of a
/// purchase reports: a period that the store extended.
///
/// A product with several entitlements changes each of them. Then the message is repeated under one
/// id.
package struct RevenueCatChange {
    private let at: Instant
    private let former: Answer?
    private let new: Answer
    private let record: CustomerRecord
    private let history: CustomerHistory

    /// Reads an event's data. Nil for an event that is no change of an answer, and for one that
    /// leaves no access. `record` is the customer as stored.
    package init?(_ data: JSONNode, _ record: CustomerRecord) {
        guard data["entitlement"]?.string != nil,
            let at = data["at"]?.string.flatMap({ Instant(rfc3339: $0) }),
            let new = Answer(data["to"])
        else { return nil }
        self.at = at
        self.new = new
        self.record = record
        history = record.history
        former = Answer(data["from"])
    }

    /// Returns the message of the change; nil for a change that RevenueCat reports otherwise, or
    /// not at all.
    package func message(app: String) -> RevenueCatMessage? {
        for lineageRecord in record.lineageRecords where lineageRecord.lineage.store == new.store {
            guard let purchase = extended(lineageRecord) else { continue }
            let end = purchase.expiresAt?.millisecondsSince1970 ?? 0
            return RevenueCatMessage(
                .subscriptionExtended,
                id: "extension-\(purchase.transactionId ?? "")-\(end)",
                timestamp: at,
                app: app,
                content: .customer(RevenueCatMessage.Customer(record.identity), purchase)
            )
        }
        return nil
    }

    /// Returns the purchase of a lineage if the change is that its store moved the end of the
    /// running period. A payment begins a period of its own.
    private func extended(
        _ lineageRecord: CustomerRecord.LineageRecord
    ) -> RevenueCatMessage.Purchase? {
        let purchases = purchases(of: lineageRecord)
        guard let former, former.state == .active, new.state == .active,
            former.product == new.product, let oldEnd = former.accessUntil,
            let current = purchases.last, current.kind == .subscription,
            current.productId == new.product, let end = current.endsAt, oldEnd < end,
            lineageRecord.facts.contains(where: { $0.states(oldEnd, asEndOf: current) })
        else { return nil }
        var purchase = RevenueCatMessage.Purchase(of: lineageRecord.lineage)
        purchase.product = current.productId
        purchase.entitlements =
            record.catalogue.value(at: at)[current.productId]?.entitlements.sorted() ?? []
        purchase.describe(purchases)
        return purchase
    }

    private func purchases(of lineageRecord: CustomerRecord.LineageRecord) -> [ListedPurchase] {
        history.lineageRecords.map(\.history)
            .first { $0.lineage == lineageRecord.lineage }?.purchases(by: at) ?? []
    }
}

/// The members of an entitlement's answer that the events need.
private struct Answer {
    let state: State
    let product: String
    let store: Store
    let accessUntil: Instant?

    /// Nil for an answer without access.
    init?(_ node: JSONNode?) {
        guard let node, node["access"]?.bool == true,
            let state = node["state"]?.string.flatMap(State.init(rawValue:)),
            let product = node["productId"]?.string,
            let store = node["store"]?.string.flatMap(Store.init(rawValue:))
        else { return nil }
        self.state = state
        self.product = product
        self.store = store
        accessUntil = node["accessUntil"]?.string.flatMap { Instant(rfc3339: $0) }
    }
}

extension Fact {
    /// Whether it names an instant as the end of a purchase's period.
    fileprivate func states(_ end: Instant, asEndOf purchase: ListedPurchase) -> Bool {
        switch assertion {
        case .term(let term): term.key == purchase.key && term.end == end
        case .playSubscription(let read):
            read.items.contains {
                $0.orderId == purchase.transactionId && $0.expiresAt == end
            }
        default: false
        }
    }
}
