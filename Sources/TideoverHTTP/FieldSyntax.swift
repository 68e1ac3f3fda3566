import TideoverJSON

/// The characters that RFC 9110, 5.6.2 and 5.5, allow in names and values of fields.
package enum FieldSyntax {
    /// Whether a text is a token: a method or a field's name.
    package static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.allBytes(isTokenByte)
    }

    /// Whether a text is a valid field value: no control character but the tab.
    package static func isValue(_ text: String) -> Bool {
        text.allBytes { $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") }
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
