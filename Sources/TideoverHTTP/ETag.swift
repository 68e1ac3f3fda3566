import TideoverJSON

/// A validator of a representation (RFC 9110, 8.8.3): equal tags mean an unchanged response.
public struct ETag: Hashable, Sendable, CustomStringConvertible {
    /// The text between the quotes.
    public let opaque: String
    /// Whether equal tags mean equal content only, not equal bytes.
    public let isWeak: Bool

    /// Creates a weak tag; the text must consist of visible ASCII without quotes.
    public static func weak(_ opaque: String) -> ETag { ETag(opaque, isWeak: true) }

    /// Creates a strong tag; the text must consist of visible ASCII without quotes.
    public static func strong(_ opaque: String) -> ETag { ETag(opaque, isWeak: false) }

    private init(_ opaque: String, isWeak: Bool) {
        precondition(opaque.allBytes(Self.isAllowed), "an ETag is visible ASCII, no quotes")
        self.opaque = opaque
        self.isWeak = isWeak
    }

    /// The tag as a header field's value.
    public var description: String { isWeak ? "W/\"\(opaque)\"" : "\"\(opaque)\"" }

    /// Whether two tags identify the same content, weak or not (RFC 9110, 8.8.3.2).
    public func weaklyMatches(_ other: ETag) -> Bool { opaque == other.opaque }

    /// Whether an `If-None-Match` value includes this tag, by weak comparison. `*` includes every
    /// tag; a value that is not a list of tags includes none.
    public func matches(ifNoneMatch value: String) -> Bool {
        var rest = value.utf8[...]
        Self.skipSpaces(&rest)
        if rest.first == UInt8(ascii: "*") {
            rest.removeFirst()
            Self.skipSpaces(&rest)
            return rest.isEmpty
        }
        return Self.list(&rest)?.contains { weaklyMatches($0) } ?? false
    }

    private static func list(_ rest: inout Substring.UTF8View) -> [ETag]? {
        var tags: [ETag] = []
        while !rest.isEmpty {
            if rest.first == UInt8(ascii: ",") {
                rest.removeFirst()
            } else {
                guard let tag = next(&rest) else { return nil }
                tags.append(tag)
                skipSpaces(&rest)
                guard rest.isEmpty || rest.first == UInt8(ascii: ",") else { return nil }
            }
            skipSpaces(&rest)
        }
        return tags
    }

    private static func next(_ rest: inout Substring.UTF8View) -> ETag? {
        let isWeak = rest.starts(with: "W/".utf8)
        if isWeak { rest.removeFirst(2) }
        guard rest.first == UInt8(ascii: "\"") else { return nil }
        rest.removeFirst()
        guard let end = rest.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
        let opaque = rest[..<end]
        rest = rest[rest.index(after: end)...]
        guard opaque.allSatisfy(isAllowed) else { return nil }
        return ETag(String(Substring(opaque)), isWeak: isWeak)
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "\"")
    }

    private static func skipSpaces(_ rest: inout Substring.UTF8View) {
        rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    }
}

extension Request {
    /// Whether the client already has the representation with this tag, according to its
    /// `If-None-Match` lines.
    public func holds(_ tag: ETag) -> Bool {
        let lines = headers.all("If-None-Match")
        return !lines.isEmpty && tag.matches(ifNoneMatch: lines.joined(separator: ", "))
    }
}

extension Response {
    /// Returns the response to a client that already has the representation. `headers` are those of
    /// the full response that a cache needs, such as `Cache-Control` and `Vary`.
    /// https://www.rfc-editor.org/rfc/rfc9110#section-15.4.5
    public static func notModified(_ tag: ETag, headers: Headers = [:]) -> Response {
        var headers = headers
        headers["ETag"] = tag.description
        return Response(status: 304, headers: headers)
    }
}
