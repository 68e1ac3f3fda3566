import TideoverJSON

/// One push of a message, and how the system under test took it.
public struct PushedMessage: Hashable, Sendable {
    /// What was pushed.
    public let message: PlayMessage
    /// What went wrong on its way; nil when nothing did.
    public let fault: PlayWireFault?
    /// The status answered; nil when no answer came.
    public let status: Int?
    /// The answer right after it, for the customer it is about.
    public let reading: Reading?
    /// Whether a later push of the same message was acknowledged.
    public internal(set) var isTakenLater = false

    /// Whether Pub/Sub takes the message as delivered.
    public var isAcknowledged: Bool { status.map(PlayPost.isAcknowledgement) ?? false }

    /// Whether the message was taken in, or refused where it must not be believed, or put off by a fault of
    /// one's own and taken in later.
    public var isTakenRightly: Bool {
        guard !(fault?.mustBeRefused ?? false) else { return (400...499).contains(status ?? 0) }
        return isAcknowledged || (isTakenLater && (500...599).contains(status ?? 0))
    }

    /// What the notification is of, such as `SUBSCRIPTION_RENEWED`.
    public var name: String { PlayNotificationName(message).text }

    /// What happened, in one sentence.
    public var words: String {
        guard let customer = message.customer else {
            return "Google Play sends a test notification."
        }
        return "Google Play tells of \(customer)'s purchase: \(name)."
    }
}

/// The name that Google's documents have for a notification.
/// https://developer.android.com/google/play/billing/rtdn-reference
private struct PlayNotificationName {
    let text: String

    init(_ message: PlayMessage) {
        guard let root = try? JSONDocument(message.data).root else {
            text = "?"
            return
        }
        if let type = root["subscriptionNotification"]?["notificationType"]?.int64 {
            text = "SUBSCRIPTION_" + (Self.subscription[type] ?? String(type))
        } else if let type = root["oneTimeProductNotification"]?["notificationType"]?.int64 {
            text = "ONE_TIME_PRODUCT_" + (type == 1 ? "PURCHASED" : "CANCELED")
        } else if root["voidedPurchaseNotification"] != nil {
            text = "VOIDED_PURCHASE"
        } else if root["pendingRefundReviewNotification"] != nil {
            text = "PENDING_REFUND_REVIEW"
        } else {
            text = "TEST"
        }
    }

    private static let subscription: [Int64: String] = [
        1: "RECOVERED", 2: "RENEWED", 3: "CANCELED", 4: "PURCHASED", 5: "ON_HOLD",
        6: "IN_GRACE_PERIOD", 7: "RESTARTED", 9: "DEFERRED", 10: "PAUSED",
        11: "PAUSE_SCHEDULE_CHANGED", 12: "REVOKED", 13: "EXPIRED", 17: "ITEMS_CHANGED",
        18: "CANCELLATION_SCHEDULED", 19: "PRICE_CHANGE_UPDATED", 20: "PENDING_PURCHASE_CANCELED",
        22: "PRICE_STEP_UP_CONSENT_UPDATED",
    ]
}
