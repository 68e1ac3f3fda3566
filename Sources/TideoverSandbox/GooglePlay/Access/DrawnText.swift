extension SeededRandom {
    /// Draws this many lower-case hexadecimal digits.
    mutating func drawHex(_ count: Int) -> String {
        String((0..<count).map { _ in Self.digits[Int(number(in: 0...15))] })
    }

    /// Draws this many decimal digits; the first is not 0.
    mutating func drawDigits(_ count: Int) -> String {
        String((0..<count).map { Self.digits[Int(number(in: ($0 == 0 ? 1 : 0)...9))] })
    }

    private static let digits = Array("0123456789abcdef")
}
