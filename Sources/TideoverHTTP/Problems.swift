import TideoverJSON

/// The problems of HTTP itself, with their messages. Problems of a single route are defined beside
/// that route.
extension Problem {
    /// 400: the request is malformed; `detail` states the violated rule.
    public static func malformedRequest(_ detail: String) -> Problem {
        Problem(
            "malformed-request",
            status: 400,
            title: "The request is malformed.",
            detail: detail
        )
    }

    /// 404: there is no route for this path.
    public static let notFound = Problem(
        "not-found",
        status: 404,
        title: "There is nothing at this path."
    )

    /// 405: the path supports other methods, which `Allow` lists.
    public static func methodNotAllowed(allowed: [String]) -> Problem {
        Problem(
            "method-not-allowed",
            status: 405,
            title: "Method not allowed.",
            headers: ["Allow": allowed.joined(separator: ", ")]
        )
    }

    /// 408: the client was too slow to send its request, or a part of it.
    public static func requestTooSlow(_ part: String) -> Problem {
        Problem(
            "request-too-slow",
            status: 408,
            title: "The request took too long to arrive.",
            detail: "The \(part) did not arrive in time."
        )
    }

    /// 413: the body is longer than `limit` bytes.
    public static func bodyTooLarge(limit: Int) -> Problem {
        Problem(
            "body-too-large",
            status: 413,
            title: "The request's body is too large.",
            detail: "A body may have at most \(limit) bytes.",
            members: ["limit": limit.jsonValue]
        )
    }

    /// 415: the body is compressed or otherwise encoded, which no route supports.
    public static func contentEncoding(_ name: String) -> Problem {
        Problem(
            "content-encoding",
            status: 415,
            title: "Encoded bodies are not accepted.",
            detail: "Send the body without Content-Encoding.",
            members: ["found": .string(name)],
            headers: ["Accept-Encoding": "identity"]
        )
    }

    /// 431: the request line and the header fields together are longer than `limit` bytes.
    public static func headTooLarge(limit: Int) -> Problem {
        Problem(
            "head-too-large",
            status: 431,
            title: "The request's header fields are too large.",
            detail: "Request line and header fields may have at most \(limit) bytes together.",
            members: ["limit": limit.jsonValue]
        )
    }

    /// 431: there are more header fields than `limit`.
    public static func tooManyFields(limit: Int) -> Problem {
        Problem(
            "too-many-fields",
            status: 431,
            title: "Too many header fields.",
            detail: "There may be at most \(limit) header fields.",
            members: ["limit": limit.jsonValue]
        )
    }

    /// 500: an internal error; the log has the details under this request id.
    public static func internalError(requestID: String) -> Problem {
        Problem(
            "internal",
            status: 500,
            title: "The server failed to handle the request.",
            members: ["requestId": .string(requestID)]
        )
    }

    /// 501: the body is sent in a transfer coding other than `chunked`.
    public static let transferCoding = Problem(
        "transfer-coding",
        status: 501,
        title: "Only the transfer coding chunked is understood."
    )

    /// 503: the server is stopping, so the request was abandoned; no partial result is stored.
    public static let interrupted = Problem(
        "interrupted",
        status: 503,
        title: "The server stopped before the request was done.",
        retryAfter: 5
    )
}

extension Int {
    fileprivate var jsonValue: JSONValue { .integer(Int64(self)) }
}
