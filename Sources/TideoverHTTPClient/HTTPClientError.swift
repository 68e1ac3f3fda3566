import Glibc
package import TideoverHTTP

/// The reason why a request has no response. It never contains a path, a query, a header or a body.
package enum HTTPClientError: Error, Hashable, Sendable {
    /// The request is invalid: an error in the calling code.
    case malformedRequest(RequestFault)
    /// The destination's address must be checked, but a proxy would connect to it.
    case unguardable
    /// The host has no address, or name resolution failed.
    case cannotResolve(host: String)
    /// The destination's rules forbid the host's address.
    case addressRefused(IPAddress, AddressUse)
    /// No address of the host accepts connections; `code` is the system's error number, 0 if
    /// unknown.
    case cannotConnect(code: Int32)
    /// The TLS handshake or the server's authentication failed.
    case notProtected(TLSFault)
    /// The time limit was exceeded.
    case timedOut(ExchangePhase)
    /// The connection was interrupted.
    case connectionLost(ExchangePhase)
    /// The response is not HTTP/1.x.
    case malformedAnswer
    /// The response's head has more bytes or fields than the limits allow.
    case headTooLarge
    /// The response's body has more bytes than the limits allow.
    case bodyTooLarge(limit: Int)
    /// Too many requests are waiting.
    case overloaded(waiting: Int)
    /// The calling task was cancelled.
    case cancelled
    /// libcurl did not start, or failed for another reason; `code` is its error number.
    case engineFailed(code: Int32)
}

/// The invalid part of a request.
package enum RequestFault: Hashable, Sendable {
    /// The method is not GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS.
    case method
    /// The path leads outside the destination, or contains invalid characters.
    case path
    /// A header field's name is not a token, or its value contains a control character.
    case header
}

/// The reason why a connection is not secure.
package enum TLSFault: Hashable, Sendable {
    /// The certificate is not trusted; `code` is OpenSSL's error number.
    case untrustedCertificate(code: Int)
    /// The certificate belongs to another host.
    case wrongHost
    /// The TLS handshake failed.
    case handshake
}

/// The progress of an exchange.
package enum ExchangePhase: String, Hashable, Sendable, CaseIterable {
    /// The exchange is waiting to start.
    case waiting
    /// The host's addresses are being resolved.
    case resolving
    /// The connection is being established.
    case connecting
    /// The TLS handshake is in progress.
    case securing
    /// The request is being sent, or the response's head is pending.
    case answering
    /// The response's body is arriving.
    case receiving
}

extension HTTPClientError: CustomStringConvertible {
    /// A one-line message.
    package var description: String {
        switch self {
        case .malformedRequest(let fault): "the request cannot be sent: its \(fault) is malformed"
        case .unguardable: "the destination's address cannot be checked behind a proxy"
        case .cannotResolve(let host): "no address was found for \(host)"
        case .addressRefused(let address, let use): "\(address) may not be connected to: \(use)"
        case .cannotConnect(let code): "no connection: \(Self.words(ofSystem: code))"
        case .notProtected(let fault): "the connection is not protected: \(fault)"
        case .timedOut(let phase): "timed out while \(phase)"
        case .connectionLost(let phase): "the connection broke off while \(phase)"
        case .malformedAnswer: "the answer is not HTTP/1.x"
        case .headTooLarge: "the answer's head is too large"
        case .bodyTooLarge(let limit): "the answer's body has more than \(limit) bytes"
        case .overloaded(let waiting): "\(waiting) requests wait already"
        case .cancelled: "cancelled"
        case .engineFailed(let code): "libcurl failed (\(code))"
        }
    }

    private static func words(ofSystem code: Int32) -> String {
        code == 0 ? "no address accepts a connection" : String(cString: strerror(code))
    }
}

extension RequestFault: CustomStringConvertible {
    /// The part's name.
    package var description: String {
        switch self {
        case .method: "method"
        case .path: "path"
        case .header: "header"
        }
    }
}

extension TLSFault: CustomStringConvertible {
    /// A sentence without its full stop.
    package var description: String {
        switch self {
        case .untrustedCertificate(let code):
            "no trusted authority issued the certificate (OpenSSL's reason \(code))"
        case .wrongHost: "the certificate is for another host"
        case .handshake: "the TLS handshake failed"
        }
    }
}

extension ExchangePhase: CustomStringConvertible {
    /// The present participle that follows "while".
    package var description: String {
        switch self {
        case .waiting: "waiting for its turn"
        case .resolving: "resolving the host name"
        case .connecting: "connecting"
        case .securing: "agreeing on keys"
        case .answering: "waiting for an answer"
        case .receiving: "receiving the answer"
        }
    }
}
