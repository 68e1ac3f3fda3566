public import TideoverHTTP

/// How much of the server one client may use.
public struct HTTPServerLimits: Hashable, Sendable {
    /// Bytes of a request's body; a longer one is refused with 413.
    public var bodyBytes = 256 * 1024
    /// Bytes of the request line and the header fields together; more is refused with 431.
    public var headBytes = 16 * 1024
    /// Header fields of a request; more are refused with 431.
    public var headFields = 64
    /// Open connections. For a further one the server closes one whose last request was refused, or else
    /// the one that has been idle longest, or else the one that has been sending its request longest;
    /// while handlers work for all of them, it waits in the kernel's queue. They are fewer where the
    /// system does not let the process open 256 files more than that.
    public var connections = 1024
    /// Open connections of one address, of IPv6 of one /64. A further one takes the place of one whose
    /// last request was refused, or else as of a full server; where there is none, it is closed at
    /// once. 0 is no limit.
    public var connectionsPerAddress = 64
    /// Where an address stands for many clients, such as a proxy's: the limit of one address does
    /// not hold there.
    public var sharedNetworks: [IPNetwork] = []
    /// How long a connection may stay open without a request.
    public var idle: Duration = .seconds(60)
    /// How long the request line and the header fields may take to arrive, from the first byte.
    public var head: Duration = .seconds(10)
    /// How long the body may take to arrive, from the end of the header fields.
    public var body: Duration = .seconds(15)
    /// How long the client may take to receive the answer.
    public var reply: Duration = .seconds(60)
    /// How long handlers that were cancelled, because the server stops, may take to answer.
    public var lastWord: Duration = .milliseconds(500)

    /// Whose limit a connection from an address counts against; nil if nobody's.
    package func client(_ address: IPAddress) -> IPNetwork? {
        let isShared = sharedNetworks.contains { $0.contains(address) }
        return isShared || connectionsPerAddress == 0 ? nil : IPNetwork(ofClient: address)
    }

    /// Whether a server can work with these limits.
    var arePositive: Bool {
        let counts = [bodyBytes, headBytes, headFields, connections]
        let times = [idle, head, body, reply, lastWord]
        return counts.allSatisfy { (1...(1 << 30)).contains($0) }
            && (0...(1 << 30)).contains(connectionsPerAddress)
            && times.allSatisfy { $0 > .zero }
    }

    /// The limits of a server that faces the internet.
    public init() {}
}
