/// A message for a customer, with its data.
public enum MessageContext: Hashable, Sendable {
    case trialOffer(length: Period, price: Price?)
    case trialRunning(endsAt: Instant, cancelBy: Instant, daysLeft: Int64, price: Price?)
    /// The last day of a trial.
    case trialEnding(endsAt: Instant, price: Price?)
    case trialCancelled(endsAt: Instant)
    /// The paid period continues and will not renew.
    case cancelled(until: Instant)
    case grace(until: Instant?)
    /// A family member in grace, who need not act.
    case graceShared
    /// The payment in grace is for a product that unlocks less.
    case graceChanging
    case hold
    case holdShared
    /// The payment on hold is for a product that unlocks less.
    case holdChanging
    case paused
    case expired(price: Price?)
    case expiredShared
    /// A purchase awaits its payment or its approval.
    case pending
    /// The store has not reported the result of a purchase.
    case unconfirmed
    /// Two purchases charge for the same entitlement.
    case chargedTwice
    /// A failed payment was fixed.
    case recovered
    /// A higher price awaits the customer's consent.
    case priceConsent
}

extension MessageContext {
    /// The key of its text.
    public var key: MessageText.Key {
        switch self {
        case .trialOffer(_, let price): price == nil ? .trialOfferUnpriced : .trialOffer
        case .trialRunning(_, _, _, let price): price == nil ? .trialRunningUnpriced : .trialRunning
        case .trialEnding(_, let price): price == nil ? .trialEndingUnpriced : .trialEnding
        case .trialCancelled: .trialCancelled
        case .cancelled: .cancelled
        case .grace(let until): until == nil ? .graceUndated : .grace
        case .graceShared: .graceShared
        case .graceChanging: .graceChanging
        case .hold: .hold
        case .holdShared: .holdShared
        case .holdChanging: .holdChanging
        case .paused: .paused
        case .expired(let price): price == nil ? .expiredUnpriced : .expired
        case .expiredShared: .expiredShared
        case .pending: .pending
        case .unconfirmed: .unconfirmed
        case .chargedTwice: .chargedTwice
        case .recovered: .recovered
        case .priceConsent: .priceConsent
        }
    }

    /// The arguments of its text, in the order of the table.
    public var arguments: [(name: MessageText.Argument, value: MessageText.Value)] {
        let all: [(MessageText.Argument, MessageText.Value?)] =
            switch self {
            case .trialOffer(let length, let price):
                [(.trial, .length(length)), (.price, price.map(MessageText.Value.price))]
            case .trialRunning(let endsAt, let cancelBy, let daysLeft, let price):
                [
                    (.endsAt, .instant(endsAt)), (.cancelBy, .instant(cancelBy)),
                    (.daysLeft, .number(daysLeft)), (.price, price.map(MessageText.Value.price)),
                ]
            case .trialEnding(let endsAt, let price):
                [(.endsAt, .instant(endsAt)), (.price, price.map(MessageText.Value.price))]
            case .trialCancelled(let endsAt): [(.endsAt, .instant(endsAt))]
            case .cancelled(let until): [(.until, .instant(until))]
            case .grace(let until): [(.until, until.map(MessageText.Value.instant))]
            case .expired(let price): [(.price, price.map(MessageText.Value.price))]
            case .graceShared, .graceChanging, .hold, .holdShared, .holdChanging, .paused,
                .expiredShared, .pending, .unconfirmed, .chargedTwice, .recovered, .priceConsent:
                []
            }
        return all.compactMap { name, value in value.map { (name, $0) } }
    }
}

/// The text for a screen: a key and its arguments, to be written in any language.
public struct Wording: Hashable, Sendable {
    public var screen: MessageContext
    /// Whether the text includes the time of day. Days are too coarse for periods of
    /// minutes.
    public var showsTimes: Bool

    public init(_ screen: MessageContext, showsTimes: Bool = false) {
        self.screen = screen
        self.showsTimes = showsTimes
    }

    public var title: String { title(in: .english) }
    public var message: String { message(in: .english) }
    /// The English label of the button for the advised action; nil if there is none.
    public var label: String? { MessageText[screen.key].label }

    /// Returns the title in a language.
    public func title(in language: MessageLanguage) -> String {
        language[screen.key].title(values, language.formats, showsTimes)
    }

    /// Returns the message in a language.
    public func message(in language: MessageLanguage) -> String {
        language[screen.key].message(values, language.formats, showsTimes)
    }

    private var values: MessageText.Values { screen.arguments }
}
