public import TideoverJSON

/// Why a request was not served, as RFC 9457 tells clients: thrown by handlers, sent as
/// `application/problem+json`.
public struct Problem: Error, Hashable, Sendable {
    /// The last part of `type`, such as `not-found`: what a client may act on; never changes.
    public var slug: String
    /// The status code of the answer.
    public var status: Int
    /// What kind of problem this is, for people; the same for every problem of one slug.
    public var title: String
    /// What is wrong this time, for people; nil if the title says it all.
    public var detail: String?
    /// Members beside the standard ones, in the order sent; they must not repeat those.
    public var members: JSONObject
    /// Header fields that belong to the answer, such as `Allow`.
    public var headers: Headers
    /// How many seconds a client should wait before it asks again; nil if that would not help.
    public var retryAfter: Int?

    /// A problem of these parts.
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

    /// The problem as an answer; no cache may keep it.
    public var response: Response {
        var headers = headers
        headers["Cache-Control"] = "no-store"
        headers["Retry-After"] = retryAfter.map(String.init)
        headers["Content-Type"] = "application/problem+json"
        return Response(status: status, headers: headers, body: body)
    }

    private var body: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("type", type)
            writer.field("title", title)
            writer.field("status", status)
            if let detail { writer.field("detail", detail) }
            for (key, value) in members { writer.field(key, value) }
        }
        return writer.bytes
    }
}

extension Response {
    /// An answer in JSON.
    public static func json(
        _ value: JSONValue,
        status: Int = 200,
        headers: Headers = [:]
    ) -> Response {
        json(bytes: value.encoded(), status: status, headers: headers)
    }

    /// An answer in JSON, an object whose members `body` writes.
    public static func json<E: Error>(
        status: Int = 200,
        headers: Headers = [:],
        _ body: (inout JSONWriter) throws(E) -> Void
    ) throws(E) -> Response {
        var writer = JSONWriter()
        try writer.object(body)
        return json(bytes: writer.bytes, status: status, headers: headers)
    }

    /// An answer whose body is JSON text already.
    public static func json(
        bytes: [UInt8],
        status: Int = 200,
        headers: Headers = [:]
    ) -> Response {
        var headers = headers
        headers["Content-Type"] = "application/json"
        return Response(status: status, headers: headers, body: bytes)
    }

    /// An answer in plain text, as UTF-8.
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
