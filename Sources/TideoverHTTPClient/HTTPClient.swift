import Glibc
public import TideoverHTTP

/// A handler that goes to the network: HTTP/1.1 with or without TLS, over libcurl.
///
/// One thread does all of a client's exchanges and keeps connections for later ones; nothing blocks
/// the task that asks, and cancelling that task ends its exchange. Certificates and host names are
/// always verified. Redirects are answers like any other. Neither cookies nor `.netrc` nor, unless
/// asked for, proxies of the environment play a part. A request over a kept connection that turns
/// out to be closed is sent again over a new one, so a request may arrive twice.
public final class HTTPClient: Sendable {
    private let mailbox: Mailbox
    private let proxy: ProxyUse

    /// A client with a thread of its own, which ends with it.
    ///
    /// - Parameters:
    ///   - userAgent: Who asks, such as `tideover/1.2.3`.
    ///   - limits: How much may go on at once.
    ///   - roots: Who vouches for servers.
    ///   - proxy: Who is connected to; behind a proxy addresses cannot be guarded, and every
    ///     destination with a guard is refused.
    /// - Throws: `engineFailed` if memory, files or threads are lacking.
    public init(
        userAgent: String,
        limits: HTTPClientLimits = HTTPClientLimits(),
        roots: TrustedRoots = .system,
        proxy: ProxyUse = .none
    ) throws(HTTPClientError) {
        precondition(limits.arePositive, "limits of a client are positive")
        let manner = Manner(
            userAgent: userAgent,
            roots: roots,
            proxy: proxy,
            keptFor: limits.keptFor
        )
        self.proxy = proxy
        mailbox = try CourierThread.start(manner, limits)
    }

    deinit { mailbox.close() }

    /// Asks a destination's own URL; the request's path and query play no part.
    ///
    /// Headers that belong to the connection or the body, such as `Host` and `Content-Length`, are
    /// written by the client, whatever the request says.
    public func send(
        _ request: Request,
        to destination: Destination
    ) async throws(HTTPClientError) -> Response {
        precondition(destination.limits.arePositive, "limits of an exchange are positive")
        guard proxy == .none || destination.addresses == .any else { throw .unguardable }
        let order = Order(
            request: try OutgoingRequest(request, to: destination.url),
            socket: destination.socket,
            addresses: destination.addresses,
            limits: destination.limits,
            deadline: .now + destination.limits.total
        )
        return try await withTaskCancellationHandler {
            await withCheckedContinuation { mailbox.put(order, $0) }
        } onCancel: {
            mailbox.cancel(order)
        }.get()
    }

    /// Asks a destination's own URL without anything but these parts.
    public func send(
        _ method: String = "GET",
        headers: Headers = [:],
        body: [UInt8] = [],
        to destination: Destination
    ) async throws(HTTPClientError) -> Response {
        let request = Request(method: method, path: "/", headers: headers, body: body)
        return try await send(request, to: destination)
    }

    /// A handler that asks for paths and queries under a destination's URL; it throws
    /// `HTTPClientError`.
    public func handler(under destination: Destination) -> Handler {
        { request in
            var place = destination
            guard
                let url = place.url.appending(path: request.path, query: request.query)
            else { throw HTTPClientError.malformedRequest(.path) }
            place.url = url
            return try await self.send(request, to: place)
        }
    }
}

/// How much of a client may go on at once.
public struct HTTPClientLimits: Hashable, Sendable {
    /// Exchanges; each takes a connection, and while it resolves its host a thread.
    public var exchanges = 64
    /// Exchanges with one origin (scheme, host and port), so that a slow one leaves room for others.
    public var exchangesPerOrigin = 16
    /// Requests that wait for their turn; a further one is refused.
    public var waiting = 1024
    /// Connections that are kept open for later exchanges.
    public var keptConnections = 32
    /// How long a connection may have been unused to be used again.
    public var keptFor: Duration = .seconds(60)

    /// The limits of a server that asks stores and tells receivers.
    public init() {}

    var arePositive: Bool {
        [exchanges, exchangesPerOrigin, keptConnections].allSatisfy { (1...65_536) ~= $0 }
            && (0...(1 << 20)).contains(waiting) && keptFor >= .seconds(1)
    }
}

/// Who vouches for the servers that a client speaks to.
public enum TrustedRoots: Hashable, Sendable {
    /// Those whom the machine trusts.
    case system
    /// These certificates, as PEM text, and nobody else.
    case pem(String)
}

/// Whom a client connects to.
public enum ProxyUse: Hashable, Sendable {
    /// The destination itself, whatever the environment says.
    case none
    /// The proxies that `https_proxy`, `http_proxy` and `no_proxy` name.
    case environment
}
