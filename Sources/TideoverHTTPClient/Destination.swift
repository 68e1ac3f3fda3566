/// The destination of a request, with its restrictions.
package struct Destination: Hashable, Sendable {
    /// The URL, or the base URL of request paths.
    package var url: HTTPURL
    /// The addresses that its host may have.
    package var addresses: AddressGuard
    /// The time and memory limits of an exchange.
    package var limits: ExchangeLimits
    /// The Unix socket to connect to, regardless of the URL's host; nil for a TCP connection.
    package var socket: String?

    /// Creates a destination.
    package init(
        _ url: HTTPURL,
        addresses: AddressGuard,
        limits: ExchangeLimits = ExchangeLimits(),
        socket: String? = nil
    ) {
        self.url = url
        self.addresses = addresses
        self.limits = limits
        self.socket = socket
    }
}

/// The time and memory limits of one exchange.
package struct ExchangeLimits: Hashable, Sendable {
    /// The time limit for resolving, connecting and the TLS handshake.
    package var connect: Duration = .seconds(5)
    /// The time limit for the whole exchange, including the wait to start.
    package var total: Duration = .seconds(15)
    /// The maximum size of the response body in bytes.
    package var bodyBytes = 64 * 1024
    /// Whether a longer body ends at its maximum size; otherwise the response is rejected.
    package var cutsBody = false
    /// The maximum size of the response's status lines and header fields together, in bytes.
    package var headBytes = 32 * 1024
    /// The maximum number of header fields in the response.
    package var headFields = 128

    /// Creates the limits for a small response.
    package init() {}

    /// The limits for a response in which only the head matters, such as a webhook receiver's.
    package static var onlyHead: ExchangeLimits {
        var limits = ExchangeLimits()
        limits.cutsBody = true
        return limits
    }

    /// The limits for the response of a store's API: a body of 4 MiB.
    package static var storeAnswer: ExchangeLimits {
        var limits = ExchangeLimits()
        limits.bodyBytes = 4 << 20
        return limits
    }

    /// Whether these limits are usable.
    var arePositive: Bool {
        let counts = [headBytes, headFields, bodyBytes + 1]
        return counts.allSatisfy { (1...(1 << 30)).contains($0) }
            && [connect, total].allSatisfy { (.milliseconds(1) ... .seconds(86_400)).contains($0) }
    }
}
