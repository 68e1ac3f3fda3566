package import TideoverCore
package import TideoverHTTP
package import TideoverJSON

/// A response in the form that the SDKs read: a JSON body always, and the time of the request.
package struct SDKResponse {
    /// The instant at which the request was answered.
    package let requestDate: Instant

    package static let timeHeader = "X-RevenueCat-Request-Time"
    /// The tag of an answer, both ways. The SDKs do not use `If-None-Match`.
    package static let tagHeader = "X-RevenueCat-ETag"

    package init(at requestDate: Instant) {
        self.requestDate = requestDate
    }

    package func json(
        status: Int = 200,
        tag: String? = nil,
        _ body: (inout JSONWriter) -> Void
    ) -> Response {
        .json(status: status, headers: headers(tag: tag), body)
    }

    package func error(_ error: SDKError, retryAfter seconds: Int? = nil) -> Response {
        var response = json(status: error.status, error.writeMembers)
        response.headers["Retry-After"] = (seconds ?? error.retryAfter).map(String.init)
        return response
    }

    /// Returns an answer with a tag, or 304 to a client that has it. The tag is repeated with 304:
    /// without it an SDK asks again.
    package func tagged(
        _ request: Request,
        tag: String,
        _ body: (inout JSONWriter) -> Void
    ) -> Response {
        guard request.headers[Self.tagHeader] == tag else { return json(tag: tag, body) }
        return Response(status: 304, headers: headers(tag: tag))
    }

    private func headers(tag: String?) -> Headers {
        var headers: Headers = [
            Self.timeHeader: String(requestDate.millisecondsSince1970),
            "Cache-Control": "private, no-store",
        ]
        headers[Self.tagHeader] = tag
        return headers
    }
}
