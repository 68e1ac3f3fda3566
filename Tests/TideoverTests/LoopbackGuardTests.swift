import Testing
import TideoverCommandLine
import TideoverHTTP
import TideoverHTTPClient
import TideoverHTTPServer
import TideoverJSON

@testable import tideover

/// Tests which requests simulated stores on loopback accept.
@Suite struct LoopbackGuardTests {
    @Test(
        arguments: [
            "127.0.0.1:9090", "127.0.0.1", "localhost:9090", "LOCALHOST", "store.localhost:9090",
            "[::1]:9090", "127.0.0.2:9090",
        ]
    )
    func `programs of this machine are accepted`(_ host: String) throws {
        let loopbackGuard = try #require(LoopbackGuard(listeningAt: "127.0.0.1"))
        #expect(loopbackGuard.refusal(of: Request(path: "/clock", headers: ["Host": host])) == nil)
    }

    @Test(
        arguments: [
            "evil.example:9090", "127.0.0.1.evil.example", "localhost.evil.example", "192.0.2.1",
            "notlocalhost", "[2001:db8::1]:9090", "",
        ]
    )
    func `a foreign name that resolves to loopback is refused`(_ host: String) throws {
        let loopbackGuard = try #require(LoopbackGuard(listeningAt: "::1"))
        #expect(loopbackGuard.refusal(of: Request(path: "/clock", headers: ["Host": host])) != nil)
    }

    @Test(
        arguments: [
            ("http://127.0.0.1:3000", true), ("http://localhost:3000", true),
            ("http://[::1]", true), ("https://evil.example", false), ("null", false),
            ("http://localhost.evil.example", false),
            ("http://evil.example/http://localhost", false),
        ]
    )
    func `a web page of another origin is refused`(_ origin: String, isLetIn: Bool) throws {
        let loopbackGuard = try #require(LoopbackGuard(listeningAt: "127.0.0.1"))
        let request = Request(
            method: "POST",
            path: "/control",
            headers: ["Host": "127.0.0.1:9090", "Origin": origin]
        )
        #expect((loopbackGuard.refusal(of: request) == nil) == isLetIn)
    }

    @Test(arguments: ["0.0.0.0", "192.0.2.7", "::"])
    func `stores on a public address have no loopback check`(_ host: String) {
        #expect(LoopbackGuard(listeningAt: host) == nil)
    }

    @Test func `the stores use the loopback check`() async throws {
        let storeServer = StoreServer(root: [1, 2, 3])
        let address = try #require(ListenAddress("127.0.0.1:0"))
        try storeServer.listen(at: address, otherwise: "")
        let client = try HTTPClient(userAgent: "test")
        let url = try HTTPURL(try #require(storeServer.url))
        let ask = client.handler(under: Destination(url, addresses: .any, limits: .storeAnswer))
        #expect(try await ask(Request(path: "/root.der")).status == 200)
        let page = Request(path: "/root.der", headers: ["Origin": "https://evil.example"])
        let refused = try await ask(page)
        #expect(refused.status == 403)
        #expect(try JSONDocument(refused.body).root["fault"]?.string?.contains("web pages") == true)
        await storeServer.close()
    }
}
