package import TideoverHTTP
import TideoverJSON

/// The request line and the header fields, as read by the engine.
package struct RequestHead {
    /// The method as sent.
    package var method: String
    /// The target as sent.
    package var target: String
    /// The version, such as `HTTP/1.1`.
    package var version: String
    /// The fields in the order sent; values may still end with white space.
    package var fields: [Headers.Field]
    /// The size of the head in bytes, including the empty line.
    package var bytes: Int
    /// Whether the bytes are exactly in a form that RFC 9112 permits.
    package var isExact: Bool

    /// Creates a head from its parts.
    package init(
        method: String,
        target: String,
        version: String = "HTTP/1.1",
        fields: [Headers.Field],
        bytes: Int,
        isExact: Bool = true
    ) {
        self.method = method
        self.target = target
        self.version = version
        self.fields = fields
        self.bytes = bytes
        self.isExact = isExact
    }

    /// The framing of the body.
    package enum Body: Hashable {
        case length(Int)
        case chunked
    }

    /// Returns the framing of the body, or the reason why the request cannot be read completely.
    /// After such an error the start of the next request is unknown, so the connection must close.
    package func body(within limits: HTTPServerLimits) -> Result<Body, Problem> {
        if let problem = sizeProblem(limits) ?? formProblem() { return .failure(problem) }
        if let encoding = values("Content-Encoding").first(where: { !Headers.same($0, "identity") })
        {
            return .failure(.contentEncoding(encoding))
        }
        return framing().flatMap { body in
            if case .length(let length) = body, length > limits.bodyBytes {
                return .failure(.bodyTooLarge(limit: limits.bodyBytes))
            }
            return .success(body)
        }
    }

    /// The header fields without white space after their values.
    package var headers: Headers {
        Headers(fields.map { Headers.Field(name: $0.name, value: Self.trimmed($0.value)) })
    }

    private func sizeProblem(_ limits: HTTPServerLimits) -> Problem? {
        if bytes > limits.headBytes { return .headTooLarge(limit: limits.headBytes) }
        if fields.count > limits.headFields { return .tooManyFields(limit: limits.headFields) }
        return nil
    }

    private func formProblem() -> Problem? {
        if !isExact || !target.allBytes({ $0 != UInt8(ascii: " ") }) {
            return .malformedRequest("A line does not have the form that RFC 9112 demands.")
        }
        if !FieldSyntax.isToken(method) { return .malformedRequest("The method is not a token.") }
        guard
            fields.allSatisfy({
                FieldSyntax.isToken($0.name) && FieldSyntax.isValue($0.value)
            })
        else {
            return .malformedRequest("A header field has a character that it must not have.")
        }
        guard target.isStreamSafe, version.isStreamSafe, fields.allSatisfy(\.value.isStreamSafe)
        else {
            return .malformedRequest(
                "More than \(String.mostMarks) combining marks follow each other."
            )
        }
        let hosts = values("Host").count
        guard hosts == 1 || hosts == 0 && version == "HTTP/1.0" else {
            return .malformedRequest("There must be one Host field.")
        }
        return nil
    }

    /// Request smuggling relies on two readings of a body's end. So every ambiguous framing is
    /// rejected (RFC 9112, 6.1 and 6.3).
    private func framing() -> Result<Body, Problem> {
        let codings = fields.filter { Headers.same($0.name, "transfer-encoding") }
        let lengths = values("Content-Length")
        if codings.isEmpty { return length(lengths) }
        guard lengths.isEmpty, version != "HTTP/1.0" else {
            return .failure(.malformedRequest("The body's length is stated in two ways."))
        }
        guard codings.count == 1, Headers.same(codings[0].value, "chunked") else {
            return .failure(.transferCoding)
        }
        return .success(.chunked)
    }

    private func length(_ lengths: [String]) -> Result<Body, Problem> {
        guard let text = lengths.first else { return .success(.length(0)) }
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard lengths.count == 1, text.utf8.allSatisfy(digits.contains), let length = Int(text)
        else {
            return .failure(.malformedRequest("Content-Length is not one number."))
        }
        return .success(.length(length))
    }

    private func values(_ name: String) -> [String] {
        fields.filter { Headers.same($0.name, name) }.map { Self.trimmed($0.value) }
    }

    private static func trimmed(_ value: String) -> String {
        guard let last = value.utf8.last, isWhite(last) else { return value }
        let end = value.utf8.lastIndex { !isWhite($0) }
        return end.map { String(value[...$0]) } ?? ""
    }

    private static func isWhite(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }
}
