/// A calendar day and time of day in UTC, proleptic Gregorian.
///
/// Day numbers after Howard Hinnant's published algorithms (`days_from_civil`).
struct CivilDate: Hashable {
    var year: Int64
    var month: Int64
    var day: Int64
    /// Milliseconds since midnight.
    var time: Int64

    static let dayLength: Int64 = 86_400_000

    init(year: Int64, month: Int64, day: Int64, time: Int64) {
        self.year = year
        self.month = month
        self.day = day
        self.time = time
    }

    init(_ instant: Instant) {
        let milliseconds = instant.millisecondsSince1970
        let days = milliseconds.flooredQuotient(by: Self.dayLength)
        time = milliseconds - days * Self.dayLength
        let shifted = days + 719_468
        let era = shifted.flooredQuotient(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    var instant: Instant {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = shiftedYear.flooredQuotient(by: 400)
        let yearOfEra = shiftedYear - era * 400
        let shiftedMonth = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * shiftedMonth + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let days = era * 146_097 + dayOfEra - 719_468
        return Instant(millisecondsSince1970: days * Self.dayLength + time)
    }

    static func daysIn(month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
        default: 31
        }
    }
}

extension Int64 {
    fileprivate func flooredQuotient(by divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}

// MARK: - RFC 3339

extension Instant {
    /// Reads an RFC 3339 date and time with any offset; truncates fractions beyond milliseconds.
    /// Nil for any other text, a day that does not exist, or leap seconds. Also nil if an offset
    /// moves the instant out of the years 0000 to 9999, because it could not be written again.
    public init?(rfc3339 text: some StringProtocol) {
        var text = String(text)
        guard let instant = text.withUTF8({ Self.read(rfc3339: $0) }) else { return nil }
        self = instant
    }

    /// Reads the same format from UTF-8.
    public init?(rfc3339 text: ArraySlice<UInt8>) {
        guard let instant = text.withUnsafeBufferPointer({ Self.read(rfc3339: $0) }) else {
            return nil
        }
        self = instant
    }

    private static func read(rfc3339 text: UnsafeBufferPointer<UInt8>) -> Instant? {
        var reader = DigitReader(text)
        guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2),
            reader.skip("-"), let day = reader.number(2), reader.skip("T") || reader.skip("t"),
            let hour = reader.number(2), reader.skip(":"), let minute = reader.number(2),
            reader.skip(":"), let second = reader.number(2),
            (1...12).contains(month), (1...CivilDate.daysIn(month: month, of: year)).contains(day),
            hour < 24, minute < 60, second < 60,
            let fraction = reader.milliseconds(), let offset = reader.offsetMinutes(),
            reader.isAtEnd
        else { return nil }
        let time = ((hour * 60 + minute) * 60 + second) * 1000 + fraction
        let local = CivilDate(year: year, month: month, day: day, time: time).instant
        let instant = local - .minutes(offset)
        return Instant.writable.contains(instant) ? instant : nil
    }

    /// The instant as `2026-05-06T10:00:00.000Z`; outside the years 0000 to 9999, the nearest one
    /// that can be written.
    public var rfc3339: String {
        let clamped = min(max(self, Self.writable.lowerBound), Self.writable.upperBound)
        let date = CivilDate(clamped)
        let seconds = date.time / 1000
        let fields: [(Int64, Int, UInt8)] = [
            (date.year, 4, UInt8(ascii: "-")), (date.month, 2, UInt8(ascii: "-")),
            (date.day, 2, UInt8(ascii: "T")), (seconds / 3600, 2, UInt8(ascii: ":")),
            (seconds / 60 % 60, 2, UInt8(ascii: ":")), (seconds % 60, 2, UInt8(ascii: ".")),
            (date.time % 1000, 3, UInt8(ascii: "Z")),
        ]
        return String(unsafeUninitializedCapacity: 24) { buffer in
            var position = 0
            for (value, width, separator) in fields {
                var rest = value
                for place in stride(from: position + width - 1, through: position, by: -1) {
                    buffer[place] = UInt8(ascii: "0") + UInt8(rest % 10)
                    rest /= 10
                }
                buffer[position + width] = separator
                position += width + 1
            }
            return position
        }
    }
}

/// Reads fixed-width numbers from ASCII text.
private struct DigitReader {
    private let text: UnsafeBufferPointer<UInt8>
    private var position = 0

    init(_ text: UnsafeBufferPointer<UInt8>) {
        self.text = text
    }

    var isAtEnd: Bool { position == text.count }

    /// Returns the digit at a position; nil if there is none.
    private func digit(at place: Int) -> Int64? {
        guard place < text.count else { return nil }
        let digit = text[place] &- UInt8(ascii: "0")
        return digit < 10 ? Int64(digit) : nil
    }

    mutating func number(_ width: Int) -> Int64? {
        var number: Int64 = 0
        for place in position..<position + width {
            guard let digit = digit(at: place) else { return nil }
            number = number * 10 + digit
        }
        position += width
        return number
    }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard !isAtEnd, text[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    mutating func milliseconds() -> Int64? {
        guard skip(".") else { return 0 }
        guard digit(at: position) != nil else { return nil }
        var fraction: Int64 = 0
        var worth: Int64 = 100
        while let digit = digit(at: position) {
            fraction += digit * worth
            worth /= 10
            position += 1
        }
        return fraction
    }

    /// Minutes east of UTC.
    mutating func offsetMinutes() -> Int64? {
        if skip("Z") || skip("z") { return 0 }
        let sign: Int64 = skip("+") ? 1 : -1
        if sign < 0 && !skip("-") { return nil }
        guard let hours = number(2), skip(":"), let minutes = number(2), hours < 24, minutes < 60
        else { return nil }
        return sign * (hours * 60 + minutes)
    }
}
