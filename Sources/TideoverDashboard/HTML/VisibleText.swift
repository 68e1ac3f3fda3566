/// Texts from outside without controls of direction, which could disguise them. In titles, labels
/// and attributes no element can isolate a text.
enum VisibleText {
    /// Returns a text in which each control of direction is written as its code point.
    static func of(_ text: String) -> String {
        var visible = ""
        for scalar in text.unicodeScalars {
            if isDirection(scalar) {
                visible += "[U+" + String(scalar.value, radix: 16, uppercase: true) + "]"
            } else {
                visible.unicodeScalars.append(scalar)
            }
        }
        return visible
    }

    private static func isDirection(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
