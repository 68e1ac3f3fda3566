package import TideoverHTTP

/// A validated request in the form that libcurl requires.
package struct OutgoingRequest: Hashable, Sendable {
    package let method: String
    package let url: HTTPURL
    /// Header lines; a line that ends in `:` removes a field that libcurl would add.
    package let lines: [String]
    package let body: [UInt8]

    /// Prepares a request for a URL; the request's own path and query are ignored.
    package init(_ request: Request, to url: HTTPURL) throws(HTTPClientError) {
        guard Self.methods.contains(request.method) else { throw .malformedRequest(.method) }
        var lines: [String] = []
        for field in request.headers.fields where !Self.isOurs(field.name) {
            guard FieldSyntax.isToken(field.name), FieldSyntax.isValue(field.value) else {
                throw .malformedRequest(.header)
            }
            lines.append(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
        }
        // A body is sent without waiting for 100 Continue, and without a default content type.
        lines.append("Expect:")
        if request.headers["Content-Type"] == nil { lines.append("Content-Type:") }
        method = request.method
        self.url = url
        self.lines = lines
        body = request.body
    }

    /// Whether a body is sent, even if empty.
    var hasBody: Bool { !body.isEmpty || ["POST", "PUT", "PATCH"].contains(method) }

    private static let methods: Set<String> = [
        "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS",
    ]

    /// Fields that depend on the connection, the URL and the body.
    private static let ours = [
        "Connection", "Content-Length", "Expect", "Host", "Keep-Alive", "Proxy-Connection", "TE",
        "Trailer", "Transfer-Encoding", "Upgrade",
    ]

    private static func isOurs(_ name: String) -> Bool {
        ours.contains { Headers.same($0, name) }
    }
}
