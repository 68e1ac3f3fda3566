package import TideoverHTTP

/// The limits of one client's use of the server.
package struct HTTPServerLimits: Hashable, Sendable {
    /// The maximum size of a request's body in bytes; a longer one is rejected with 413.
    package var bodyBytes = 256 * 1024
    /// The maximum size in bytes of all bodies together that are being received; anyone can send
    /// some, and they are in memory. For more, the server closes the connection that has been
    /// sending its body longest.
    package var incomingBytes = 256 << 20
    /// The maximum size of the request line and the header fields together, in bytes; more is
    /// rejected with 431.
    package var headBytes = 16 * 1024
    /// The maximum number of header fields of a request; more are rejected with 431.
    package var headFields = 64
    /// The maximum number of open connections. To accept another one, the server closes one with a
    /// rejected last request. Otherwise it closes the one idle longest, or else the one sending its
    /// request longest. While handlers work for all of them, the new one waits in the kernel's
    /// queue. The limit is lower if the system does not permit 256 more open files.
    package var connections = 1024
    /// The maximum number of open connections of one address; for IPv6, of one /64. Another one
    /// replaces one with a rejected last request, or else one chosen as for a full server. If there
    /// is none, it is closed at once. 0 means no limit.
    package var connectionsPerAddress = 64
    /// Addresses shared by many clients, such as a proxy's: the limit of one address does not apply
    /// there.
    package var sharedNetworks: [IPNetwork] = []
    /// The maximum time a connection may stay open without a request.
    package var idle: Duration = .seconds(60)
    /// The time limit for the request line and the header fields, from the first byte.
    package var head: Duration = .seconds(10)
    /// The time limit for the body, from the end of the header fields.
    package var body: Duration = .seconds(15)
    /// The time limit for the client to receive the response.
    package var reply: Duration = .seconds(60)
    /// The time limit for cancelled handlers to respond while the server stops.
    package var lastWord: Duration = .milliseconds(500)

    /// Returns the network to which the limit of one address applies; nil if none applies.
    package func client(_ address: IPAddress) -> IPNetwork? {
        let isShared = sharedNetworks.contains { $0.contains(address) }
        return isShared || connectionsPerAddress == 0 ? nil : IPNetwork(ofClient: address)
    }

    /// Whether these limits are usable.
    var arePositive: Bool {
        let counts = [bodyBytes, incomingBytes, headBytes, headFields, connections]
        let times = [idle, head, body, reply, lastWord]
        return counts.allSatisfy { (1...(1 << 30)).contains($0) }
            && (0...(1 << 30)).contains(connectionsPerAddress)
            && times.allSatisfy { $0 > .zero }
    }

    /// Creates the limits of a server that faces the internet.
    package init() {}
}
