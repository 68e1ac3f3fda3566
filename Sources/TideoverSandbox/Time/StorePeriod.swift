/// A length of time as a store's catalogue states it: calendar months plus a fixed part.
public struct StorePeriod: Hashable, Sendable {
    /// The ISO 8601 text it was read from, such as `P1M`; what the store puts on the wire.
    public let iso: String
    public let months: Int
    /// What is not months, in milliseconds; in UTC every day has 24 hours.
    public let milliseconds: Int64

    /// Reads an ISO 8601 duration such as `P1M`, `P3D` or `PT90S`; nil for anything else, a zero
    /// length included.
    public init?(iso text: String) {
        var months: Int64 = 0
        var milliseconds: Int64 = 0
        guard text.hasPrefix("P") else { return nil }
        let parts = text.dropFirst().split(separator: "T", omittingEmptySubsequences: false)
        guard let dates = parts.first, parts.count <= 2, parts.count == 1 || !parts[1].isEmpty,
            StorePeriod.add(dates, StorePeriod.dateUnits, &months, &milliseconds),
            StorePeriod.add(
                parts.dropFirst().first ?? "",
                StorePeriod.timeUnits,
                &months,
                &milliseconds
            ),
            months > 0 || milliseconds > 0
        else { return nil }
        self.init(iso: text, months: Int(months), milliseconds: milliseconds)
    }

    private init(iso: String, months: Int, milliseconds: Int64) {
        self.iso = iso
        self.months = months
        self.milliseconds = milliseconds
    }

    /// The instant a number of periods after an anchor. Counted from the anchor each time, so that a
    /// cycle begun on 31 January ends on 28 February and then on 31 March.
    public func end(of count: Int, from anchor: Int64) -> Int64 {
        let days = floorDivide(anchor, CivilDate.millisecondsPerDay)
        let timeOfDay = anchor - days * CivilDate.millisecondsPerDay
        let date = CivilDate(daysSince1970: Int(days)).adding(months: months * count)
        return Int64(date.daysSince1970) * CivilDate.millisecondsPerDay + timeOfDay
            + milliseconds * Int64(count)
    }

    private typealias Unit = (letter: Character, months: Int64, milliseconds: Int64)

    private static let dateUnits: [Unit] = [
        ("Y", 12, 0), ("M", 1, 0), ("W", 0, 7 * 86_400_000), ("D", 0, 86_400_000),
    ]
    private static let timeUnits: [Unit] = [
        ("H", 0, 3_600_000), ("M", 0, 60_000), ("S", 0, 1000),
    ]

    /// Adds up `number unit` pairs; false if the text is not made of them in the units' order.
    private static func add(
        _ text: Substring,
        _ units: [Unit],
        _ months: inout Int64,
        _ milliseconds: inout Int64
    ) -> Bool {
        var rest = text
        for unit in units {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            guard rest.dropFirst(digits.count).first == unit.letter else { continue }
            guard digits.count <= 6, let number = Int64(digits) else { return false }
            months += number * unit.months
            milliseconds += number * unit.milliseconds
            rest = rest.dropFirst(digits.count + 1)
        }
        return rest.isEmpty
    }
}

extension StorePeriod {
    /// Reads what a person writes for a stretch of time: an ISO 8601 duration (`P1M`), or numbers with
    /// units (`16 d`, `1h 30min`, `2 months`). Nil for anything else; `m` alone is refused, because it
    /// could be minutes or months. Unlike a catalogue's period it may be zero (`0s`).
    package static func span(_ text: String) -> StorePeriod? {
        if let period = StorePeriod(iso: text) { return period }
        var months: Int64 = 0
        var milliseconds: Int64 = 0
        var rest = text[...]
        while true {
            rest = rest.drop { $0 == " " }
            if rest.isEmpty { break }
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            rest = rest.dropFirst(digits.count).drop { $0 == " " }
            let word = rest.prefix { $0.isASCII && $0.isLetter }
            rest = rest.dropFirst(word.count)
            guard digits.count <= 9, let number = Int64(digits), let unit = spokenUnits(word)
            else { return nil }
            months += number * unit.months
            milliseconds += number * unit.milliseconds
        }
        guard !text.allSatisfy({ $0 == " " }) else { return nil }
        return StorePeriod(iso: text, months: Int(months), milliseconds: milliseconds)
    }

    private static func spokenUnits(
        _ word: Substring
    ) -> (months: Int64, milliseconds: Int64)? {
        switch word {
        case "ms": (0, 1)
        case "s", "second", "seconds": (0, 1000)
        case "min", "minute", "minutes": (0, 60_000)
        case "h", "hour", "hours": (0, 3_600_000)
        case "d", "day", "days": (0, 86_400_000)
        case "w", "week", "weeks": (0, 7 * 86_400_000)
        case "month", "months": (1, 0)
        case "year", "years": (12, 0)
        default: nil
        }
    }
}
