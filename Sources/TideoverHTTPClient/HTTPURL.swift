import CTideoverCurl
package import TideoverHTTP

/// An `http` or `https` URL for requests, parsed by the same parser that later connects.
///
/// Printing it shows the origin only: paths and queries of receivers can contain secrets.
package struct HTTPURL: Hashable, Sendable {
    /// The scheme of a URL.
    package enum Scheme: String, Hashable, Sendable {
        case http, https
    }

    /// The scheme.
    package let scheme: Scheme
    /// A name or an address, IPv6 in brackets. Numeric forms of an IPv4 address (`2130706433`,
    /// `0x7f.1`) are normalized.
    package let host: String
    /// The explicit port, or the scheme's default.
    package let port: Int
    /// The path, percent-encoded; starts with `/`.
    package let path: String
    /// The text after `?`, percent-encoded; nil if there is no `?`.
    package let query: String?

    /// Parses an absolute URL without user, password and fragment.
    package init(_ text: String) throws(HTTPURLError) {
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

    /// The whole URL, as passed to libcurl; not for logs.
    package var text: String { origin + path + (query.map { "?\($0)" } ?? "") }

    /// Scheme, host and port, such as `https://example.com:443`.
    package var origin: String { "\(scheme.rawValue)://\(host):\(port)" }

    /// Returns the URL of a request under this one: its path after this path, its query after this
    /// query.
    ///
    /// Returns nil if the path does not start with `/` or contains invalid characters. Also returns
    /// nil for a segment `.` or `..`, which would lead outside this URL; encoded dots are an id.
    package func appending(path: String, query items: [QueryItem] = []) -> HTTPURL? {
        guard let target = RequestTarget(path), target.path == path,
            !path.split(separator: "/").contains(where: { $0 == "." || $0 == ".." })
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

    /// libcurl's URL parser.
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
    /// The origin, which is safe for logs.
    package var description: String { origin }
    /// The origin.
    package var debugDescription: String { origin }
    /// Only the origin.
    package var customMirror: Mirror { Mirror(self, children: ["origin": origin]) }
}

/// The reason why a text is not a valid URL for requests.
package enum HTTPURLError: Error, Hashable, Sendable {
    /// It is not an absolute URL, or is longer than 8 KiB.
    case malformed
    /// It is for another protocol.
    case notHTTP(scheme: String)
    /// It contains a user or a password, which belong in a header.
    case credentials
    /// It contains a `#`; a fragment is never sent.
    case fragment
}
