import TideoverJSON
import TideoverSignatures
package import TideoverStorage

/// A key of the API as a client presents it. Its description contains only its kind.
package struct APIKey: Hashable, Sendable {
    /// The kind.
    package let kind: KeyKind
    /// `tideover_`, the kind, `_` and 43 characters of base64url; never logged.
    package let text: String

    /// The number of secret bytes in a key.
    private static let secretCount = 32
    /// The maximum length of a key.
    package static let mostBytes = 64

    /// Creates a key of 256 bits from a cryptographically secure source.
    package init(_ kind: KeyKind, random: () -> UInt64) {
        let secret = randomBytes(Self.secretCount, random)
        self.kind = kind
        text = Self.prefix(kind) + Base64.encodeString(secret, .urlSafe)
    }

    /// Parses a key; nil for any other text.
    package init?(_ text: some StringProtocol) {
        for kind in KeyKind.allCases where text.utf8.starts(with: Self.prefix(kind).utf8) {
            let secret = Array(text.utf8.dropFirst(Self.prefix(kind).utf8.count))
            guard Base64.decode(secret, .urlSafe)?.count == Self.secretCount else { return nil }
            self.kind = kind
            self.text = String(text)
            return
        }
        return nil
    }

    /// Parses the only line of a file; nil if it is not a key.
    init?(lineOf file: [UInt8]) {
        guard let text = String(validating: file, as: UTF8.self) else { return nil }
        let lines = text.split(whereSeparator: \.isNewline)
        guard let line = lines.first, lines.count == 1 else { return nil }
        self.init(line)
    }

    private static func prefix(_ kind: KeyKind) -> String { "tideover_\(kind.rawValue)_" }
}

extension APIKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind, which may be logged.
    package var description: String { "a key of kind \(kind.rawValue)" }
    /// The kind.
    package var debugDescription: String { description }
    /// A mirror with only the kind.
    package var customMirror: Mirror { Mirror(self, children: ["kind": kind]) }
}
