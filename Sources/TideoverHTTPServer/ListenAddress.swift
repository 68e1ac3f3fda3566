import Glibc

/// Where a server listens: an address of this machine, as a literal, and a port.
public struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
    /// An IPv4 or IPv6 address, such as `127.0.0.1` or `::1`, without brackets.
    public let host: String
    /// A port from 0 to 65,535; 0 stands for any free one.
    public let port: Int

    /// Reads `127.0.0.1:8080` or `[::1]:8080`; nil if it is not an address literal with a port.
    public init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let host = text[..<colon]
        let digits = text[colon...].dropFirst()
        guard !digits.isEmpty, digits.utf8.allSatisfy(Self.isDigit), let port = Int(digits),
            host.hasPrefix("[") == host.contains(":")
        else { return nil }
        do { try self.init(host: String(host), port: port) } catch { return nil }
    }

    /// An address literal, IPv6 with or without brackets, and a port.
    public init(host: String, port: Int) throws(HTTPServerError) {
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        let bare = isBracketed ? String(host.dropFirst().dropLast()) : host
        guard let family = Self.family(of: bare), !isBracketed || family == AF_INET6 else {
            throw .notAnAddress(host)
        }
        guard (0...65_535).contains(port) else { throw .notAPort(port) }
        self.host = bare
        self.port = port
    }

    /// The address as it stands in a URL, IPv6 in brackets.
    public var description: String { isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Whether the address is one of IPv6.
    var isIPv6: Bool { host.contains(":") }

    /// The same address with another port.
    func with(port: Int) -> ListenAddress { ListenAddress(checkedHost: host, port: port) }

    private init(checkedHost: String, port: Int) {
        host = checkedHost
        self.port = port
    }

    private static func family(of host: String) -> Int32? {
        var address = in6_addr()
        return [AF_INET, AF_INET6].first { inet_pton($0, host, &address) == 1 }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
