public import TideoverJSON

/// The reason why a request failed, in the form of RFC 9457: thrown by handlers, sent as
/// `application/problem+json`.
public struct Problem: Error, Hashable, Sendable {
    /// The last part of `type`, such as `not-found`. It is stable, so clients may depend on it.
    public var slug: String
    /// The status code of the response.
    public var status: Int
    /// A summary of the kind of problem; the same for every problem of one slug.
    public var title: String
    /// The details of this occurrence; nil if the title is sufficient.
    public var detail: String?
    /// Additional members in the order sent; they must not repeat the standard ones.
    public var members: JSONObject
    /// Header fields of the response, such as `Allow`.
    public var headers: Headers
    /// The seconds a client should wait before a retry; nil if a retry does not help.
    public var retryAfter: Int?

    /// Creates a problem from its parts.
    public init(
        _ slug: String,
        status: Int,
        title: String,
        detail: String? = nil,
        members: JSONObject = [:],
        headers: Headers = [:],
        retryAfter: Int? = nil
    ) {
        self.slug = slug
        self.status = status
        self.title = title
        self.detail = detail
        self.members = members
        self.headers = headers
        self.retryAfter = retryAfter
    }

    /// The problem's type: a stable URL, relative to the server, that describes it.
    public var type: String { "/problems/\(slug)" }

    /// The problem as a response; caches must not store it.
    public var response: Response {
        var headers = headers
        headers["Cache-Control"] = "no-store"
        headers["Retry-After"] = retryAfter.map(String.init)
        headers["Content-Type"] = "application/problem+json"
        return Response(status: status, headers: headers, body: body)
    }

    private var body: [UInt8] {
        JSONWriter.object { writer in
            writer.field("type", type)
            writer.field("title", title)
            writer.field("status", status)
            if let detail { writer.field("detail", detail) }
            for (key, value) in members { writer.field(key, value) }
        }
    }
}

extension Response {
    /// Creates a JSON response.
    public static func json(
        _ value: JSONValue,
        status: Int = 200,
        headers: Headers = [:]
    ) -> Response {
        json(bytes: value.encoded(), status: status, headers: headers)
    }

    /// Creates a JSON response with an object; `body` writes its members.
    public static func json<E: Error>(
        status: Int = 200,
        headers: Headers = [:],
        _ body: (inout JSONWriter) throws(E) -> Void
    ) throws(E) -> Response {
        var writer = JSONWriter()
        try writer.object(body)
        return json(bytes: writer.bytes, status: status, headers: headers)
    }

    /// Creates a response from existing JSON text.
    public static func json(
        bytes: [UInt8],
        status: Int = 200,
        headers: Headers = [:]
    ) -> Response {
        var headers = headers
        headers["Content-Type"] = "application/json"
        return Response(status: status, headers: headers, body: bytes)
    }

    /// Creates a plain text response in UTF-8.
    public static func text(
        _ text: String,
        status: Int = 200,
        headers: Headers = [:]
    ) -> Response {
        var headers = headers
        headers["Content-Type"] = "text/plain; charset=utf-8"
        return Response(status: status, headers: headers, body: Array(text.utf8))
    }
}
