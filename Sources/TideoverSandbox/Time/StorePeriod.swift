import TideoverCalendar

/// A duration in a store's catalogue: calendar months plus a fixed part.
public struct StorePeriod: Hashable, Codable, Sendable {
    /// The text it was read from, such as `P1M`; for a catalogue's period, the text that the store
    /// sends.
    public let text: String
    /// Calendar months.
    public let months: Int
    /// The rest, in milliseconds; in UTC every day has 24 hours.
    public let milliseconds: Int64

    /// Reads an ISO 8601 duration such as `P1M`, `P3D` or `PT90S`. Returns nil for anything else,
    /// for a zero length and for one beyond 10,000 years.
    public init?(iso text: String) {
        let parts = text.dropFirst().split(separator: "T", omittingEmptySubsequences: false)
        guard text.hasPrefix("P"), let dates = parts.first, parts.count <= 2, parts.last != "",
            var length = Length(pairs: dates, units: Unit.dates)
        else { return nil }
        if parts.count == 2 {
            guard let times = Length(pairs: parts[1], units: Unit.times), length.add(times)
            else { return nil }
        }
        guard length != Length() else { return nil }
        self.init(text: text, length: length)
    }

    /// Reads a duration written by a person: an ISO 8601 duration (`P1M`), or numbers with units
    /// (`16 d`, `1h 30min`, `2 months`), including zero (`0s`). Returns nil for anything else.
    /// Rejects `m` alone, because it could be minutes or months.
    package init?(span text: String) {
        if let period = StorePeriod(iso: text) {
            self = period
        } else if let length = Length(words: text) {
            self.init(text: text, length: length)
        } else {
            return nil
        }
    }

    /// Creates a length in milliseconds with another text in the catalogue.
    init(text: String, milliseconds: Int64) {
        self.text = text
        months = 0
        self.milliseconds = milliseconds
    }

    private init(text: String, length: Length) {
        self.text = text
        months = Int(length.months)
        milliseconds = length.milliseconds
    }

    /// Returns the instant a number of periods after an anchor. It counts from the anchor each
    /// time, so that a cycle begun on 31 January ends on 28 February and then on 31 March.
    public func end(of count: Int, from anchor: Int64) -> Int64 {
        let days = anchor.flooredQuotient(by: CivilDate.millisecondsPerDay)
        let timeOfDay = anchor - days * CivilDate.millisecondsPerDay
        let date = CivilDate(daysSince1970: days).adding(months: Int64(months * count))
        return date.daysSince1970 * CivilDate.millisecondsPerDay + timeOfDay
            + milliseconds * Int64(count)
    }
}

/// A unit of time and its length.
private struct Unit {
    let name: Character
    let length: Length

    static let dates = [
        Unit(name: "Y", length: .year), Unit(name: "M", length: .month),
        Unit(name: "W", length: .week), Unit(name: "D", length: .day),
    ]
    static let times = [
        Unit(name: "H", length: .hour), Unit(name: "M", length: .minute),
        Unit(name: "S", length: .second),
    ]
}

/// A sum of months and milliseconds, within bounds that prevent an overflow.
private struct Length: Equatable {
    var months: Int64 = 0
    var milliseconds: Int64 = 0

    static let year = Length(months: 12)
    static let month = Length(months: 1)
    static let week = Length(milliseconds: 7 * CivilDate.millisecondsPerDay)
    static let day = Length(milliseconds: CivilDate.millisecondsPerDay)
    static let hour = Length(milliseconds: 3_600_000)
    static let minute = Length(milliseconds: 60_000)
    static let second = Length(milliseconds: 1000)
    static let millisecond = Length(milliseconds: 1)

    private static let longest = Length(
        months: 120_000,
        milliseconds: 3_652_425 * CivilDate.millisecondsPerDay
    )

    init(months: Int64 = 0, milliseconds: Int64 = 0) {
        self.months = months
        self.milliseconds = milliseconds
    }

    /// Returns false if the sum is longer than 10,000 years.
    mutating func add(_ other: Length, times count: Int64 = 1) -> Bool {
        months += other.months * count
        milliseconds += other.milliseconds * count
        return months <= Length.longest.months && milliseconds <= Length.longest.milliseconds
    }

    /// Reads pairs of a number and a unit's letter, in the order of the units.
    init?(pairs text: Substring, units: [Unit]) {
        self.init()
        var rest = text
        for unit in units {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            guard rest.dropFirst(digits.count).first == unit.name else { continue }
            guard let number = Length.number(digits), add(unit.length, times: number)
            else { return nil }
            rest = rest.dropFirst(digits.count + 1)
        }
        guard rest.isEmpty else { return nil }
    }

    /// Reads pairs of a number and a unit's name, in any order.
    init?(words text: String) {
        self.init()
        var rest = text.drop { $0 == " " }
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            rest = rest.dropFirst(digits.count).drop { $0 == " " }
            let word = rest.prefix { $0.isASCII && $0.isLetter }
            rest = rest.dropFirst(word.count).drop { $0 == " " }
            guard let number = Length.number(digits), let unit = Length.called(word),
                add(unit, times: number)
            else { return nil }
        }
    }

    private static func number(_ digits: Substring) -> Int64? {
        digits.count <= 9 ? Int64(digits) : nil
    }

    private static func called(_ word: Substring) -> Length? {
        switch word {
        case "ms": .millisecond
        case "s", "second", "seconds": .second
        case "min", "minute", "minutes": .minute
        case "h", "hour", "hours": .hour
        case "d", "day", "days": .day
        case "w", "week", "weeks": .week
        case "month", "months": .month
        case "year", "years": .year
        default: nil
        }
    }
}
