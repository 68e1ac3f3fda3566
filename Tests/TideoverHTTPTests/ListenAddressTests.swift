import Testing
import TideoverHTTP

/// The addresses on which a server can listen.
@Suite struct ListenAddressTests {
    @Test(arguments: [
        ("127.0.0.1:8080", "127.0.0.1", 8080), ("[::1]:8080", "::1", 8080),
        ("0.0.0.0:0", "0.0.0.0", 0),
        ("[::]:65535", "::", 65_535), ("[fe80::1]:1", "fe80::1", 1),
    ])
    func `an address literal with a port is read and written back`(
        text: String,
        host: String,
        port: Int
    ) throws {
        let address = try #require(ListenAddress(text))
        #expect(address.host == host)
        #expect(address.port == port)
        #expect(address.description == text)
    }

    @Test(arguments: [
        "", ":", "8080", ":8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:-1", "127.0.0.1:+1",
        "127.0.0.1:65536", "127.0.0.1:8080x", "127.1:80", "[127.0.0.1]:80", "::1:8080", "[::1]",
        "[::1]8080", "[::1:8080", "example.com:80", "256.0.0.1:80",
        " 127.0.0.1:80", "127.0.0.1:80 ", "127.0.0.1:٨", "127.0.0.1\u{0}:80", "[]:80",
        "[::1%lo]:80",
        "localhost:99999999999999999999",
    ])
    func `any other text is refused`(text: String) {
        #expect(ListenAddress(text) == nil)
    }

    @Test func `localhost is the IPv4 loopback address`() {
        #expect(ListenAddress("localhost:0") == ListenAddress("127.0.0.1:0"))
    }

    @Test func `a listen address can be made from host and port`() {
        #expect(ListenAddress(host: "[::1]", port: 80) == ListenAddress("[::1]:80"))
        #expect(ListenAddress(host: "::1", port: 80) == ListenAddress("[::1]:80"))
        #expect(ListenAddress(host: "[127.0.0.1]", port: 80) == nil)
        #expect(ListenAddress(host: "127.0.0.1", port: 65_536) == nil)
        #expect(ListenAddress(host: "localhost", port: 80) == nil)
    }
}
