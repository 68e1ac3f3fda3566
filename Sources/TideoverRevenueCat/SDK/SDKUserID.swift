package import TideoverCore

/// An app user ID as the SDKs send it.
package struct SDKUserID: Hashable, Sendable {
    package let customer: CustomerID

    /// The maximum length in characters.
    private static let longest = 100
    private static let anonymousPrefix = "$RCAnonymousID:"
    /// The texts that an app sends if it has no id. RevenueCat refuses the same ones: all customers
    /// without an id would be one customer and share their purchases.
    package static let reserved: Set<String> = [
        "no_user", "null", "none", "nil", "(null)", "NaN", "unidentified", "undefined", "unknown",
        "anonymous", "guest", "-1", "0", "[]", "{}", "[object Object]",
    ]

    /// Reads an id. `mayBeReserved` permits an id that names no customer: a log-in leaves it.
    package init(_ text: String, mayBeReserved: Bool = false) throws(SDKError) {
        guard !text.isEmpty else { throw .emptyUserID }
        guard text.unicodeScalars.count <= Self.longest, !text.utf8.contains(0),
            // The SDKs do not encode dots, so no path would name such an id.
            text != ".", text != "..", let customer = CustomerID(text)
        else { throw .invalidUserID }
        guard mayBeReserved || !Self.reserved.contains(text) else { throw .reservedUserID }
        self.customer = customer
    }

    /// Whether the SDK made the ID up: its prefix and 32 hexadecimal digits.
    package var isAnonymous: Bool {
        let text = customer.text.utf8
        guard text.starts(with: Self.anonymousPrefix.utf8) else { return false }
        let digits = text.dropFirst(Self.anonymousPrefix.utf8.count)
        return digits.count == 32
            && digits.allSatisfy {
                $0 &- UInt8(ascii: "0") < 10 || ($0 | 0x20) &- UInt8(ascii: "a") < 6
            }
    }
}
