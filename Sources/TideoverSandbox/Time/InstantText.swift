import TideoverCalendar

/// Converts instants (milliseconds since 1970) to and from RFC 3339 text.
public enum InstantText {
    /// Formats as UTC with milliseconds, such as `2026-05-17T09:59:59.000Z`.
    public static func write(_ milliseconds: Int64) -> String {
        let (date, time) = split(milliseconds)
        return "\(text(date))T\(clock(time)).\(padded(time % 1000, 3))Z"
    }

    /// Formats for people: UTC to the second, without milliseconds, such as `2026-05-17 09:59:59`.
    public static func writeForPeople(_ milliseconds: Int64) -> String {
        let (date, time) = split(milliseconds)
        return "\(text(date)) \(clock(time))"
    }

    /// Reads `YYYY-MM-DDThh:mm:ss[.fraction](Z|±hh:mm)`; nil for anything else. Truncates a
    /// fraction finer than a millisecond.
    public static func read(_ text: String) -> Int64? {
        var scanner = DigitScanner(text)
        guard let year = scanner.digits(4), scanner.take("-"), let month = scanner.digits(2),
            scanner.take("-"), let day = scanner.digits(2), scanner.take("T"),
            let date = CivilDate(year: year, month: month, day: day),
            let hour = scanner.digits(2), hour < 24, scanner.take(":"),
            let minute = scanner.digits(2), minute < 60, scanner.take(":"),
            let second = scanner.digits(2), second < 60,
            let fraction = scanner.fractionInMilliseconds(),
            let offset = scanner.offsetInMinutes(), scanner.isAtEnd
        else { return nil }
        let seconds = hour * 3600 + minute * 60 + second - offset * 60
        let midnight = date.daysSince1970 * CivilDate.millisecondsPerDay
        return midnight + seconds * 1000 + fraction
    }

    private static func split(_ milliseconds: Int64) -> (date: CivilDate, time: Int64) {
        let days = milliseconds.flooredQuotient(by: CivilDate.millisecondsPerDay)
        let time = milliseconds - days * CivilDate.millisecondsPerDay
        return (CivilDate(daysSince1970: days), time)
    }

    private static func text(_ date: CivilDate) -> String {
        "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))"
    }

    private static func clock(_ time: Int64) -> String {
        let seconds = time / 1000
        return
            "\(padded(seconds / 3600, 2)):\(padded(seconds / 60 % 60, 2)):\(padded(seconds % 60, 2))"
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

/// Reads fixed-width ASCII numbers and separators from the front of a text.
private struct DigitScanner {
    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = text[...].utf8
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard let first = rest.first, UInt32(first) == character.value else { return false }
        rest.removeFirst()
        return true
    }

    mutating func digits(_ count: Int) -> Int64? {
        guard rest.count >= count, rest.prefix(count).allSatisfy(isDigit) else { return nil }
        let value = rest.prefix(count).reduce(0) { $0 * 10 + Int64($1 - 0x30) }
        rest.removeFirst(count)
        return value
    }

    /// Returns 0 without a fraction; nil for a point without a digit after it.
    mutating func fractionInMilliseconds() -> Int64? {
        guard take(".") else { return 0 }
        let digits = rest.prefix(while: isDigit)
        guard !digits.isEmpty else { return nil }
        rest.removeFirst(digits.count)
        return (0..<3).reduce(0) { sum, place in
            sum * 10 + (digits.dropFirst(place).first.map { Int64($0 - 0x30) } ?? 0)
        }
    }

    mutating func offsetInMinutes() -> Int64? {
        if take("Z") { return 0 }
        let sign: Int64
        if take("+") { sign = 1 } else if take("-") { sign = -1 } else { return nil }
        guard let hours = digits(2), hours < 24, take(":"), let minutes = digits(2), minutes < 60
        else { return nil }
        return sign * (hours * 60 + minutes)
    }

    private func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
