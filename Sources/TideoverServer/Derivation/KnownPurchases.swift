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
        let own = try app.environments.flatMap { environment in
            try Ownership.allCases.map { ownership in
                try context.storage.lineageRecord(
                    Lineage(
                        store: .appStore,
                        environment: environment,
                        id: id,
                        ownership: ownership
                    ),
                    app: app.id
                )
            }
        }
        return try own.filter { !$0.facts.isEmpty } + named(.transaction(id))
    }

    func order(_ order: String) throws -> [LineageRecord] { try named(PurchaseName(order: order)) }

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
