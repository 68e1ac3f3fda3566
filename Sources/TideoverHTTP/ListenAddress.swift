/// The address a server listens on: a literal address of this machine, and a port.
public struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
    /// An IPv4 or IPv6 address, such as `127.0.0.1` or `::1`, without brackets.
    public let host: String
    /// A port from 0 to 65,535; 0 selects any free one.
    public let port: Int

    /// The server's default address: `127.0.0.1:8080`.
    public static let standard = ListenAddress(checkedHost: "127.0.0.1", port: 8080)

    /// Creates an address from a literal, IPv6 with or without brackets, and a port. Nil if either
    /// is invalid.
    public init?(host: String, port: Int) {
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        let bare = isBracketed ? String(host.dropFirst().dropLast()) : host
        guard let address = IPAddress(bare), address.isIPv6 || !isBracketed,
            (0...65_535).contains(port)
        else { return nil }
        self.host = bare
        self.port = port
    }

    /// Parses `127.0.0.1:8080`, `[::1]:8080` or `localhost:8080`, which is `127.0.0.1:8080`. Nil
    /// for any other text.
    public init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let host = text[..<colon]
        let digits = text[colon...].dropFirst()
        guard digits.utf8.allSatisfy({ (0x30...0x39) ~= $0 }), let port = Int(digits),
            host.hasPrefix("[") == host.contains(":")
        else { return nil }
        self.init(host: host == "localhost" ? "127.0.0.1" : String(host), port: port)
    }

    /// Whether this is an IPv6 address.
    public var isIPv6: Bool { host.contains(":") }

    /// Returns the same address with another port, from 0 to 65,535.
    package func with(port: Int) -> ListenAddress { ListenAddress(checkedHost: host, port: port) }

    private init(checkedHost: String, port: Int) {
        host = checkedHost
        self.port = port
    }

    /// The address in URL form, IPv6 in brackets.
    public var description: String { isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
