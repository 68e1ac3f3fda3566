import Testing
import TideoverHTTP

/// Tests which client sent a request.
@Suite struct TrustedProxiesTests {
    private static let proxies = TrustedProxies(
        ["10.0.0.0/8", "192.0.2.1", "fd00::/8"].compactMap { IPNetwork($0) }
    )

    private func client(_ peer: String?, _ forwarded: [String] = []) -> String? {
        var request = Request(path: "/", peer: peer)
        for value in forwarded { request.headers.append("X-Forwarded-For", value) }
        return Self.proxies.client(of: request)?.description
    }

    @Test(arguments: ["198.51.100.7", "2001:db8::7", "127.0.0.1", "::1", "192.0.2.2"])
    func `an untrusted peer is the client, whatever its headers contain`(peer: String) {
        #expect(client(peer) == peer)
        #expect(client(peer, ["203.0.113.9"]) == peer)
        #expect(client(peer, ["10.0.0.1", "203.0.113.9, 10.0.0.1"]) == peer)
    }

    @Test(arguments: [
        (["203.0.113.9"], "203.0.113.9"),
        // Entries to the left of a trusted proxy's are not verified.
        (["198.51.100.1, 203.0.113.9"], "203.0.113.9"),
        (["10.0.0.9, 203.0.113.9"], "203.0.113.9"),
        (["evil, 203.0.113.9"], "203.0.113.9"),
        ([",,, 203.0.113.9"], "203.0.113.9"),
        (["203.0.113.9, 10.1.1.1, fd00::1"], "203.0.113.9"),
        (["198.51.100.1, 203.0.113.9,10.1.1.1"], "203.0.113.9"),
        // Several lines are read as one, in order.
        (["198.51.100.1", "203.0.113.9"], "203.0.113.9"),
        (["203.0.113.9", "10.1.1.1"], "203.0.113.9"),
        // Forms that some proxies write.
        (["203.0.113.9:51234"], "203.0.113.9"), (["[2001:db8::9]:51234"], "2001:db8::9"),
        (["[2001:db8::9]"], "2001:db8::9"), (["\t 2001:DB8::9 "], "2001:db8::9"),
        (["::ffff:203.0.113.9"], "203.0.113.9"), (["::ffff:10.0.0.9"], "10.0.0.9"),
        // All are trusted: the client is the left-most.
        (["10.1.1.1, 10.2.2.2"], "10.1.1.1"), (["192.0.2.1"], "192.0.2.1"),
    ])
    func `behind trusted proxies the right-most other address is the client`(
        forwarded: [String],
        expected: String
    ) {
        #expect(client("10.0.0.1", forwarded) == expected)
        #expect(client("::ffff:10.0.0.1", forwarded) == expected)
    }

    @Test(arguments: [
        [], [""], [" "], ["unknown"], ["203.0.113.9,"], ["203.0.113.9, "], ["203.0.113.9 x"],
        ["203.0.113.9:"], ["203.0.113.9:x"], ["203.0.113.9:1234567"], ["[203.0.113.9]"],
        ["[2001:db8::9"], ["[2001:db8::9]x"], ["[2001:db8::9]:"], ["2001:db8::9]"], ["[]"], ["["],
        [":80"], ["203.0.113.9, evil"], ["evil, 10.0.0.2"], ["203.0.113.9", "evil"],
        ["203.0.113.9;203.0.113.9"], ["for=203.0.113.9"], ["fe80::1%eth0"], ["010.0.0.1"],
    ])
    func `without a valid field the peer is the client`(forwarded: [String]) {
        #expect(client("10.0.0.1", forwarded) == "10.0.0.1")
    }

    /// U+0600 forms one character with the next one, even a comma.
    @Test(arguments: ["\u{0600}", "e\u{0301}", "\u{200D}", "\u{1F1E6}", "\u{0600}\u{0600}"])
    func `a client's field cannot hide what the proxy adds`(hearsay: String) {
        for comma in [",", ", ", " , "] {
            #expect(client("10.0.0.1", ["\(hearsay)\(comma)203.0.113.9"]) == "203.0.113.9")
        }
        #expect(client("10.0.0.1", [hearsay, "203.0.113.9"]) == "203.0.113.9")
    }

    @Test func `a request without a socket has no client`() {
        #expect(client(nil) == nil)
        #expect(client(nil, ["203.0.113.9"]) == nil)
        #expect(client("somewhere", ["203.0.113.9"]) == nil)
    }

    @Test func `no proxy is trusted by default`() {
        let request = Request(
            path: "/",
            headers: ["X-Forwarded-For": "203.0.113.9"],
            peer: "127.0.0.1"
        )
        #expect(TrustedProxies().client(of: request)?.description == "127.0.0.1")
    }

    @Test func `a long field is parsed cheaply and hides no address`() {
        let hearsay = String(repeating: "::", count: 7_000)
        #expect(client("10.0.0.1", ["\(hearsay), 203.0.113.9"]) == "203.0.113.9")
        #expect(client("10.0.0.1", ["203.0.113.9, \(hearsay)"]) == "10.0.0.1")
    }
}
