/// A decoded number: its significant digits and the power of ten of the last one.
struct JSONNumber {
    private let text: UnsafeBufferPointer<UInt8>
    private let isNegative: Bool
    /// The range from the first digit other than zero past the last one, possibly with a point
    /// inside.
    private var significant: Range<Int>
    /// The number of digits in `significant`; 0 for zero.
    private var digits = 0
    /// The power of ten of the last significant digit.
    private var power = 0

    /// The maximum exponent that is counted: no text has as many digits.
    private static let greatestExponent = 1 << 40
    /// The number of digits before the point of the greatest double.
    private static let greatestDigits = 309

    /// Decodes a number that the scanner has accepted.
    init(_ text: UnsafeBufferPointer<UInt8>) {
        self.text = text
        isNegative = text.first == UInt8(ascii: "-")
        significant = 0..<0
        let mantissaEnd = text.firstIndex { $0 | 0x20 == UInt8(ascii: "e") } ?? text.count
        let point = text[..<mantissaEnd].firstIndex(of: UInt8(ascii: "."))
        let isSignificant = { (byte: UInt8) in byte > UInt8(ascii: "0") }
        guard let first = text[..<mantissaEnd].firstIndex(where: isSignificant),
            let last = text[..<mantissaEnd].lastIndex(where: isSignificant)
        else { return }
        significant = first..<last + 1
        let hasPoint = point.map { significant.contains($0) } ?? false
        digits = significant.count - (hasPoint ? 1 : 0)
        power = Self.exponent(text[mantissaEnd...].dropFirst())
        power += (point ?? mantissaEnd) - last - ((point ?? mantissaEnd) > last ? 1 : 0)
    }

    private static func exponent(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Int {
        var value = 0
        for byte in text where byte >= UInt8(ascii: "0") && value < greatestExponent {
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return text.first == UInt8(ascii: "-") ? -value : value
    }

    /// The value if it is integral and in range; nil otherwise.
    var int64: Int64? {
        guard power >= 0, digits + power <= 19 else { return digits == 0 ? 0 : nil }
        var value: Int64 = 0
        for byte in text[significant] where byte >= UInt8(ascii: "0") {
            let digit = Int64(byte - UInt8(ascii: "0"))
            guard let next = Self.shifted(value, adding: isNegative ? -digit : digit) else {
                return nil
            }
            value = next
        }
        for _ in 0..<power {
            guard let next = Self.shifted(value, adding: 0) else { return nil }
            value = next
        }
        return value
    }

    private static func shifted(_ value: Int64, adding digit: Int64) -> Int64? {
        let (tenfold, overflow) = value.multipliedReportingOverflow(by: 10)
        let (sum, carry) = tenfold.addingReportingOverflow(digit)
        return overflow || carry ? nil : sum
    }

    /// The nearest double; infinite if out of range.
    var double: Double {
        let magnitude = digits + power
        if digits == 0 || magnitude < -400 { return isNegative ? -0.0 : 0 }
        if magnitude > Self.greatestDigits { return isNegative ? -.infinity : .infinity }
        return Double(Substring(decoding: text)) ?? .infinity
    }

    /// Whether the nearest double is finite.
    var isFinite: Bool {
        let magnitude = digits + power
        if digits == 0 || magnitude < Self.greatestDigits { return true }
        return magnitude == Self.greatestDigits && double.isFinite
    }
}

extension Substring {
    /// Creates a text from validated bytes.
    fileprivate init(decoding bytes: UnsafeBufferPointer<UInt8>) {
        self = Substring(String(decoding: bytes, as: UTF8.self))
    }
}
