import Glibc
package import TideoverHTTP

/// Sends requests over the network: HTTP/1.1 with or without TLS, using libcurl.
///
/// One thread runs all exchanges of a client and reuses connections. The calling task does not
/// block a thread, and cancelling it ends its exchange. Certificates and host names are always
/// verified. Redirects are returned as ordinary responses. Cookies and `.netrc` are not used, nor
/// are proxies of the environment unless requested. A request over a reused connection that proves
/// to be closed is sent again over a new one, so a request may arrive twice.
package final class HTTPClient: Sendable {
    private let requestQueue: RequestQueue
    private let proxy: ProxyUse

    /// Creates a client with a thread, which ends with the client.
    ///
    /// - Parameters:
    ///   - userAgent: The client's name, such as `tideover/1.2.3`.
    ///   - limits: The limits of concurrent use.
    ///   - roots: The trusted certificate authorities.
    ///   - proxy: The proxies to use. Addresses cannot be checked behind a proxy, so every
    ///     destination with an address guard is then rejected.
    /// - Throws: `engineFailed` if memory, files or threads are lacking.
    package init(
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
        requestQueue = try CurlLoopThread.start(manner, limits)
    }

    deinit { requestQueue.close() }

    /// Sends a request to a destination's own URL; the request's path and query are ignored.
    ///
    /// The client sets the headers of the connection and the body, such as `Host` and
    /// `Content-Length`, regardless of the request.
    package func send(
        _ request: Request,
        to destination: Destination
    ) async throws(HTTPClientError) -> Response {
        precondition(destination.limits.arePositive, "limits of an exchange are positive")
        guard proxy == .none || destination.addresses == .any else { throw .unguardable }
        let pendingRequest = PendingRequest(
            request: try OutgoingRequest(request, to: destination.url),
            socket: destination.socket,
            addresses: destination.addresses,
            limits: destination.limits,
            deadline: .now + destination.limits.total
        )
        return try await withTaskCancellationHandler {
            await withCheckedContinuation { requestQueue.put(pendingRequest, $0) }
        } onCancel: {
            requestQueue.cancel(pendingRequest)
        }.get()
    }

    /// Sends a request with only these parts to a destination's own URL.
    package func send(
        _ method: String = "GET",
        headers: Headers = [:],
        body: [UInt8] = [],
        to destination: Destination
    ) async throws(HTTPClientError) -> Response {
        let request = Request(method: method, path: "/", headers: headers, body: body)
        return try await send(request, to: destination)
    }

    /// Returns a handler that sends requests to paths and queries under a destination's URL; it
    /// throws `HTTPClientError`.
    package func handler(under destination: Destination) -> Handler {
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

/// The limits of a client's concurrent use.
package struct HTTPClientLimits: Hashable, Sendable {
    /// The maximum number of exchanges; each uses a connection, and a thread while it resolves its
    /// host.
    package var exchanges = 64
    /// The maximum number of exchanges with one origin (scheme, host and port), so that a slow one
    /// leaves capacity for others.
    package var exchangesPerOrigin = 16
    /// The maximum number of waiting requests; further ones fail.
    package var waiting = 1024
    /// The maximum number of open connections kept for reuse.
    package var keptConnections = 32
    /// The maximum idle time after which a connection is still reused.
    package var keptFor: Duration = .seconds(60)

    /// Creates the limits of a server that sends requests to stores and webhook receivers.
    package init() {}

    var arePositive: Bool {
        [exchanges, exchangesPerOrigin, keptConnections].allSatisfy { (1...65_536) ~= $0 }
            && (0...(1 << 20)).contains(waiting) && keptFor >= .seconds(1)
    }
}

/// The certificate authorities that a client trusts.
package enum TrustedRoots: Hashable, Sendable {
    /// The machine's trusted authorities.
    case system
    /// Only these certificates, as PEM text.
    case pem(String)
}

/// The peer of a client's connections.
package enum ProxyUse: Hashable, Sendable {
    /// The destination itself, regardless of the environment.
    case none
    /// The proxies that `https_proxy`, `http_proxy` and `no_proxy` name.
    case environment
}
