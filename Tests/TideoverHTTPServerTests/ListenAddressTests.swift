import Testing
import TideoverHTTPServer

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
        "[::1]8080", "[::1:8080", "localhost:8080", "example.com:80", "256.0.0.1:80",
        " 127.0.0.1:80",
        "127.0.0.1:٨",
    ])
    func `anything else is not`(text: String) {
        #expect(ListenAddress(text) == nil)
    }

    @Test func `an error says what is wrong where`() throws {
        let address = try ListenAddress(host: "[::1]", port: 80)
        let sentences: [HTTPServerError: String] = [
            .addressInUse(address): "[::1]:80 is in use already",
            .notPermitted(address): "this process may not listen on [::1]:80",
            .addressNotAvailable(address): "[::1]:80 is not an address of this machine",
            .notAnAddress("x"): "\"x\" is not an IPv4 or IPv6 address",
            .notAPort(-1): "-1 is not a port from 0 to 65535",
            .system(call: "bind", code: 22): "bind failed: Invalid argument",
        ]
        for (error, sentence) in sentences { #expect(error.description == sentence) }
    }
}
