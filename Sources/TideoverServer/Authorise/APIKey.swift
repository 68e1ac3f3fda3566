import TideoverJSON
public import TideoverStorage

/// A key of the API itself, as its holder presents it. Printing it shows its kind alone.
public struct APIKey: Hashable, Sendable {
    /// What it is for.
    public let kind: KeyKind
    /// `tideover_`, the kind, `_` and 43 characters of base64url; not for logs.
    public let text: String

    /// How many bytes nobody can guess are in a key.
    private static let secretCount = 32
    /// No key is longer.
    static let mostBytes = 64

    /// A new key of 256 bits from a source that nobody can foresee.
    public init(_ kind: KeyKind, random: () -> UInt64) {
        let secret = (0..<Self.secretCount / 8).flatMap { _ in
            withUnsafeBytes(of: random()) { Array($0) }
        }
        self.kind = kind
        text = Self.prefix(kind) + Base64.encodeString(secret, .urlSafe)
    }

    /// Reads a key in its one form; nil for anything else.
    public init?(_ text: some StringProtocol) {
        for kind in KeyKind.allCases where text.utf8.starts(with: Self.prefix(kind).utf8) {
            let secret = Array(text.utf8.dropFirst(Self.prefix(kind).utf8.count))
            guard Base64.decode(secret, .urlSafe)?.count == Self.secretCount else { return nil }
            self.kind = kind
            self.text = String(text)
            return
        }
        return nil
    }

    /// Reads the only line of a file; nil if it is no key.
    init?(lineOf file: [UInt8]) {
        guard let text = String(validating: file, as: UTF8.self) else { return nil }
        let lines = text.split(whereSeparator: \.isNewline)
        guard let line = lines.first, lines.count == 1 else { return nil }
        self.init(line)
    }

    private static func prefix(_ kind: KeyKind) -> String { "tideover_\(kind.rawValue)_" }
}

extension APIKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind, which may stand in a log.
    public var description: String { "a key of kind \(kind.rawValue)" }
    /// The kind too.
    public var debugDescription: String { description }
    /// Nothing but the kind.
    public var customMirror: Mirror { Mirror(self, children: ["kind": kind]) }
}
