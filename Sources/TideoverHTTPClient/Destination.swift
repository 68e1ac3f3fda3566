/// Where a request goes, and on what conditions.
public struct Destination: Hashable, Sendable {
    /// The URL, or the one under which paths are asked for.
    public var url: HTTPURL
    /// Which addresses its host may have.
    public var addresses: AddressGuard
    /// How much time and memory an exchange may take.
    public var limits: ExchangeLimits
    /// The Unix socket to connect to, whatever host the URL has; nil for a connection by TCP.
    public var socket: String?

    /// A destination on these conditions.
    public init(
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

/// How much time and memory one exchange may take.
public struct ExchangeLimits: Hashable, Sendable {
    /// How long it may take to resolve, connect and, with https, agree on keys.
    public var connect: Duration = .seconds(5)
    /// How long all of it may take, waiting for its turn included.
    public var total: Duration = .seconds(15)
    /// Bytes of the answer's body.
    public var bodyBytes = 64 * 1024
    /// Bytes of the answer's status lines and header fields together.
    public var headBytes = 32 * 1024
    /// Header fields of the answer.
    public var headFields = 128

    /// The limits for an answer of which little is expected, such as a webhook receiver's.
    public init() {}

    /// The limits for the answer of a store's API: a body of 4 MiB.
    public static var storeAnswer: ExchangeLimits {
        var limits = ExchangeLimits()
        limits.bodyBytes = 4 << 20
        return limits
    }

    /// Whether an exchange is possible within these limits.
    var arePositive: Bool {
        let counts = [headBytes, headFields, bodyBytes + 1]
        return counts.allSatisfy { (1...(1 << 30)).contains($0) }
            && [connect, total].allSatisfy { (.milliseconds(1) ... .seconds(86_400)).contains($0) }
    }
}
