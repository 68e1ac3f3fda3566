import TideoverCalendar
import TideoverJSON

/// The messages for customers in one language, with its rules for dates, lengths and prices.
///
/// The texts are data, in `messages.json`.
public struct MessageLanguage: Sendable {
    /// The tag of BCP 47, such as `de` or `zh-Hans`.
    public let tag: String
    /// The message of each key.
    public private(set) var messages: [MessageText.Key: MessageText]
    let formats: MessageFormats
    /// The tag without region and script, in lower case, such as `zh`.
    private let primary: Substring

    /// English. Stored answers contain it.
    public static let english = language("en")

    /// Every language, English first.
    public static let all: [MessageLanguage] = {
        guard let document = try? JSONDocument(PackageResources.messages_json, limits: .local)
        else { preconditionFailure("messages.json is JSON") }
        let languages = document.root.members.compactMap { MessageLanguage(tag: $0, $1) }
        precondition(languages.count == document.root.count, "each language is complete")
        return languages
    }()

    private static func language(_ tag: String) -> MessageLanguage {
        guard let language = all.first(where: { $0.tag == tag }) else {
            preconditionFailure("messages.json has \(tag)")
        }
        return language
    }

    /// Reads one language; nil if anything is missing.
    private init?(tag: String, _ node: JSONNode) {
        guard let formats = MessageFormats(node) else { return nil }
        var messages: [MessageText.Key: MessageText] = [:]
        for key in MessageText.Key.allCases {
            guard let message = node["messages"]?[key.rawValue],
                let title = message["title"]?.string, let text = message["message"]?.string
            else { return nil }
            messages[key] = MessageText(key, title, text, label: message["label"]?.string)
        }
        self.tag = tag
        primary = tag.prefix { $0 != "-" }
        self.formats = formats
        self.messages = messages
    }

    /// The message of a key.
    public subscript(key: MessageText.Key) -> MessageText {
        guard let message = messages[key] else { preconditionFailure("every key has a message") }
        return message
    }

    /// Replaces a message by an operator's.
    public mutating func replace(_ message: MessageText) { messages[message.key] = message }

    /// Returns the first language of a list of tags that is known; English if none is.
    ///
    /// Another region of a language counts as the language, such as `de-AT` or `pt-PT`. Traditional
    /// Chinese does not count as simplified.
    public static func preferred(in tags: some Sequence<String>) -> MessageLanguage {
        for tag in tags {
            if let language = serving(tag) { return language }
        }
        return .english
    }

    private static func serving(_ wanted: String) -> MessageLanguage? {
        let parts = wanted.lowercased().split(separator: "-")
        guard let primary = parts.first,
            !(primary == "zh" && parts.contains(where: traditionalChinese.contains))
        else { return nil }
        return all.first { $0.primary == primary }
    }

    private static let traditionalChinese: Set<Substring> = ["hant", "tw", "hk", "mo"]
}

extension MessageLanguage: CustomStringConvertible {
    /// The tag.
    public var description: String { tag }
}

/// A language's rules for dates, lengths and prices, as patterns with `{name}` for each part.
///
/// A class, because languages are passed on often, and their rules are large to copy.
final class MessageFormats: Sendable {
    static let english = MessageLanguage.english.formats

    enum Unit: String, CaseIterable { case year, month, week, day }

    /// The form for one, where the language has it, and for other counts.
    struct Plural {
        let one: String?
        let other: String
    }

    private let months: [String]
    /// How days are written that are not plain numbers, such as the first in French.
    private let days: [String: String]
    private let date: String
    private let time: String
    private let decimal: String
    private let and: String
    private let price: String
    private let lengths: [Unit: Plural]
    private let rates: [Unit: String]
    private let otherRate: String

    /// Reads the rules of one language; nil if one is missing.
    init?(_ node: JSONNode) {
        guard let months = node["months"]?.elements.compactMap(\.string), months.count == 12,
            let date = node["date"]?.string, let time = node["time"]?.string,
            let decimal = node["decimal"]?.string, let and = node["and"]?.string,
            let price = node["price"]?.string, let otherRate = node["rate"]?["other"]?.string
        else { return nil }
        var lengths: [Unit: Plural] = [:]
        var rates: [Unit: String] = [:]
        for unit in Unit.allCases {
            guard let length = node["length"]?[unit.rawValue], let other = length["other"]?.string,
                let rate = node["rate"]?[unit.rawValue]?.string
            else { return nil }
            lengths[unit] = Plural(one: length["one"]?.string, other: other)
            rates[unit] = rate
        }
        (self.months, self.date, self.time) = (months, date, time)
        (self.decimal, self.and, self.price) = (decimal, and, price)
        (self.lengths, self.rates, self.otherRate) = (lengths, rates, otherRate)
        days = Dictionary(
            node["days"]?.members.compactMap { day in day.value.string.map { (day.key, $0) } }
                ?? [],
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// Returns a value as text. Dates are in UTC; `showsTimes` adds the time of day.
    func text(_ value: MessageText.Value, showsTimes: Bool) -> String {
        switch value {
        case .instant(let instant): date(instant, showsTime: showsTimes)
        case .number(let number): "\(number)"
        case .length(let period): text(period)
        case .price(let price): text(price)
        }
    }

    /// Returns a day such as `17 May 2026`, in UTC; `showsTime` adds the time of day.
    func date(_ instant: Instant, showsTime: Bool = false) -> String {
        let writable = Instant.writable
        let civil = min(max(instant, writable.lowerBound), writable.upperBound).civil.date
        let day = String(civil.day)
        let date = MessageText.fill(self.date) { name in
            switch name {
            case "day": days[day] ?? day
            case "month": months[Int(civil.month - 1)]
            case "year": String(civil.year)
            default: nil
            }
        }
        guard showsTime else { return date }
        let clock = String(instant.rfc3339.dropFirst(11).prefix(5))
        return MessageText.fill(time) { ["date": date, "time": clock][$0] }
    }

    private func text(_ period: Period) -> String {
        let parts = parts(of: period).map { count, unit in
            let plural = lengths[unit]
            let pattern = count == 1 ? plural?.one ?? plural?.other : plural?.other
            return MessageText.fill(pattern ?? "") { $0 == "count" ? "\(count)" : nil }
        }
        guard let first = parts.first else { return "" }
        return parts.dropFirst().reduce(first) { text, part in
            MessageText.fill(and) { ["first": text, "second": part][$0] }
        }
    }

    private func text(_ value: Price) -> String {
        let amount = value.amount.text(decimal: decimal)
        guard let period = value.period else { return amount }
        let rate = rate(period)
        return MessageText.fill(price) { ["amount": amount, "rate": rate][$0] }
    }

    private func rate(_ period: Period) -> String {
        let parts = parts(of: period)
        if parts.count == 1, parts[0].count == 1, let rate = rates[parts[0].unit] { return rate }
        let length = text(period)
        return MessageText.fill(otherRate) { $0 == "length" ? length : nil }
    }

    private func parts(of period: Period) -> [(count: Int64, unit: Unit)] {
        let all: [(Int64, Unit)] = [
            (period.years, .year), (period.months, .month), (period.weeks, .week),
            (period.days, .day),
        ]
        return all.filter { $0.0 != 0 }.map { (count: $0.0, unit: $0.1) }
    }
}
