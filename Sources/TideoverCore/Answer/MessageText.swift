/// One row of the message table: the English text of a screen, with `{name}` as the placeholder of
/// an argument. Apps translate by the key and insert the arguments themselves.
public struct MessageText: Hashable, Sendable {
    public let key: Key
    public let title: String
    public let message: String
    /// The label of the button; nil if there is no action.
    public let label: String?
    /// Ordered as in a JSON answer.
    public let arguments: [Argument]

    init(
        _ key: Key,
        _ title: String,
        _ message: String,
        label: String? = nil,
        _ arguments: Argument...
    ) {
        self.key = key
        self.title = title
        self.message = message
        self.label = label
        self.arguments = arguments
    }

    /// The key of a message. Keys never change; more may be added.
    public enum Key: String, Hashable, Sendable, CaseIterable {
        case trialOffer = "trial.offer"
        case trialOfferUnpriced = "trial.offer.unpriced"
        case trialRunning = "trial.running"
        case trialRunningUnpriced = "trial.running.unpriced"
        case trialEnding = "trial.ending"
        case trialEndingUnpriced = "trial.ending.unpriced"
        case trialCancelled = "trial.cancelled"
        case cancelled
        case grace = "grace.soft"
        case graceUndated = "grace.soft.undated"
        case graceShared = "grace.shared"
        case hold = "hold.hard"
        case holdShared = "hold.shared"
        case paused = "hold.paused"
        case expired
        case expiredUnpriced = "expired.unpriced"
        case expiredShared = "expired.shared"
        case pending
        case unconfirmed
        case chargedTwice = "charged.twice"
    }

    /// The name of an argument.
    public enum Argument: String, Hashable, Sendable, CaseIterable {
        case until, endsAt, cancelBy, daysLeft, trial, price

        /// The type of its value in JSON.
        public var type: ValueType {
            switch self {
            case .until, .endsAt, .cancelBy: .instant
            case .daysLeft: .number
            case .trial: .length
            case .price: .price
            }
        }
    }

    public enum ValueType: String, Hashable, Sendable, CaseIterable {
        /// RFC 3339 in UTC.
        case instant
        case number
        /// ISO 8601, such as `P3D`.
        case length
        /// An object with an amount and, for a recurring charge, its frequency.
        case price
    }

    /// The value of an argument.
    public enum Value: Hashable, Sendable {
        case instant(Instant)
        case number(Int64)
        case length(Period)
        case price(Price)

        public var type: ValueType {
            switch self {
            case .instant: .instant
            case .number: .number
            case .length: .length
            case .price: .price
            }
        }
    }

    /// Returns the message for a key.
    public static subscript(key: Key) -> MessageText {
        guard let phrase = byKey[key] else { preconditionFailure("every key has a message") }
        return phrase
    }

    private static let byKey = Dictionary(uniqueKeysWithValues: all.map { ($0.key, $0) })

    func title(_ value: (String) -> String?) -> String { Self.fill(title, value) }
    func message(_ value: (String) -> String?) -> String { Self.fill(message, value) }

    /// Returns the names in braces, in order.
    static func names(in template: String) -> [String] {
        template.split(separator: "{").dropFirst().map { String($0.prefix { $0 != "}" }) }
    }

    private static func fill(_ template: String, _ value: (String) -> String?) -> String {
        // Works on bytes. A search by characters takes longer than the rest of an answer.
        var text = ""
        var rest = template.utf8[...]
        while let open = rest.firstIndex(of: UInt8(ascii: "{")),
            let close = rest[open...].firstIndex(of: UInt8(ascii: "}"))
        {
            let name = rest[rest.index(after: open)..<close]
            text += Substring(rest[..<open])
            text += value(String(Substring(name))) ?? ""
            rest = rest[rest.index(after: close)...]
        }
        return text + Substring(rest)
    }
}

extension MessageText {
    /// Every message. Only a locked-out customer is informed that their data is kept: earlier it
    /// would read as a threat.
    public static let all: [MessageText] = [
        MessageText(
            .trialOffer,
            "Try it free for {trial}",
            "After that it costs {price}. Cancel at least a day before the trial ends, and nothing "
                + "is charged.",
            label: "Start free trial",
            .trial,
            .price
        ),
        MessageText(
            .trialOfferUnpriced,
            "Try it free for {trial}",
            "Cancel at least a day before the trial ends, and nothing is charged.",
            label: "Start free trial",
            .trial
        ),
        MessageText(
            .trialRunning,
            "Your free trial is running",
            "It lasts until {endsAt}. After that it costs {price}, unless you cancel by "
                + "{cancelBy}.",
            label: "Manage subscription",
            .endsAt,
            .cancelBy,
            .daysLeft,
            .price
        ),
        MessageText(
            .trialRunningUnpriced,
            "Your free trial is running",
            "It lasts until {endsAt}. After that it becomes a paid subscription, unless you cancel "
                + "by {cancelBy}.",
            label: "Manage subscription",
            .endsAt,
            .cancelBy,
            .daysLeft
        ),
        MessageText(
            .trialEnding,
            "Your free trial ends soon",
            "It becomes a paid subscription on {endsAt}, for {price}. A cancellation now may come "
                + "too late to stop the first payment.",
            label: "Manage subscription",
            .endsAt,
            .price
        ),
        MessageText(
            .trialEndingUnpriced,
            "Your free trial ends soon",
            "It becomes a paid subscription on {endsAt}. A cancellation now may come too late to "
                + "stop the first payment.",
            label: "Manage subscription",
            .endsAt
        ),
        MessageText(
            .trialCancelled,
            "Your free trial is cancelled",
            "You have full access until {endsAt}, and nothing will be charged. To go on after "
                + "that, turn renewal on again; it costs nothing before then.",
            label: "Turn renewal on",
            .endsAt
        ),
        MessageText(
            .cancelled,
            "Your subscription will not renew",
            "You have full access until {until}. To go on after that, turn renewal on again; it "
                + "costs nothing before then.",
            label: "Turn renewal on",
            .until
        ),
        MessageText(
            .grace,
            "There was a problem with your payment",
            "You still have full access. Please update your payment method by {until} to keep it.",
            label: "Update payment method",
            .until
        ),
        MessageText(
            .graceUndated,
            "There was a problem with your payment",
            "You still have full access. Please update your payment method to keep it.",
            label: "Update payment method"
        ),
        MessageText(
            .graceShared,
            "There was a problem with the shared subscription",
            "You still have full access, and there is nothing for you to do."
        ),
        MessageText(
            .hold,
            "Your subscription is on hold",
            "Your last payment did not go through. Update your payment method and you are back "
                + "instantly; your data is still here.",
            label: "Update payment method"
        ),
        MessageText(
            .holdShared,
            "The shared subscription is on hold",
            "Access comes back by itself when its payment succeeds."
        ),
        MessageText(
            .paused,
            "Your subscription is paused",
            "Resume it whenever you like, and you are back at once.",
            label: "Resume"
        ),
        MessageText(
            .expired,
            "Your access has ended",
            "You can have it back for {price}.",
            label: "Get access again",
            .price
        ),
        MessageText(
            .expiredUnpriced,
            "Your access has ended",
            "You can have it back whenever you like.",
            label: "Get access again"
        ),
        MessageText(
            .expiredShared,
            "Shared access has ended",
            "What was shared with you is no longer available."
        ),
        MessageText(
            .pending,
            "Your purchase is waiting",
            "It takes effect as soon as it is approved and paid. There is no need to buy again."
        ),
        MessageText(
            .unconfirmed,
            "We are checking with the store",
            "Your purchase is not confirmed to us yet. There is no need to buy again."
        ),
        MessageText(
            .chargedTwice,
            "You are paying twice",
            "Two of your subscriptions charge you for the same. You may want to cancel one of them.",
            label: "Manage subscription"
        ),
    ]
}
