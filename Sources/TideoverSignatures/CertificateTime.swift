/// The two encodings of an instant in certificates (RFC 5280 section 4.1.2.5): UTC, to the second.
package enum CertificateTime {
    /// The years 0 to 9999, in milliseconds since 1970.
    static let writable: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

    /// Returns milliseconds since 1970 for `YYMMDDHHMMSSZ`, with years from 1950 to 2049.
    package static func utcTime(_ text: some Collection<UInt8>) -> Int64? {
        guard text.count == 13, let year = number(text.prefix(2)) else { return nil }
        return instant(year: year + (year < 50 ? 2000 : 1900), rest: text.dropFirst(2))
    }

    /// Returns milliseconds since 1970 for `YYYYMMDDHHMMSSZ`.
    package static func generalizedTime(_ text: some Collection<UInt8>) -> Int64? {
        guard text.count == 15, let year = number(text.prefix(4)) else { return nil }
        return instant(year: year, rest: text.dropFirst(4))
    }

    /// Returns the instant in RFC 3339, UTC, with milliseconds only if they are not zero.
    package static func text(_ milliseconds: Int64) -> String {
        let (day, time) = milliseconds.dividedFloored(by: 86_400_000)
        let (year, month, dayOfMonth) = civilDate(day: day)
        let (seconds, fraction) = time.dividedFloored(by: 1000)
        let clock = [seconds / 3600, seconds / 60 % 60, seconds % 60].map { padded($0, 2) }
        let date = [padded(year, 4), padded(month, 2), padded(dayOfMonth, 2)]
        let tail = fraction == 0 ? "" : "." + padded(fraction, 3)
        return date.joined(separator: "-") + "T" + clock.joined(separator: ":") + tail + "Z"
    }

    /// `rest` is `MMDDHHMMSSZ`.
    private static func instant(year: Int64, rest: some Collection<UInt8>) -> Int64? {
        guard rest.count == 11, rest.dropFirst(10).first == UInt8(ascii: "Z"),
            let digits = number(rest.prefix(10))
        else { return nil }
        let (month, day) = (digits / 100_000_000, digits / 1_000_000 % 100)
        let (hour, minute, second) = (digits / 10_000 % 100, digits / 100 % 100, digits % 100)
        guard (1...12).contains(month), (1...daysIn(month, of: year)).contains(day),
            hour < 24, minute < 60, second < 60
        else { return nil }
        let seconds = dayNumber(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second
        return seconds * 1000
    }

    private static func number(_ digits: some Collection<UInt8>) -> Int64? {
        var value: Int64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            value = value * 10 + Int64(digit - UInt8(ascii: "0"))
        }
        return value
    }

    private static func daysIn(_ month: Int64, of year: Int64) -> Int64 {
        let next = month == 12 ? dayNumber(year + 1, 1, 1) : dayNumber(year, month + 1, 1)
        return next - dayNumber(year, month, 1)
    }

    /// Days since 1970-01-01 in the Gregorian calendar, counted in years that begin in March, so
    /// that the leap day is the last of its year.
    private static func dayNumber(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let marchYear = month > 2 ? year : year - 1
        let marchMonth = (month + 9) % 12
        let dayOfYear = (153 * marchMonth + 2) / 5 + day - 1
        let leapDays = floored(marchYear, 4) - floored(marchYear, 100) + floored(marchYear, 400)
        return 365 * marchYear + leapDays + dayOfYear - 719_468
    }

    private static func civilDate(day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        // The estimate is at most one year late, never early.
        var marchYear = floored((day + 719_468) * 400, 146_097) + 1
        while dayNumber(marchYear, 3, 1) > day {
            marchYear -= 1
        }
        let dayOfYear = day - dayNumber(marchYear, 3, 1)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = month > 2 ? marchYear : marchYear + 1
        return (year, month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }

    private static func floored(_ value: Int64, _ divisor: Int64) -> Int64 {
        value.dividedFloored(by: divisor).quotient
    }

    private static func padded(_ value: Int64, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

extension Int64 {
    /// Quotient and remainder of a division that rounds towards the past, also before 1970.
    func dividedFloored(
        by divisor: Int64
    ) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
