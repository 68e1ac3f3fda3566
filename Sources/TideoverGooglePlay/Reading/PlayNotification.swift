package import TideoverCore

/// A notification of Google Play for this app: the store queries it prompts, and the facts presumed
/// if no query is possible.
package struct PlayNotification: Sendable {
    package let notification: DeveloperNotification
    /// When the event occurred, by the store's clock.
    package let eventTime: Instant
    /// The store queries, in order; empty for a notification without a purchase.
    package let questions: [Question]
    /// The facts presumed from the notification type, with the lowest rank. They apply only without
    /// configured credentials; otherwise only the response of the store counts.
    package let presumed: PlayReading

    /// A store query that a notification prompts. The tokens are secrets.
    package enum Question: Hashable, Sendable {
        case subscription(token: String)
        case product(token: String)
    }

    init(
        _ notification: DeveloperNotification,
        _ reader: PlayReader,
        _ chains: PlayChains
    ) throws(PlayRefusal) {
        guard let eventTime = notification.eventTime else {
            throw .missingMember("notification.eventTimeMillis")
        }
        try Self.requireToken(in: notification)
        self.notification = notification
        self.eventTime = eventTime
        questions = Self.questions(of: notification)
        presumed = reader.presume(notification, at: eventTime, chains)
    }

    /// Whether it is a test notification.
    package var isTest: Bool {
        if case .test = notification.content { true } else { false }
    }

    /// Returns a deduplication key, unique within the app. With a Pub/Sub message ID, all
    /// deliveries of the message share it. Otherwise it is distinct per notification.
    package func dedupeKey(messageId: String?) -> String {
        if let messageId { return "pubsub:\(messageId)" }
        let names = presumed.lineages.map(\.id).sorted().joined(separator: ",")
        let instant = eventTime.millisecondsSince1970
        return "rtdn:\(instant):\(notification.announcement):\(names)"
    }

    private static func requireToken(
        in notification: DeveloperNotification
    ) throws(PlayRefusal) {
        switch notification.content {
        case .subscription, .oneTimeProduct, .voidedPurchase:
            guard notification.purchaseToken != nil else {
                throw .missingMember("notification.purchaseToken")
            }
        case .pendingRefundReview, .test, nil: return
        }
    }

    /// A notification of an unknown type also prompts a query.
    private static func questions(of notification: DeveloperNotification) -> [Question] {
        guard let token = notification.purchaseToken else { return [] }
        switch notification.content {
        case .subscription: return [.subscription(token: token)]
        case .oneTimeProduct: return [.product(token: token)]
        case .voidedPurchase(let order):
            switch order.productType?.known {
            case .subscription: return [.subscription(token: token)]
            case .oneTime: return [.product(token: token)]
            case nil: return [.subscription(token: token), .product(token: token)]
            }
        case .pendingRefundReview, .test, nil: return []
        }
    }
}
