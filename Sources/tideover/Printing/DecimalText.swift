/// Rounds numbers of answers for people. A number too large for exact decimals is printed as it is.
enum DecimalText {
    /// Formats a number with one decimal, or without decimals if that one is zero.
    static func tenths(_ number: Double) -> String {
        let text = oneDecimal(number)
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    /// Formats a number with one decimal.
    static func oneDecimal(_ number: Double) -> String {
        guard let tenths = whole(number * 10) else { return "\(number)" }
        return "\(sign(tenths))\(tenths.magnitude / 10).\(tenths.magnitude % 10)"
    }

    /// Formats a number with two decimals.
    static func twoDecimals(_ number: Double) -> String {
        guard let hundredths = whole(number * 100) else { return "\(number)" }
        let digits = hundredths.magnitude % 100
        return "\(sign(hundredths))\(hundredths.magnitude / 100)."
            + (digits < 10 ? "0\(digits)" : "\(digits)")
    }

    /// Formats thousandths of a currency's unit with two decimals; a half is rounded up.
    static func amount(thousandths: Int64) -> String {
        let hundredths = thousandths.magnitude / 10 + (thousandths.magnitude % 10 < 5 ? 0 : 1)
        let digits = hundredths % 100
        return "\(sign(thousandths))\(hundredths / 100)." + (digits < 10 ? "0" : "") + "\(digits)"
    }

    private static func sign(_ number: Int64) -> String { number < 0 ? "-" : "" }

    /// Returns the rounded number; nil at 2^53 and above, where doubles are not exact integers.
    private static func whole(_ number: Double) -> Int64? {
        let rounded = number.rounded()
        return rounded.magnitude < 0x1p53 ? Int64(rounded) : nil
    }
}
