import CTideoverMicrohttpd
import Glibc
package import TideoverHTTP

/// A handler's response was malformed, so it was not sent.
package struct UnsendableResponse: Error, Hashable, CustomStringConvertible {
    /// The violated rule.
    package enum Reason: Hashable {
        case status(Int)
        case field(name: String)
    }
    /// The violated rule.
    package var reason: Reason

    /// A one-line message for the log.
    package var description: String {
        switch reason {
        case .status(let status): "the handler answered with status \(status)"
        case .field(let name): "the handler answered with a malformed field named \"\(name)\""
        }
    }
}

/// Converts responses into their transmitted forms.
package enum Reply {
    /// Throws if a response cannot be sent unchanged.
    package static func check(_ response: Response) throws(UnsendableResponse) {
        guard (200...599).contains(response.status) else {
            throw UnsendableResponse(reason: .status(response.status))
        }
        for field in response.headers.fields
        where !FieldSyntax.isToken(field.name) || !FieldSyntax.isValue(field.value) {
            throw UnsendableResponse(reason: .field(name: field.name))
        }
    }

    /// Returns the engine's copy of a checked response; nil if memory is short. The caller releases
    /// it with `MHD_destroy_response`.
    static func engineResponse(_ response: Response, closing: Bool) -> OpaquePointer? {
        let made = response.body.withUnsafeBytes {
            // The parameter is non-const because of other modes; this one only reads.
            MHD_create_response_from_buffer(
                $0.count,
                UnsafeMutableRawPointer(mutating: $0.baseAddress),
                .RESPMEM_MUST_COPY
            )
        }
        guard let made else { return nil }
        for field in response.headers.fields where isPassedOn(field) {
            // Passed as pointers: an argument of type String would be copied.
            field.name.withCString { name in
                _ = field.value.withCString { MHD_add_response_header(made, name, $0) }
            }
        }
        if closing || wantsToClose(response) {
            MHD_add_response_header(made, "Connection", "close")
        }
        return made
    }

    /// Returns the bytes of a complete response after which the connection closes. It is used while
    /// the engine accepts no response.
    package static func bytes(of response: Response) -> [UInt8] {
        let reason = String(cString: MHD_get_reason_phrase_for(UInt32(response.status)))
        var head = "HTTP/1.1 \(response.status) \(reason)\r\n"
        for field in response.headers.fields { head += "\(field.name): \(field.value)\r\n" }
        head += "Content-Length: \(response.body.count)\r\nConnection: close\r\n\r\n"
        return Array(head.utf8) + response.body
    }

    /// The engine does the framing, and supports no field without a value.
    private static func isPassedOn(_ field: Headers.Field) -> Bool {
        !field.value.isEmpty && !framing.contains { Headers.same($0, field.name) }
    }

    private static let framing = [
        "Connection", "Content-Length", "Keep-Alive", "Transfer-Encoding",
    ]

    private static func wantsToClose(_ response: Response) -> Bool {
        response.headers["Connection"].map { Headers.same($0, "close") } ?? false
    }
}
