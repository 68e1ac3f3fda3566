import TideoverCalendar

extension Instant {
    /// The day, and the milliseconds since its midnight.
    var civil: (date: CivilDate, time: Int64) {
        let days = millisecondsSince1970.flooredQuotient(by: CivilDate.millisecondsPerDay)
        let time = millisecondsSince1970 - days * CivilDate.millisecondsPerDay
        return (CivilDate(daysSince1970: days), time)
    }

    /// Creates the instant some milliseconds after midnight.
    init(_ date: CivilDate, time: Int64 = 0) {
        self.init(
            millisecondsSince1970: date.daysSince1970 * CivilDate.millisecondsPerDay + time
        )
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

    init?(rfc3339 text: UnsafeBufferPointer<UInt8>) {
        guard let instant = Self.read(rfc3339: text) else { return nil }
        self = instant
    }

    private static func read(rfc3339 text: UnsafeBufferPointer<UInt8>) -> Instant? {
        if let instant = read(written: text) { return instant }
        var reader = DigitReader(text)
        guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2),
            reader.skip("-"), let day = reader.number(2), reader.skip("T") || reader.skip("t"),
            let hour = reader.number(2), reader.skip(":"), let minute = reader.number(2),
            reader.skip(":"), let second = reader.number(2),
            let date = CivilDate(year: year, month: month, day: day),
            hour < 24, minute < 60, second < 60,
            let fraction = reader.milliseconds(), let offset = reader.offsetMinutes(),
            reader.isAtEnd
        else { return nil }
        let time = ((hour * 60 + minute) * 60 + second) * 1000 + fraction
        let instant = Instant(date, time: time) - .minutes(offset)
        return Instant.writable.contains(instant) ? instant : nil
    }

    /// The number of bytes of `rfc3339`.
    static let writtenCount = 24

    /// Reads the form that `rfc3339` has, which most texts have; nil for any other text.
    private static func read(written text: UnsafeBufferPointer<UInt8>) -> Instant? {
        guard text.count == writtenCount,
            text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
            text[10] == UInt8(ascii: "T"), text[13] == UInt8(ascii: ":"),
            text[16] == UInt8(ascii: ":"), text[19] == UInt8(ascii: "."),
            text[23] == UInt8(ascii: "Z")
        else { return nil }
        var isNumber = true
        func digit(_ place: Int) -> Int64 {
            let digit = text[place] &- UInt8(ascii: "0")
            isNumber = isNumber && digit < 10
            return Int64(digit)
        }
        func pair(_ place: Int) -> Int64 { digit(place) &* 10 &+ digit(place + 1) }
        let year = pair(0) &* 100 &+ pair(2)
        let (month, day) = (pair(5), pair(8))
        let (hour, minute, second) = (pair(11), pair(14), pair(17))
        let fraction = pair(20) &* 10 &+ digit(22)
        guard isNumber, hour < 24, minute < 60, second < 60,
            let date = CivilDate(year: year, month: month, day: day)
        else { return nil }
        return Instant(date, time: ((hour * 60 + minute) * 60 + second) * 1000 + fraction)
    }

    /// The instant as `2026-05-06T10:00:00.000Z`; outside the years 0000 to 9999, the nearest one
    /// that can be written.
    public var rfc3339: String {
        withRFC3339 { String(decoding: $0, as: UTF8.self) }
    }

    /// Calls `body` with the same text, without allocating memory for it: most of a stored fact is
    /// instants.
    func withRFC3339<Answer>(_ body: (UnsafeRawBufferPointer) -> Answer) -> Answer {
        let clamped = min(max(self, Self.writable.lowerBound), Self.writable.upperBound)
        let (date, time) = clamped.civil
        let seconds = time / 1000
        var text: (UInt64, UInt64, UInt64) = (0, 0, 0)
        return withUnsafeMutableBytes(of: &text) { text in
            var writer = DigitWriter(text: text)
            writer.write(date.year, 4, then: "-")
            writer.write(date.month, 2, then: "-")
            writer.write(date.day, 2, then: "T")
            writer.write(seconds / 3600, 2, then: ":")
            writer.write(seconds / 60 % 60, 2, then: ":")
            writer.write(seconds % 60, 2, then: ".")
            writer.write(time % 1000, 3, then: "Z")
            return body(UnsafeRawBufferPointer(text))
        }
    }
}

/// Writes fixed-width numbers as ASCII text.
private struct DigitWriter {
    let text: UnsafeMutableRawBufferPointer
    private var position = 0

    init(text: UnsafeMutableRawBufferPointer) {
        self.text = text
    }

    @inline(__always)
    mutating func write(_ number: Int64, _ width: Int, then separator: Unicode.Scalar) {
        var rest = UInt32(truncatingIfNeeded: number)
        for place in stride(from: position + width - 1, through: position, by: -1) {
            text[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        text[position + width] = UInt8(ascii: separator)
        position += width + 1
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
