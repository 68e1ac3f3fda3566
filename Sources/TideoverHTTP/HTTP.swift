/// Handles a request. The socket server, the outgoing client, each simulated store and tests all
/// use this one type; middleware is a function from `Handler` to `Handler`.
public typealias Handler = @Sendable (Request) async throws -> Response

/// An HTTP request as values, from a socket, a test, or the outgoing client.
public struct Request: Hashable, Sendable {
    /// The method as sent, such as `GET`; case matters.
    public var method: String
    /// The path as sent, still percent-encoded, without the query; starts with `/`.
    public var path: String
    /// Query items in the order sent, percent-decoded.
    public var query: [QueryItem]
    /// The header fields in the order sent.
    public var headers: Headers
    /// The body, whole; empty if there was none.
    public var body: [UInt8]
    /// The address the request came from, without port; nil when no socket was involved.
    public var peer: String?

    /// Creates a request from its parts.
    public init(
        method: String = "GET",
        path: String,
        query: [QueryItem] = [],
        headers: Headers = [:],
        body: [UInt8] = [],
        peer: String? = nil
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.peer = peer
    }

    /// Returns the first value of a query item; the empty string for an item without `=`.
    public func queryValue(_ name: String) -> String? {
        query.first { $0.name == name }?.value
    }
}

/// One `name=value` of a query string, percent-decoded.
public struct QueryItem: Hashable, Sendable {
    /// The text before the first `=`.
    public var name: String
    /// The text after the first `=`; empty if there is none.
    public var value: String

    /// Creates an item from its name and value.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// An HTTP response as values.
public struct Response: Hashable, Sendable {
    /// The status code, such as 200.
    public var status: Int
    /// The header fields in the order to be sent; the sender adds `Content-Length`.
    public var headers: Headers
    /// The body, whole; empty if there is none.
    public var body: [UInt8]

    /// Creates a response from its parts.
    public init(status: Int = 200, headers: Headers = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
