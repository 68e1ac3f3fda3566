import Testing
import TideoverHTTP
import TideoverHTTPClient

/// One address as hexadecimal bytes, so that the test uses no parser.
struct Example: Sendable, CustomTestStringConvertible {
    let hex: String
    let use: AddressUse?

    var testDescription: String { "\(hex) \(use?.rawValue ?? "public")" }

    init(_ hex: String, _ use: AddressUse?) {
        self.hex = hex
        self.use = use
    }

    var address: IPAddress? {
        let digits = Array(hex.filter { $0 != " " })
        return IPAddress(
            bytes: stride(from: 0, to: digits.count - 1, by: 2).compactMap {
                UInt8(String(digits[$0...($0 + 1)]), radix: 16)
            }
        )
    }
}

private let ofIPv4: [Example] = [
    // this host
    Example("00000000", .unspecified), Example("00000001", .unspecified),
    Example("00ffffff", .unspecified),
    // loopback, up to both boundaries
    Example("7f000000", .loopback), Example("7f000001", .loopback),
    Example("7f000101", .loopback), Example("7fffffff", .loopback),
    Example("7effffff", nil), Example("80000000", nil),
    // private, up to the boundaries
    Example("09ffffff", nil), Example("0a000000", .privateUse), Example("0affffff", .privateUse),
    Example("0b000000", nil), Example("ac0fffff", nil), Example("ac100000", .privateUse),
    Example("ac1fffff", .privateUse), Example("ac200000", nil), Example("c0a7ffff", nil),
    Example("c0a80000", .privateUse), Example("c0a8ffff", .privateUse), Example("c0a90000", nil),
    // behind a provider's address translation
    Example("643fffff", nil), Example("64400000", .sharedAddressSpace),
    Example("646464c8", .sharedAddressSpace), Example("647fffff", .sharedAddressSpace),
    Example("64800000", nil),
    // link-local, where cloud providers serve credentials, and a host service that looks public
    Example("a9fdffff", nil), Example("a9fe0000", .linkLocal), Example("a9fea9fe", .linkLocal),
    Example("a9feffff", .linkLocal), Example("a9ff0000", nil), Example("a83f8110", .cloudHost),
    Example("a83f8111", nil),
    // reserved for protocols and documentation
    Example("c0000000", .protocolAssignment), Example("c00000c0", .protocolAssignment),
    Example("c0000100", nil), Example("c0000200", .documentation),
    Example("c00002ff", .documentation), Example("c0000300", nil),
    Example("c0586301", .sixToFour), Example("c6120000", .benchmarking),
    Example("c613ffff", .benchmarking), Example("c6140000", nil),
    Example("c6336401", .documentation), Example("cb007101", .documentation),
    // multicast, reserved and broadcast
    Example("dfffffff", nil), Example("e0000000", .multicast), Example("e0000001", .multicast),
    Example("efffffff", .multicast), Example("f0000000", .reserved),
    Example("fffffffe", .reserved), Example("ffffffff", .broadcast),
    // public
    Example("01010101", nil), Example("08080808", nil), Example("11fd0a05", nil),
]

private let ofIPv6: [Example] = [
    Example("00000000 00000000 00000000 00000000", .unspecified),
    Example("00000000 00000000 00000000 00000001", .loopback),
    // IPv4 addresses in IPv6 form
    Example("00000000 00000000 00000000 7f000001", .embeddedIPv4),
    Example("00000000 00000000 00000000 a9fea9fe", .embeddedIPv4),
    Example("00000000 00000000 0000ffff 7f000001", .embeddedIPv4),
    Example("00000000 00000000 0000ffff 0a000001", .embeddedIPv4),
    Example("00000000 00000000 0000ffff a9fea9fe", .embeddedIPv4),
    Example("00000000 00000000 0000ffff 08080808", .embeddedIPv4),
    Example("00000000 00000000 ffff0000 7f000001", .embeddedIPv4),
    Example("20020000 00000000 00000000 00000000", .sixToFour),
    Example("20027f00 00010000 00000000 00000001", .sixToFour),
    Example("2002a9fe a9fe0000 00000000 00000001", .sixToFour),
    Example("2002ffff ffffffff ffffffff ffffffff", .sixToFour),
    Example("20030000 00000000 00000000 00000001", nil),
    Example("20010000 4136e378 8000f0ed 80fffffe", .teredo),
    Example("20010000 00000000 00000000 00000000", .teredo),
    Example("0064ff9b 00000000 00000000 7f000001", .nat64),
    Example("0064ff9b 00000000 00000000 a9fea9fe", .nat64),
    Example("0064ff9b 00010000 00000000 0a000001", .nat64),
    Example("0064ff9b 0001ffff ffffffff ffffffff", .nat64),
    Example("0064ff9b 00020000 00000000 00000001", .notGlobalUnicast),
    // private networks
    Example("fbffffff ffffffff ffffffff ffffffff", .notGlobalUnicast),
    Example("fc000000 00000000 00000000 00000001", .uniqueLocal),
    Example("fd00ec20 00000000 00000000 00000254", .uniqueLocal),
    Example("fdffffff ffffffff ffffffff ffffffff", .uniqueLocal),
    Example("fe000000 00000000 00000000 00000001", .notGlobalUnicast),
    Example("fe800000 00000000 00000000 00000001", .linkLocal),
    Example("febfffff ffffffff ffffffff ffffffff", .linkLocal),
    Example("fec00000 00000000 00000000 00000001", .siteLocal),
    Example("feffffff ffffffff ffffffff ffffffff", .siteLocal),
    // multicast and reserved
    Example("ff020000 00000000 00000000 00000001", .multicast),
    Example("ff0e0000 00000000 00000000 00000001", .multicast),
    Example("01000000 00000000 00000000 00000001", .reserved),
    Example("01000000 00000001 00000000 00000001", .notGlobalUnicast),
    Example("5f000000 00000000 00000000 00000001", .notGlobalUnicast),
    Example("1fffffff ffffffff ffffffff ffffffff", .notGlobalUnicast),
    Example("40000000 00000000 00000000 00000001", .notGlobalUnicast),
    // special purposes within routed ranges
    Example("20010002 00000000 00000000 00000001", .benchmarking),
    Example("20010020 00000000 00000000 00000001", .protocolAssignment),
    Example("200101ff ffffffff ffffffff ffffffff", .protocolAssignment),
    Example("20010200 00000000 00000000 00000001", nil),
    Example("20010db8 00000000 00000000 00000001", .documentation),
    Example("20010db9 00000000 00000000 00000001", nil),
    Example("3fff0000 00000000 00000000 00000001", .documentation),
    Example("3fff1000 00000000 00000000 00000001", nil),
    // public
    Example("26064700 47000000 00000000 00001111", nil),
    Example("20014860 48600000 00000000 00008888", nil),
    Example("2a000000 00000000 00000000 00000001", nil),
]

@Suite struct AddressGuardTests {
    @Test(arguments: ofIPv4 + ofIPv6)
    func `each address has a use, and only public internet addresses pass`(
        example: Example
    ) throws {
        let address = try #require(example.address)
        #expect(AddressUse(of: address) == example.use)
        #expect(AddressGuard.publicOnly(allow: []).objection(to: address) == example.use)
        #expect(AddressGuard.any.objection(to: address) == nil)
    }

    @Test func `every use has an example`() {
        let seen = Set((ofIPv4 + ofIPv6).compactMap(\.use))
        #expect(seen == Set(AddressUse.allCases))
        #expect(Set(AddressUse.allCases.map(\.description)).count > 10)
    }

    @Test(arguments: [
        ("10.1.0.0/16", "10.1.2.3", true), ("10.1.0.0/16", "10.2.0.1", false),
        ("10.1.2.3", "10.1.2.3", true), ("10.1.2.3", "10.1.2.4", false),
        ("127.0.0.0/8", "127.9.9.9", true), ("127.0.0.0/8", "::1", false),
        // Allowing an address does not allow its other forms.
        ("127.0.0.0/8", "::ffff:127.0.0.1", false), ("::1", "::1", true),
        ("fd00::/8", "fd12::1", true), ("fd00::/8", "fc12::1", false),
        ("0.0.0.0/0", "169.254.169.254", true), ("0.0.0.0/0", "::1", false),
    ])
    func `an allowed network passes, and its neighbours do not`(
        network: String,
        address: String,
        passes: Bool
    ) throws {
        let network = try #require(IPNetwork(network))
        let address = try #require(IPAddress(address))
        let objection = AddressGuard.publicOnly(allow: [network]).objection(to: address)
        #expect((objection == nil) == passes)
    }
}
