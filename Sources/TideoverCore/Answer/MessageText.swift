/// The text of a screen in one language, with `{name}` as the placeholder of an argument.
public struct MessageText: Hashable, Sendable {
    public let key: Key
    public let title: String
    public let message: String
    /// The label of the button; nil if there is no action.
    public let label: String?

    /// Creates a text. An operator's texts replace the built-in ones.
    public init(_ key: Key, _ title: String, _ message: String, label: String? = nil) {
        self.key = key
        self.title = title
        self.message = message
        self.label = label
    }

    /// Ordered as in a JSON answer.
    public var arguments: [Argument] { key.arguments }

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
        case graceChanging = "grace.changing"
        case hold = "hold.hard"
        case holdShared = "hold.shared"
        case holdChanging = "hold.changing"
        case paused = "hold.paused"
        case expired
        case expiredUnpriced = "expired.unpriced"
        case expiredShared = "expired.shared"
        case pending
        case unconfirmed
        case chargedTwice = "charged.twice"
        case recovered
        case priceConsent = "price.consent"

        /// The arguments of its texts, ordered as in a JSON answer.
        public var arguments: [Argument] {
            switch self {
            case .trialOffer: [.trial, .price]
            case .trialOfferUnpriced: [.trial]
            case .trialRunning: [.endsAt, .cancelBy, .daysLeft, .price]
            case .trialRunningUnpriced: [.endsAt, .cancelBy, .daysLeft]
            case .trialEnding: [.endsAt, .price]
            case .trialEndingUnpriced, .trialCancelled: [.endsAt]
            case .cancelled, .grace: [.until]
            case .expired: [.price]
            case .graceUndated, .graceShared, .graceChanging, .hold, .holdShared, .holdChanging,
                .paused, .expiredUnpriced, .expiredShared, .pending, .unconfirmed, .chargedTwice,
                .recovered, .priceConsent:
                []
            }
        }
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

    /// The arguments of a message with their values.
    typealias Values = [(name: Argument, value: Value)]

    /// Returns the English message of a key.
    public static subscript(key: Key) -> MessageText { MessageLanguage.english[key] }

    /// Every English message, in the order of the keys.
    public static var all: [MessageText] { Key.allCases.map { self[$0] } }

    func title(
        _ values: Values,
        _ formats: MessageFormats,
        _ showsTimes: Bool
    ) -> String {
        fill(title, values, formats, showsTimes)
    }

    func message(
        _ values: Values,
        _ formats: MessageFormats,
        _ showsTimes: Bool
    ) -> String {
        fill(message, values, formats, showsTimes)
    }

    private func fill(
        _ template: String,
        _ values: Values,
        _ formats: MessageFormats,
        _ showsTimes: Bool
    ) -> String {
        Self.fill(template) { name in
            values.first { $0.name.rawValue == name }.map {
                formats.text($0.value, showsTimes: showsTimes)
            }
        }
    }

    /// Returns the names in braces, in order.
    public static func names(in template: String) -> [String] {
        template.split(separator: "{", omittingEmptySubsequences: false).dropFirst()
            .map { String($0.prefix { $0 != "}" }) }
    }

    /// Replaces each `{name}` by its value, or by nothing.
    static func fill(_ template: String, _ value: (String) -> String?) -> String {
        // Works on bytes in memory. A search by characters takes longer than the rest of an answer.
        var template = template
        return template.withUTF8 { fill($0, value) } ?? template
    }

    /// Returns nil if the template has no placeholder.
    private static func fill(
        _ template: UnsafeBufferPointer<UInt8>,
        _ value: (String) -> String?
    ) -> String? {
        var text: [UInt8] = []
        var rest = template[...]
        while let open = rest.firstIndex(of: UInt8(ascii: "{")),
            let close = rest[open...].firstIndex(of: UInt8(ascii: "}"))
        {
            if text.isEmpty { text.reserveCapacity(template.count + 32) }
            text.append(contentsOf: rest[..<open])
            let name = String(decoding: rest[(open + 1)..<close], as: UTF8.self)
            if let value = value(name) { text.append(contentsOf: value.utf8) }
            rest = rest[(close + 1)...]
        }
        guard rest.startIndex > 0 else { return nil }
        text.append(contentsOf: rest)
        return String(decoding: text, as: UTF8.self)
    }
}
