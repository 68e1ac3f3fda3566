import TideoverCalendar

/// A calendar length as the stores write it (ISO 8601, such as `P1M`, `P3D`, `P1W`, `P1Y`).
public struct Period: Hashable, Sendable {
    public var years: Int64
    public var months: Int64
    public var weeks: Int64
    public var days: Int64

    public init(years: Int64 = 0, months: Int64 = 0, weeks: Int64 = 0, days: Int64 = 0) {
        self.years = years
        self.months = months
        self.weeks = weeks
        self.days = days
    }

    /// Reads `P[nY][nM][nW][nD]` with at least one part, each number at most 9999. Nil for any
    /// other text.
    public init?(iso8601 text: some StringProtocol) {
        self.init()
        guard text.first == "P" else { return nil }
        var rest = text.dropFirst()
        guard !rest.isEmpty else { return nil }
        let parts: [(Character, WritableKeyPath<Period, Int64>)] = [
            ("Y", \.years), ("M", \.months), ("W", \.weeks), ("D", \.days),
        ]
        for (letter, part) in parts {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            guard rest.dropFirst(digits.count).first == letter else { continue }
            guard let number = Int64(digits), number <= 9999 else { return nil }
            self[keyPath: part] = number
            rest = rest.dropFirst(digits.count + 1)
        }
        guard rest.isEmpty, self != Period() else { return nil }
    }

    /// Returns this period repeated `count` times.
    func times(_ count: Int64) -> Period {
        Period(
            years: years * count,
            months: months * count,
            weeks: weeks * count,
            days: days * count
        )
    }

    public var iso8601: String {
        let parts = [(years, "Y"), (months, "M"), (weeks, "W"), (days, "D")]
        return parts.reduce(into: "P") { if $1.0 != 0 { $0 += "\($1.0)\($1.1)" } }
    }

    /// Returns the length of this period if it begins at `start`.
    public func length(from start: Instant) -> Milliseconds {
        (start + self) - start
    }
}

extension Instant {
    /// Returns the same time of day one period earlier. A day that the month lacks becomes its last
    /// day.
    static func - (end: Instant, period: Period) -> Instant {
        end + period.times(-1)
    }

    /// Returns the same time of day one period later. A day that the month lacks becomes its last
    /// day.
    public static func + (start: Instant, period: Period) -> Instant {
        let (date, time) = min(max(start, writable.lowerBound), writable.upperBound).civil
        let end = date.adding(months: period.years * 12 + period.months)
        return Instant(end, time: time) + .days(period.weeks * 7 + period.days)
    }
}
