import Glibc
public import TideoverHTTP

/// Why a request has no answer. None of it holds a path, a query, a header or a body.
public enum HTTPClientError: Error, Hashable, Sendable {
    /// The request cannot be sent as it is: our own mistake.
    case malformedRequest(RequestFault)
    /// The destination's address is to be guarded, but a proxy would be the one to connect to it.
    case unguardable
    /// The host has no address, or nobody could be asked for it.
    case cannotResolve(host: String)
    /// The host's address is not one that this destination may have.
    case addressRefused(IPAddress, AddressUse)
    /// No address of the host takes connections; `code` is the system's number for the reason, 0 if
    /// unknown.
    case cannotConnect(code: Int32)
    /// The other side could not prove who it is, or no keys were agreed on.
    case notProtected(TLSFault)
    /// The time was over.
    case timedOut(ExchangePhase)
    /// The connection broke off.
    case connectionLost(ExchangePhase)
    /// What came is not HTTP/1.x.
    case malformedAnswer
    /// The answer's head has more bytes or fields than the limits allow.
    case headTooLarge
    /// The answer's body has more bytes than the limits allow.
    case bodyTooLarge(limit: Int)
    /// Too many requests wait for their turn.
    case overloaded(waiting: Int)
    /// The task that asked was cancelled.
    case cancelled
    /// libcurl did not start, or failed in a way that has no case here; `code` is its own number.
    case engineFailed(code: Int32)
}

/// What of a request cannot be sent.
public enum RequestFault: Hashable, Sendable {
    /// The method is none of GET, HEAD, POST, PUT, PATCH, DELETE and OPTIONS.
    case method
    /// The path leads out from under the destination, or holds what a path cannot hold.
    case path
    /// A header field's name is not a token, or its value holds a control character.
    case header
}

/// Why a connection is not protected.
public enum TLSFault: Hashable, Sendable {
    /// Nobody trusted vouches for the certificate; `code` is OpenSSL's number for the reason.
    case untrustedCertificate(code: Int)
    /// The certificate is another host's.
    case wrongHost
    /// No keys were agreed on.
    case handshake
}

/// How far an exchange has come.
public enum ExchangePhase: String, Hashable, Sendable, CaseIterable {
    /// It waits for its turn.
    case waiting
    /// The host's addresses are looked up.
    case resolving
    /// A connection is made.
    case connecting
    /// Keys are agreed on.
    case securing
    /// The request is sent, and the answer's head awaited.
    case answering
    /// The answer's body comes in.
    case receiving
}

extension HTTPClientError: CustomStringConvertible {
    /// One line for people.
    public var description: String {
        switch self {
        case .malformedRequest(let fault): "the request cannot be sent: its \(fault) is malformed"
        case .unguardable: "behind a proxy the destination's address cannot be guarded"
        case .cannotResolve(let host): "\(host) has no address that could be found"
        case .addressRefused(let address, let use): "\(address) may not be connected to: \(use)"
        case .cannotConnect(let code): "no connection: \(Self.words(ofSystem: code))"
        case .notProtected(let fault): "the connection is not protected: \(fault)"
        case .timedOut(let phase): "out of time while \(phase)"
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
        code == 0 ? "no address takes one" : String(cString: strerror(code))
    }
}

extension RequestFault: CustomStringConvertible {
    /// The part's name.
    public var description: String {
        switch self {
        case .method: "method"
        case .path: "path"
        case .header: "header"
        }
    }
}

extension TLSFault: CustomStringConvertible {
    /// A sentence for people, without its full stop.
    public var description: String {
        switch self {
        case .untrustedCertificate(let code):
            "nobody trusted vouches for the certificate (OpenSSL's reason \(code))"
        case .wrongHost: "the certificate is another host's"
        case .handshake: "no keys were agreed on"
        }
    }
}

extension ExchangePhase: CustomStringConvertible {
    /// The present participle that follows "while".
    public var description: String {
        switch self {
        case .waiting: "waiting for its turn"
        case .resolving: "looking the host up"
        case .connecting: "connecting"
        case .securing: "agreeing on keys"
        case .answering: "waiting for an answer"
        case .receiving: "receiving the answer"
        }
    }
}

extension AddressUse: CustomStringConvertible {
    /// What the address is, for people.
    public var description: String {
        switch self {
        case .unspecified: "it stands for this machine"
        case .loopback: "it is this machine"
        case .privateUse: "it is in a private network"
        case .sharedAddressSpace: "it is in a provider's inner network"
        case .linkLocal: "it is on the same wire only"
        case .cloudHost: "it is the cloud's own host"
        case .protocolAssignment: "it is set apart for a protocol"
        case .documentation: "it is for examples only"
        case .benchmarking: "it is for tests of networks"
        case .multicast: "it is for many receivers"
        case .broadcast: "it is everybody"
        case .reserved: "it is in no public use"
        case .uniqueLocal: "it is in a private network"
        case .siteLocal: "it is in a private network"
        case .embeddedIPv4: "it hides an address of IPv4"
        case .sixToFour: "it is a tunnel (6to4)"
        case .teredo: "it is a tunnel (Teredo)"
        case .nat64: "it is a translation (NAT64)"
        case .notGlobalUnicast: "it is not of the public internet"
        }
    }
}
