import TideoverCalendar

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
        let days = milliseconds.flooredQuotient(by: CivilDate.millisecondsPerDay)
        let civil = CivilDate(daysSince1970: days)
        let time = milliseconds.flooredRemainder(by: CivilDate.millisecondsPerDay)
        let (seconds, fraction) = (time / 1000, time % 1000)
        let clock = [seconds / 3600, seconds / 60 % 60, seconds % 60].map { padded($0, 2) }
        let date = [padded(civil.year, 4), padded(civil.month, 2), padded(civil.day, 2)]
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
        guard let date = CivilDate(year: year, month: month, day: day), hour < 24, minute < 60,
            second < 60
        else { return nil }
        let seconds = date.daysSince1970 * 86_400 + hour * 3600 + minute * 60 + second
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

    private static func padded(_ value: Int64, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
