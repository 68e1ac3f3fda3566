import TideoverCore
import TideoverStorage

/// The stored purchases of an app, found by the names that stores give them.
struct KnownPurchases: Sendable {
    let context: AppContext

    private var app: App { context.app }

    /// The maximum number of purchases of one name; there is at most one for each environment and
    /// ownership type.
    static let most = 20

    /// Returns the purchases of a transaction id, an order number or a purchase token.
    func find(_ name: String) throws -> [LineageRecord] {
        if PlayOrderNumber.isOne(name) { return try order(name) }
        let found = try transaction(name)
        return try found.isEmpty ? token(name) : found
    }

    /// Returns the purchases of a transaction id, or of the digest of a purchase token.
    func transaction(_ id: String) throws -> [LineageRecord] {
        try own(id, of: .appStore) + named(.transaction(id))
    }

    /// Returns the purchases of an order number. RevenueCat names a purchase of Google Play by its
    /// order; that name counts until the store reports the purchase.
    func order(_ order: String) throws -> [LineageRecord] {
        let name = PurchaseName(order: order)
        let found = try named(name)
        guard found.isEmpty else { return found }
        let relayed = try own(name.text, of: .googlePlay)
        return try relayed.isEmpty ? named(.transaction(order)) : relayed
    }

    /// Returns the purchases with a lineage of this id.
    private func own(_ id: String, of store: Store) throws -> [LineageRecord] {
        let all = try app.environments.flatMap { environment in
            try Ownership.allCases.map { ownership in
                try context.storage.lineageRecord(
                    Lineage(store: store, environment: environment, id: id, ownership: ownership),
                    app: app.id
                )
            }
        }
        return all.filter { !$0.facts.isEmpty }
    }

    /// Returns the Google Play purchase of a purchase token; facts contain only the token's digest.
    func token(_ purchaseToken: String) throws -> [LineageRecord] {
        guard let token = app.googlePlay?.token(purchaseToken) else { return [] }
        let own = try app.environments.map { environment in
            try context.storage.lineageRecord(
                Lineage(store: .googlePlay, environment: environment, id: token.id),
                app: app.id
            )
        }
        return try own.filter { !$0.facts.isEmpty } + named(.transaction(token.id))
    }

    private func named(_ name: PurchaseName) throws -> [LineageRecord] {
        try context.storage.lineageRecords(named: name, app: app.id, limit: Self.most)
    }
}

/// The number of a Google Play order, such as `GPA.1234-5678-9012-34567`, with the suffix `..N` for
/// a renewal.
enum PlayOrderNumber {
    /// Returns whether an order number belongs to Google Play and not to the App Store.
    static func isOne(_ text: String) -> Bool { text.hasPrefix("GPA.") }
}
