import CTideoverCurl
public import TideoverHTTP

/// An `http` or `https` URL that a request can go to, read by the parser that will also connect.
///
/// Printing it shows the origin only: paths and queries of receivers hold secrets.
public struct HTTPURL: Hashable, Sendable {
    /// Whether the connection is protected.
    public enum Scheme: String, Hashable, Sendable {
        case http, https
    }

    /// Plain or protected.
    public let scheme: Scheme
    /// A name or an address, IPv6 in brackets; numbers that stand for an address of IPv4
    /// (`2130706433`, `0x7f.1`) are spelt the usual way.
    public let host: String
    /// The port written, or the scheme's.
    public let port: Int
    /// The path, percent-encoded; starts with `/`.
    public let path: String
    /// The text after `?`, percent-encoded; nil if there is no `?`.
    public let query: String?

    /// Reads an absolute URL without user, password and fragment.
    public init(_ text: String) throws(HTTPURLError) {
        guard !text.isEmpty, text.utf8.count <= Self.mostBytes,
            text.utf8.allSatisfy(Self.isAllowed)
        else { throw .malformed }
        let parser = try Parser(text)
        guard let scheme = Scheme(rawValue: try parser.scheme()) else {
            throw .notHTTP(scheme: try parser.scheme())
        }
        guard parser.part(CURLUPART_USER) == nil, parser.part(CURLUPART_PASSWORD) == nil else {
            throw .credentials
        }
        guard !text.utf8.contains(UInt8(ascii: "#")) else { throw .fragment }
        guard let host = parser.part(CURLUPART_HOST), host.utf8.allSatisfy(Self.isOfHost),
            parser.part(CURLUPART_ZONEID) == nil,
            let port = parser.part(CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT)).flatMap({ Int($0) }),
            (1...65_535).contains(port)
        else { throw .malformed }
        self.scheme = scheme
        self.host = host
        self.port = port
        path = parser.part(CURLUPART_PATH) ?? "/"
        query = parser.part(CURLUPART_QUERY)
    }

    private init(of base: HTTPURL, path: String, query: String?) {
        scheme = base.scheme
        host = base.host
        port = base.port
        self.path = path
        self.query = query
    }

    /// The whole URL, as it goes to libcurl; not for logs.
    public var text: String { origin + path + (query.map { "?\($0)" } ?? "") }

    /// Scheme, host and port, such as `https://example.com:443`.
    public var origin: String { "\(scheme.rawValue)://\(host):\(port)" }

    /// The URL of a request under this one: its path after this path, its query after this query.
    ///
    /// Nil if the path does not start with `/`, has characters that a path cannot have, or has a
    /// segment `.` or `..`, which would lead out from under this URL.
    public func appending(path: String, query items: [QueryItem] = []) -> HTTPURL? {
        guard let target = RequestTarget(path), target.path == path,
            !path.split(separator: "/").contains(where: Self.isDots)
        else { return nil }
        let prefix = self.path.hasSuffix("/") ? self.path.dropLast() : self.path[...]
        let added = items.map {
            "\(PercentEncoding.encode($0.name))=\(PercentEncoding.encode($0.value))"
        }
        let query = [query].compactMap(\.self) + added
        return HTTPURL(
            of: self,
            path: prefix + path,
            query: query.isEmpty ? nil : query.joined(separator: "&")
        )
    }

    /// Far more than any store or receiver needs.
    private static let mostBytes = 8 * 1024

    /// Whether a segment means "here" or "above", however its dots are written.
    private static func isDots(_ segment: Substring) -> Bool {
        [".", ".."].contains(PercentEncoding.decode(segment.utf8))
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && !"\"<>\\^`{|}".utf8.contains(byte)
    }

    private static func isOfHost(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._:[]".utf8.contains(byte)
        }
    }

    /// libcurl's own reading of a URL.
    private struct Parser: ~Copyable {
        private let url: OpaquePointer

        init(_ text: String) throws(HTTPURLError) {
            guard let url = curl_url() else { throw .malformed }
            let code = curl_url_set(url, CURLUPART_URL, text, UInt32(CURLU_NON_SUPPORT_SCHEME))
            guard code == CURLUE_OK else {
                curl_url_cleanup(url)
                throw .malformed
            }
            self.url = url
        }

        deinit { curl_url_cleanup(url) }

        func scheme() throws(HTTPURLError) -> String {
            guard let scheme = part(CURLUPART_SCHEME) else { throw .malformed }
            return scheme
        }

        func part(_ part: CURLUPart, _ flags: UInt32 = 0) -> String? {
            var text: UnsafeMutablePointer<CChar>?
            guard curl_url_get(url, part, &text, flags) == CURLUE_OK, let text else { return nil }
            defer { curl_free(text) }
            return String(cString: text)
        }
    }
}

extension HTTPURL: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The origin, which may stand in a log.
    public var description: String { origin }
    /// The origin too.
    public var debugDescription: String { origin }
    /// Nothing but the origin.
    public var customMirror: Mirror { Mirror(self, children: ["origin": origin]) }
}

/// Why a text is not a URL that a request can go to.
public enum HTTPURLError: Error, Hashable, Sendable {
    /// It is not an absolute URL, or is longer than 8 KiB.
    case malformed
    /// It is for another protocol.
    case notHTTP(scheme: String)
    /// It holds a user or a password, which belong in a header.
    case credentials
    /// It holds a `#`, which is never sent.
    case fragment
}
