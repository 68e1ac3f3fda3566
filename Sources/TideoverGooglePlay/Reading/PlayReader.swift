import TideoverCore
import TideoverJSON

/// Reads Google Play content for one app. API responses are trusted because we requested them. A
/// notification prompts a query; if none is possible, its type is a presumption.
package struct PlayReader: Sendable {
    package let app: PlayIdentity
    let name: PlayTokenNaming

    package init(app: PlayIdentity, naming: @escaping PlayTokenNaming) {
        self.app = app
        name = naming
    }

    /// Reads a stored response.
    package func read(
        _ read: PlayRead,
        chains: PlayChains = PlayChains()
    ) throws(PlayRefusal) -> PlayReading {
        try app.require(packageName: read.packageName)
        let fields = try WireFields(JSONDocument(google: read.answer, limits: .storeAnswer).root)
        switch (read.kind, read.purchaseToken) {
        case (.subscription, let token?):
            let purchase = try SubscriptionPurchaseV2(fields)
            return try self.read(purchase, of: token, read.exchange, chains: chains)
        case (.product, let token?):
            let purchase = try ProductPurchaseV2(fields)
            return try self.read(purchase, of: token, read.exchange, chains: chains)
        case (.endedSubscription, let token?):
            return ended(token, read.exchange, chains: chains)
        case (.subscription, nil), (.product, nil), (.endedSubscription, nil):
            throw .missingMember("purchaseToken")
        case (.voidedPurchases, _):
            let page = try VoidedPurchasesPage(fields)
            return self.read(page.voidedPurchases, chains: chains)
        }
    }

    /// Reads a notification: the queries it prompts, and the facts presumed if no query is
    /// possible.
    package func read(
        _ notification: DeveloperNotification,
        chains: PlayChains = PlayChains()
    ) throws(PlayRefusal) -> PlayNotification {
        try app.require(packageName: notification.packageName)
        return try PlayNotification(notification, self, chains)
    }
}
