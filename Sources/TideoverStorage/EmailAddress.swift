/// An email address to search for. Capital ASCII letters equal small ones.
package struct EmailAddress: Hashable, Sendable {
    /// The name of the attribute that an app states it in.
    package static let attribute = "$email"
    /// The length of the longest address in characters (RFC 5321). A longer text is not searched.
    private static let longest = 254

    /// The address in small ASCII letters.
    package let folded: String

    /// Returns nil for a text that cannot be an address.
    package init?(_ text: String) {
        guard text.contains("@"), text.unicodeScalars.count <= Self.longest else { return nil }
        folded = String(
            decoding: text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 },
            as: UTF8.self
        )
    }
}
