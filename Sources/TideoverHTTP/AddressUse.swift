/// The purpose of an address outside the public internet.
package enum AddressUse: String, Hashable, Sendable, CaseIterable {
    /// "This host", 0.0.0.0/8 and ::, which many systems treat as the local machine.
    case unspecified
    /// The machine itself.
    case loopback
    /// Private networks (RFC 1918).
    case privateUse
    /// Provider networks behind address translation (RFC 6598).
    case sharedAddressSpace
    /// The local link; cloud providers serve credentials there (169.254.169.254).
    case linkLocal
    /// Services of a cloud's host for its guests, at an address that looks public.
    case cloudHost
    /// Reserved for protocols (192.0.0.0/24, 2001::/23).
    case protocolAssignment
    /// Examples in documents.
    case documentation
    /// Network tests (RFC 2544, RFC 5180).
    case benchmarking
    /// Multiple receivers.
    case multicast
    /// All hosts of the local network.
    case broadcast
    /// Unused, or not an address to connect to.
    case reserved
    /// Private networks, IPv6 (RFC 4193).
    case uniqueLocal
    /// Deprecated private networks, IPv6 (RFC 3879).
    case siteLocal
    /// An IPv4 address in IPv6 form: mapped, compatible or translated.
    case embeddedIPv4
    /// A tunnel to an IPv4 address (6to4, RFC 3056).
    case sixToFour
    /// A tunnel to an IPv4 address (Teredo, RFC 4380).
    case teredo
    /// A translation to an IPv4 address (NAT64, RFC 6052 and RFC 8215).
    case nat64
    /// IPv6 that is not global unicast (2000::/3).
    case notGlobalUnicast

    /// The use of an address; nil for an ordinary address of the public internet.
    ///
    /// The tables follow IANA's registries of special-purpose addresses,
    /// https://www.iana.org/assignments/iana-ipv4-special-registry and -ipv6-.
    package init?(of address: IPAddress) {
        let table = address.isIPv6 ? Self.ofIPv6 : Self.ofIPv4
        guard let entry = table.first(where: { $0.network.contains(address) }) else {
            guard address.isIPv6, address.bytes[0] & 0xE0 != 0x20 else { return nil }
            self = .notGlobalUnicast
            return
        }
        self = entry.use
    }

    private typealias Entry = (network: IPNetwork, use: AddressUse)

    /// The first entry that contains the address applies.
    private static let ofIPv4: [Entry] = entries([
        ("0.0.0.0/8", .unspecified),
        ("10.0.0.0/8", .privateUse),
        ("100.64.0.0/10", .sharedAddressSpace),
        ("127.0.0.0/8", .loopback),
        // Azure's platform channel, https://learn.microsoft.com/azure/virtual-network/
        ("168.63.129.16/32", .cloudHost),
        ("169.254.0.0/16", .linkLocal),
        ("172.16.0.0/12", .privateUse),
        ("192.0.0.0/24", .protocolAssignment),
        ("192.0.2.0/24", .documentation),
        ("192.88.99.0/24", .sixToFour),
        ("192.168.0.0/16", .privateUse),
        ("198.18.0.0/15", .benchmarking),
        ("198.51.100.0/24", .documentation),
        ("203.0.113.0/24", .documentation),
        ("224.0.0.0/4", .multicast),
        ("255.255.255.255/32", .broadcast),
        ("240.0.0.0/4", .reserved),
    ])

    private static let ofIPv6: [Entry] = entries([
        ("::/128", .unspecified),
        ("::1/128", .loopback),
        ("::/96", .embeddedIPv4),
        ("::ffff:0:0/96", .embeddedIPv4),
        ("::ffff:0:0:0/96", .embeddedIPv4),
        ("64:ff9b::/96", .nat64),
        ("64:ff9b:1::/48", .nat64),
        ("100::/64", .reserved),
        ("2001::/32", .teredo),
        ("2001:2::/48", .benchmarking),
        ("2001::/23", .protocolAssignment),
        ("2001:db8::/32", .documentation),
        ("2002::/16", .sixToFour),
        ("3fff::/20", .documentation),
        ("fc00::/7", .uniqueLocal),
        ("fe80::/10", .linkLocal),
        ("fec0::/10", .siteLocal),
        ("ff00::/8", .multicast),
    ])

    private static func entries(_ texts: [(String, AddressUse)]) -> [Entry] {
        texts.map { text, use in
            guard let network = IPNetwork(text) else {
                preconditionFailure("\(text) is not a network")
            }
            return (network, use)
        }
    }
}

extension AddressUse: CustomStringConvertible {
    /// A description of the address.
    package var description: String {
        switch self {
        case .unspecified: "it means this machine"
        case .loopback: "it is this machine"
        case .privateUse: "it is in a private network"
        case .sharedAddressSpace: "it is in a provider's inner network"
        case .linkLocal: "it is link-local"
        case .cloudHost: "it is an internal host of a cloud provider"
        case .protocolAssignment: "it is reserved for a protocol"
        case .documentation: "it is for examples only"
        case .benchmarking: "it is for network benchmarks"
        case .multicast: "it is a multicast address"
        case .broadcast: "it is the broadcast address"
        case .reserved: "it is reserved"
        case .uniqueLocal: "it is in a private network"
        case .siteLocal: "it is in a private network"
        case .embeddedIPv4: "it embeds an IPv4 address"
        case .sixToFour: "it is a tunnel (6to4)"
        case .teredo: "it is a tunnel (Teredo)"
        case .nat64: "it is a translation (NAT64)"
        case .notGlobalUnicast: "it is not a public address"
        }
    }
}
