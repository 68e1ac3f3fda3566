public import TideoverCore

/// A notification of Google Play for this app: what to ask the store because of it, and what it comes to
/// where nobody can ask.
public struct PlayNotification: Sendable {
    public let notification: DeveloperNotification
    /// When the event occurred, by the store's clock.
    public let eventTime: Instant
    /// What to ask, in this order; nothing for what speaks of no purchase.
    public let questions: [Question]
    /// What its bare type comes to: presumed, of the lowest rank. Only where no credentials are
    /// configured; with them the answer to the question is all that counts.
    public let presumed: PlayReading

    /// What a notification prompts us to ask. The tokens are secrets.
    public enum Question: Hashable, Sendable {
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
    public var isTest: Bool {
        if case .test = notification.content { true } else { false }
    }

    /// What all deliveries of one notification share where Pub/Sub names the message, and else what no
    /// two notifications share; unique within the app.
    public func dedupeKey(messageId: String?) -> String {
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

    /// A type that this version does not know is asked about too.
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
