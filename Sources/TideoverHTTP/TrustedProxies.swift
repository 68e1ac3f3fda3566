/// The proxies whose word for who sent a request is taken, because they are the operator's own.
public struct TrustedProxies: Hashable, Sendable {
    /// Where they are.
    public let networks: [IPNetwork]

    /// The proxies in these networks.
    public init(_ networks: [IPNetwork] = []) {
        self.networks = networks
    }

    /// Whether an address is one of theirs.
    public func contains(_ address: IPAddress) -> Bool {
        let address = address.unmapped
        return networks.contains { $0.contains(address) }
    }

    /// Who sent a request: its peer, unless that is a trusted proxy; then the right-most address of
    /// `X-Forwarded-For` that is none. Each proxy adds whom it heard from at the right, so that
    /// whatever stands further left is hearsay.
    ///
    /// The peer again where the field is missing or cannot be read, the left-most address where
    /// all are trusted proxies; nil where the request came from no socket.
    public func client(of request: Request) -> IPAddress? {
        guard let peer = request.peer.flatMap({ IPAddress($0) })?.unmapped else { return nil }
        guard contains(peer) else { return peer }
        var client = peer
        // By bytes: beyond ASCII there are characters that make one with the comma behind them, and
        // whoever sends such a one would hide what the proxy has added.
        let entries = request.headers.all("X-Forwarded-For").joined(separator: ",").utf8
            .split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        for entry in entries.reversed() {
            guard let address = Self.address(Substring(entry)) else { return peer }
            client = address
            if !contains(address) { break }
        }
        return client
    }

    /// An address as proxies write it: some add the port, and then brackets to IPv6.
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
