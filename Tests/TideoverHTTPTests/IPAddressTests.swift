import Foundation
import Testing
import TideoverHTTP

@Suite struct IPAddressTests {
    @Test(arguments: [
        ("10.0.0.0/8", "10.0.0.0/8"), ("10.1.2.3", "10.1.2.3/32"), ("0.0.0.0/0", "0.0.0.0/0"),
        ("FD00::/8", "fd00::/8"), ("::1", "::1/128"), ("2001:db8::/33", "2001:db8::/33"),
    ])
    func `a network is read in the usual notations`(text: String, canonical: String) {
        #expect(IPNetwork(text)?.description == canonical)
    }

    @Test(arguments: [
        "", "10", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8",
        "10.0.0.1/8", "fd00::1/8", "::/129", "10.0.0.0/08x", "0x0a.0.0.0/8", "010.0.0.0.0/8",
        " 10.0.0.0/8", "localhost", "fe80::1%lo/128", "[::1]/128", "/8",
    ])
    func `a malformed network is refused`(text: String) {
        #expect(IPNetwork(text) == nil)
    }

    @Test func `an address has 4 or 16 bytes`() {
        #expect(IPAddress(bytes: [127, 0, 0, 1])?.description == "127.0.0.1")
        #expect(IPAddress(bytes: [UInt8](repeating: 0, count: 15)) == nil)
        #expect(IPAddress(bytes: []) == nil)
        #expect(IPAddress("::ffff:7f00:1")?.description == "::ffff:127.0.0.1")
    }

    /// Each of these texts is inserted into an address at every relevant position.
    private static let pieces = [
        "", "0", "00", "1", "01", "9", "10", "255", "256", "1000", "f", "F", "abcd", "12345", "g",
        "+1", "-1", "0x1", "1.2.3.4", "1.2.3", "127.0.0.1", "::", ":", ":::", "%lo", " ", "\u{0}",
        "é", "\u{0301}", "٣",
    ]

    private static let texts: [String] = {
        var texts = pieces + pieces.flatMap { one in pieces.map { "\(one):\($0)" } }
        texts += pieces.flatMap { one in pieces.map { "\(one)::\($0)" } }
        texts += pieces.flatMap { ["1.2.3.\($0)", "\($0).2.3.4", "1.\($0).3.4", "1.2.3.4\($0)"] }
        for count in 1...9 {
            let groups = [String](repeating: "a", count: count).joined(separator: ":")
            texts += pieces.flatMap {
                ["\(groups):\($0)", "\($0):\(groups)", "\(groups)::\($0)", "\(groups)\($0)"]
            }
            texts += (0...count).map { place in
                let words = [String](repeating: "b", count: count)
                return (words.prefix(place) + [""] + words.suffix(count - place))
                    .joined(separator: ":")
            }
        }
        return texts
    }()

    @Test func `addresses are read as the system reads them`() {
        var read = 0
        for text in Self.texts {
            let known = System.bytes(of: text)
            #expect(IPAddress(text)?.bytes == known, "\(text)")
            read += known == nil ? 0 : 1
        }
        #expect(read > 100)
    }

    @Test func `addresses are written as the system writes them, and read back the same`() {
        for seed in 0..<4096 {
            // Every pattern of zero groups, including those around mapped IPv4 addresses.
            let filling: UInt16 = seed & 256 == 0 ? 0xFFFF : 0x0A1
            let bytes = (0..<8).flatMap { group -> [UInt8] in
                let isZero = seed >> group & 1 == 0
                let number = isZero ? 0 : filling >> UInt16(seed / 512)
                return [UInt8(number >> 8), UInt8(number & 255)]
            }
            let address = IPAddress(bytes: bytes)
            #expect(address?.description == System.text(of: bytes))
            #expect(address.flatMap { IPAddress($0.description) } == address)
        }
    }

    @Test(arguments: [
        ("192.0.2.7", "192.0.2.7/32"), ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::", "2001:db8:1:2::/64"), ("::1", "::/64"),
    ])
    func `a client is one IPv4 address or 64 bits of IPv6`(
        address: String,
        network: String
    ) throws {
        let address = try #require(IPAddress(address))
        #expect(IPNetwork(ofClient: address).description == network)
    }

    @Test func `an IPv4-mapped address is unmapped`() {
        #expect(IPAddress("::ffff:192.0.2.7")?.unmapped.description == "192.0.2.7")
        for text in ["192.0.2.7", "::192.0.2.7", "::fffe:192.0.2.7", "2001:db8::1"] {
            #expect(IPAddress(text)?.unmapped == IPAddress(text))
        }
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("127.255.1.2", true), ("128.0.0.1", false), ("::1", true),
        ("::2", false), ("10.0.0.1", false),
    ])
    func `loopback addresses are recognised`(address: String, isLoopback: Bool) throws {
        let address = try #require(IPAddress(address))
        #expect(IPNetwork.loopback.contains { $0.contains(address) } == isLoopback)
    }
}

/// The C library's own parser and formatter.
private enum System {
    static func bytes(of text: String) -> [UInt8]? {
        // A zero byte would end the text for the system, but not for `IPAddress`.
        guard !text.utf8.contains(0) else { return nil }
        var storage = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &storage) == 1 { return Array(storage.prefix(4)) }
        return inet_pton(AF_INET6, text, &storage) == 1 ? storage : nil
    }

    static func text(of bytes: [UInt8]) -> String {
        var text = [CChar](repeating: 0, count: 46)
        inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &text, 46)
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
