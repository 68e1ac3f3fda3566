/// One type carries all HTTP. The socket server runs one, the outgoing client is one, each simulated
/// store is one, a test calls one; middleware is a function from `Handler` to `Handler`.
public typealias Handler = @Sendable (Request) async throws -> Response

/// An HTTP request as values, whoever made it: a socket, a test, or our own client.
public struct Request: Sendable {
    /// Upper-case method, such as `GET`.
    public var method: String
    /// The path as sent, still percent-encoded, without the query; starts with `/`.
    public var path: String
    /// Query items in the order sent, percent-decoded.
    public var query: [QueryItem]
    public var headers: Headers
    public var body: [UInt8]
    /// The address the request came from, without port; nil when no socket was involved.
    public var peer: String?

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

    /// The first value sent for a query item; an item without `=` has the empty string.
    public func queryValue(_ name: String) -> String? {
        query.first { $0.name == name }?.value
    }
}

/// One `name=value` of a query string, percent-decoded.
public struct QueryItem: Hashable, Sendable {
    public var name: String
    public var value: String

    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// An HTTP response as values.
public struct Response: Sendable {
    /// The status code, such as 200.
    public var status: Int
    public var headers: Headers
    public var body: [UInt8]

    public init(status: Int = 200, headers: Headers = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
