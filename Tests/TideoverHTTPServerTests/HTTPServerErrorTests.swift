import Testing
import TideoverHTTP
import TideoverHTTPServer

/// The messages for a server that does not start.
@Suite struct HTTPServerErrorTests {
    @Test func `an error names the problem and its place`() throws {
        let address = try #require(ListenAddress("[::1]:80"))
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
