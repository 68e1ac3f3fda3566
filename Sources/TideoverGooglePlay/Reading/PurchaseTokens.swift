import TideoverCore
import TideoverJSON

extension PlayRead {
    /// The purchase tokens in the request and in the links of the response. They are secrets.
    package var purchaseTokens: [String] {
        get throws(PlayRefusal) {
            let fields = try WireFields(JSONDocument(google: answer, limits: .storeAnswer).root)
            let own = [purchaseToken].compactMap(\.self)
            switch kind {
            case .subscription:
                let linked = try SubscriptionPurchaseV2(fields).linkedPurchaseToken
                return own + [linked].compactMap(\.self)
            case .product, .endedSubscription: return own
            case .voidedPurchases:
                return own + (try VoidedPurchasesPage(fields)).voidedPurchases.map(\.purchaseToken)
            }
        }
    }
}

extension PlayDelivery {
    /// The purchase tokens in the notification and the responses. They are secrets.
    package var purchaseTokens: [String] {
        get throws(PlayRefusal) {
            let document = try JSONDocument(google: notification)
            let told = try DeveloperNotification(payload: document.root).purchaseToken
            var tokens = [told].compactMap(\.self)
            for read in reads { tokens += try read.purchaseTokens }
            return tokens
        }
    }
}

extension PlayAnswers {
    /// The purchase tokens in the responses. They are secrets.
    package var purchaseTokens: [String] {
        get throws(PlayRefusal) {
            var tokens: [String] = []
            for read in reads { tokens += try read.purchaseTokens }
            return tokens
        }
    }
}
