/// A message that a customer should be shown or sent, and when.
public struct PlannedMessage: Hashable, Sendable, Identifiable {
    /// The value of `kind` for the event of a message that is due.
    public static let eventKind = "message_due"

    /// Stable: the same occasion has the same ID whenever it is computed.
    public internal(set) var id: String
    public let kind: Kind
    public let channel: Channel
    /// When it is due, after the waits of `policy.prompts`.
    public let at: Instant
    /// From then on it is out of date: neither shown nor sent.
    public let until: Instant
    public let lineage: Lineage
    /// Nil if no product is involved.
    public let productId: String?
    public let entitlements: [String]
    public let wording: Wording
    /// Why it is neither shown nor sent; nil if it is.
    public let suppression: Suppression?
    /// The customer's arm in an experiment; nil for none.
    public let experiment: ExperimentAssignment?

    /// Returns the message, suppressed.
    func suppressed(_ suppression: Suppression) -> PlannedMessage {
        PlannedMessage(
            id: id,
            kind: kind,
            channel: channel,
            at: at,
            until: until,
            lineage: lineage,
            productId: productId,
            entitlements: entitlements,
            wording: wording,
            suppression: suppression,
            experiment: experiment
        )
    }

    /// The occasion of a message.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// A trial that will renew ends soon.
        case trialEnding
        /// A payment failed; access continues.
        case graceEntered
        case graceEnding
        /// Access is suspended until the payment is fixed.
        case holdEntered
        /// A failed payment was fixed, or the customer bought again.
        case recovered
        /// The store reports a higher price that awaits the customer's consent.
        case priceConsent
        /// Access ended, and the customer's downloads and creations can be deleted.
        case cleanupDue
    }

    /// The way to the customer.
    public enum Channel: String, Hashable, Sendable, CaseIterable {
        /// Shown in the app.
        case app
        /// Sent by the back end, such as an email or a notification.
        case message
    }

    public enum Suppression: String, Hashable, Sendable, CaseIterable {
        /// A device or a back end reported it as shown or sent.
        case reported
        /// The store showed its own message on the same occasion.
        case store
        /// Its occasion passes before the waits of `policy.prompts` are over.
        case waits
        /// The customer is in a group that an experiment does not ask.
        case holdout
        /// Another purchase gives access, or the customer is in another state.
        case notAffected
    }
}

/// The messages for one customer, by all facts known: past and future ones.
public struct MessagePlan: Hashable, Sendable {
    /// Earliest first. Suppressed ones are included.
    public let messages: [PlannedMessage]

    public static let none = MessagePlan(messages: [])

    /// The largest number of messages in an answer.
    private static let mostOpen = 8

    /// Returns the messages to be shown or sent at an instant or later, earliest first.
    public func open(at instant: Instant) -> [PlannedMessage] {
        let open = messages.lazy.filter { $0.suppression == nil && instant < $0.until }
        return Array(open.prefix(Self.mostOpen))
    }

    /// Returns the messages to be shown or sent at an instant, earliest first.
    public func due(at instant: Instant) -> [PlannedMessage] {
        messages.filter { $0.suppression == nil && $0.at <= instant && instant < $0.until }
    }
}
