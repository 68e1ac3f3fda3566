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
    case hold
    case holdShared
    case paused
    case expired(price: Price?)
    case expiredShared
    /// A purchase awaits its payment or its approval.
    case pending
    /// The store has not reported the result of a purchase.
    case unconfirmed
    /// Two purchases charge for the same entitlement.
    case chargedTwice
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
        case .hold: .hold
        case .holdShared: .holdShared
        case .paused: .paused
        case .expired(let price): price == nil ? .expiredUnpriced : .expired
        case .expiredShared: .expiredShared
        case .pending: .pending
        case .unconfirmed: .unconfirmed
        case .chargedTwice: .chargedTwice
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
            case .graceShared, .hold, .holdShared, .paused, .expiredShared, .pending,
                .unconfirmed, .chargedTwice:
                []
            }
        return all.compactMap { name, value in value.map { (name, $0) } }
    }
}

/// The text for a screen: a key and arguments for the app's own translations, and English.
public struct Wording: Hashable, Sendable {
    public var screen: MessageContext
    /// Whether the English text includes the time of day. Days are too coarse for periods of
    /// minutes.
    public var showsTimes: Bool

    public init(_ screen: MessageContext, showsTimes: Bool = false) {
        self.screen = screen
        self.showsTimes = showsTimes
    }

    public var title: String { MessageText[screen.key].title(filledIn) }
    public var message: String { MessageText[screen.key].message(filledIn) }
    /// The label of the button for the advised action; nil if there is none.
    public var label: String? { MessageText[screen.key].label }

    private func filledIn(_ name: String) -> String? {
        screen.arguments.first { $0.name.rawValue == name }.map { english($0.value) }
    }

    private func english(_ value: MessageText.Value) -> String {
        switch value {
        case .instant(let instant): Words.instant(instant, showsTime: showsTimes)
        case .number(let number): "\(number)"
        case .length(let period): Words.length(period)
        case .price(let price):
            [price.amount.text, price.period.map { "per \(Words.rate($0))" }].compactMap(\.self)
                .joined(separator: " ")
        }
    }
}

/// English text for people.
enum Words {
    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September",
        "October", "November", "December",
    ]

    /// Returns a day such as `17 May 2026`, in UTC.
    static func day(_ instant: Instant) -> String {
        let writable = Instant.writable
        let date = CivilDate(min(max(instant, writable.lowerBound), writable.upperBound))
        return "\(date.day) \(months[Int(date.month - 1)]) \(date.year)"
    }

    /// Returns the day; adds `, 10:05 UTC` if periods are too short for days.
    static func instant(_ instant: Instant, showsTime: Bool) -> String {
        guard showsTime else { return day(instant) }
        return "\(day(instant)), \(instant.rfc3339.dropFirst(11).prefix(5)) UTC"
    }

    /// Returns a length such as `3 days`, `1 month` or `1 year and 6 months`.
    static func length(_ period: Period) -> String {
        let parts = [
            (period.years, "year"), (period.months, "month"), (period.weeks, "week"),
            (period.days, "day"),
        ].filter { $0.0 != 0 }.map { $0.0 == 1 ? "1 \($0.1)" : "\($0.0) \($0.1)s" }
        return parts.joined(separator: " and ")
    }

    /// Returns the frequency of a price, such as `month` or `3 months`.
    static func rate(_ period: Period) -> String {
        let length = length(period)
        return length.hasPrefix("1 ") && !length.contains(" and ")
            ? String(length.dropFirst(2)) : length
    }
}
