import TideoverJSON

/// One push of a message, and the response of the system under test.
public struct PushedMessage: Hashable, Sendable {
    /// The message.
    public let message: PlayMessage
    /// The fault of this push; nil if there is none.
    public let fault: PlayWireFault?
    /// The response's status; nil without a response.
    public let status: Int?
    /// The answer about the message's customer, read directly after the push.
    public let reading: Reading?
    /// Whether a later push of the same message was acknowledged.
    public internal(set) var isTakenLater = false

    /// Whether Pub/Sub counts the message as delivered.
    public var isAcknowledged: Bool { status.map(PlayPost.isAcknowledgement) ?? false }

    /// Whether the message was accepted, or rejected if it must be rejected. A receiver may also
    /// answer with a server error if a later push is accepted.
    public var isTakenRightly: Bool {
        guard !(fault?.mustBeRefused ?? false) else { return (400...499).contains(status ?? 0) }
        return isAcknowledged || (isTakenLater && (500...599).contains(status ?? 0))
    }

    /// The type of the notification, such as `SUBSCRIPTION_RENEWED`.
    public var name: String { PlayNotificationName(message).text }

    /// The event, in one sentence.
    public var words: String {
        guard let customer = message.customer else {
            return "Google Play sends a test notification."
        }
        return "Google Play reports \(customer)'s purchase: \(name)."
    }
}

/// The name of a notification in Google's documents.
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
