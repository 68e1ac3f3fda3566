/// The operator's own proxies, trusted to report the sender of a request.
public struct TrustedProxies: Hashable, Sendable {
    /// The networks of the proxies.
    public let networks: [IPNetwork]

    /// Trusts the proxies in these networks.
    public init(_ networks: [IPNetwork] = []) {
        self.networks = networks
    }

    /// Whether an address is a trusted proxy's.
    public func contains(_ address: IPAddress) -> Bool {
        let address = address.unmapped
        return networks.contains { $0.contains(address) }
    }

    /// Returns the sender of a request: its peer, unless that is a trusted proxy. Then it is the
    /// right-most address in `X-Forwarded-For` that is not a trusted proxy. Each proxy appends its
    /// peer at the right, so addresses further left are not verified.
    ///
    /// Returns the peer if the field is missing or malformed. Returns the left-most address if all
    /// are trusted proxies, and nil if the request came from no socket.
    public func client(of request: Request) -> IPAddress? {
        guard let peer = request.peer.flatMap({ IPAddress($0) })?.unmapped else { return nil }
        guard contains(peer) else { return peer }
        var client = peer
        // Split as bytes: some characters beyond ASCII combine with the following comma. A client
        // could use one to hide the address that the proxy appended.
        let entries = request.headers.all("X-Forwarded-For").joined(separator: ",").utf8
            .split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        for entry in entries.reversed() {
            guard let address = Self.address(Substring(entry)) else { return peer }
            client = address
            if !contains(address) { break }
        }
        return client
    }

    /// Parses an address as proxies write it: some add the port, and then brackets to IPv6.
    private static func address(_ entry: Substring) -> IPAddress? {
        let text = entry.drop { $0 == " " || $0 == "\t" }
        let bare = text.prefix { $0 != " " && $0 != "\t" }
        guard text[bare.endIndex...].allSatisfy({ $0 == " " || $0 == "\t" }) else { return nil }
        if let address = IPAddress(bare) { return address.unmapped }
        if bare.first == "[" {
            let inside = bare.dropFirst().prefix { $0 != "]" }
            let rest = bare[inside.endIndex...].dropFirst()
            guard inside.endIndex < bare.endIndex, rest.isEmpty || isPort(rest) else { return nil }
            return IPAddress(inside).flatMap { $0.isIPv6 ? $0.unmapped : nil }
        }
        guard let colon = bare.lastIndex(of: ":"), isPort(bare[colon...]) else { return nil }
        return IPAddress(bare[..<colon]).flatMap { $0.isIPv6 ? nil : $0 }
    }

    private static func isPort(_ text: Substring) -> Bool {
        text.first == ":" && (2...6).contains(text.utf8.count)
            && text.utf8.dropFirst().allSatisfy { (0x30...0x39) ~= $0 }
    }
}
