import TideoverJSON

/// The target of a request: a path, still percent-encoded, and the query's items, decoded.
public struct RequestTarget: Hashable, Sendable {
    /// The path as sent; starts with `/`.
    public var path: String
    /// Query items in the order sent; empty ones (`a=1&&b=2`) are left out.
    public var query: [QueryItem]

    /// Parses a target in origin form (`/a?b=c`) or absolute form (`http://host/a?b=c`).
    ///
    /// Returns nil for any other form, and for characters that RFC 3986 forbids there (controls,
    /// spaces, `#`, anything beyond ASCII). Also returns nil if path or query do not decode
    /// strictly. In the query `+` is a space.
    public init?(_ text: String) {
        var origin = Self.originForm(text)
        guard let target = origin.withUTF8({ Self.parts($0) }) else { return nil }
        self = target
    }

    private init(path: String, query: [QueryItem]) {
        self.path = path
        self.query = query
    }

    private static func parts(_ bytes: UnsafeBufferPointer<UInt8>) -> RequestTarget? {
        guard bytes.first == UInt8(ascii: "/"), bytes.allSatisfy(isAllowed) else { return nil }
        let mark = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex
        let path = bytes[..<mark]
        guard !path.contains(UInt8(ascii: "%")) || PercentEncoding.decode(path) != nil,
            let query = items(bytes[mark...].dropFirst())
        else { return nil }
        return RequestTarget(path: String(decoding: path, as: UTF8.self), query: query)
    }

    /// A server must accept the absolute form too (RFC 9112, 3.2.2); its host is ignored.
    private static func originForm(_ target: String) -> String {
        for scheme in ["http://", "https://"] where target.utf8.starts(with: scheme.utf8) {
            let afterScheme = target.utf8.dropFirst(scheme.utf8.count)
            let rest = Substring(
                afterScheme.drop { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
            )
            return rest.utf8.first == UInt8(ascii: "/") ? String(rest) : "/\(rest)"
        }
        return target
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "#")
    }

    private static func items(_ query: Slice<UnsafeBufferPointer<UInt8>>) -> [QueryItem]? {
        var items: [QueryItem] = []
        for item in query.split(separator: UInt8(ascii: "&")) {
            let mark = item.firstIndex(of: UInt8(ascii: "=")) ?? item.endIndex
            guard let name = PercentEncoding.decode(item[..<mark], plusIsSpace: true),
                let value = PercentEncoding.decode(item[mark...].dropFirst(), plusIsSpace: true)
            else { return nil }
            items.append(QueryItem(name: name, value: value))
        }
        return items
    }
}

extension Request {
    /// Creates a request for a target such as `/v1/apps/cards?at=now`; nil if the target is
    /// malformed.
    public init?(
        method: String = "GET",
        target: String,
        headers: Headers = [:],
        body: [UInt8] = [],
        peer: String? = nil
    ) {
        guard let target = RequestTarget(target) else { return nil }
        self.init(
            method: method,
            path: target.path,
            query: target.query,
            headers: headers,
            body: body,
            peer: peer
        )
    }

    /// The path's segments, each percent-decoded separately; none for `/`.
    ///
    /// Nil if a segment is empty (a doubled or trailing slash), is sent as `.` or `..`, or does not
    /// decode strictly. A decoded segment is any other text, because an operator's customer ids may
    /// be: it can contain a NUL or a `/` that was sent as `%2F`, and be `..`, sent as `%2E%2E`.
    /// Never make a path of a file from it.
    public var segments: [String]? {
        var path = path
        return path.withUTF8 { Self.segments(of: $0) }
    }

    private static func segments(of path: UnsafeBufferPointer<UInt8>) -> [String]? {
        guard path.first == UInt8(ascii: "/") else { return nil }
        if path.count == 1 { return [] }
        var segments: [String] = []
        segments.reserveCapacity(8)
        var rest = path.dropFirst()
        while true {
            let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            let encoded = rest[..<end]
            guard !isDots(encoded), let segment = PercentEncoding.decode(encoded),
                !segment.isEmpty
            else { return nil }
            segments.append(segment)
            guard end < rest.endIndex else { return segments }
            rest = rest[(end + 1)...]
        }
    }

    private static func isDots(_ encoded: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        encoded.count <= 2 && encoded.allSatisfy { $0 == UInt8(ascii: ".") } && !encoded.isEmpty
    }
}
