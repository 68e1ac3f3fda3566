/// A number of an answer, rounded for people. An answer can hold any number: one too large to count
/// in its decimals is written as it is.
enum DecimalText {
    /// With one decimal, or none where that is zero.
    static func tenths(_ number: Double) -> String {
        let text = oneDecimal(number)
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    /// With one decimal.
    static func oneDecimal(_ number: Double) -> String {
        guard let tenths = whole(number * 10) else { return "\(number)" }
        return "\(sign(tenths))\(tenths.magnitude / 10).\(tenths.magnitude % 10)"
    }

    /// With two decimals.
    static func twoDecimals(_ number: Double) -> String {
        guard let hundredths = whole(number * 100) else { return "\(number)" }
        let digits = hundredths.magnitude % 100
        return "\(sign(hundredths))\(hundredths.magnitude / 100)."
            + (digits < 10 ? "0\(digits)" : "\(digits)")
    }

    private static func sign(_ number: Int64) -> String { number < 0 ? "-" : "" }

    /// Nil for what no double tells apart from its neighbours.
    private static func whole(_ number: Double) -> Int64? {
        let rounded = number.rounded()
        return rounded.magnitude < 0x1p53 ? Int64(rounded) : nil
    }
}
