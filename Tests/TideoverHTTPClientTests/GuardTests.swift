import Testing
import TideoverHTTP
import TideoverHTTPClient

/// Tests the guard with a listener on loopback, which must never receive a connection.
@Suite(.timeLimit(.minutes(20))) struct GuardTests {
    private let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    @Test(arguments: [
        "127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f.1", "0x7f000001", "0x7f.0.0.1",
        "017700000001", "0177.0.0.1", "0", "0.0.0.0", "127.9.9.9", "localhost", "LOCALHOST",
        "localhost.", "[::1]", "[::]", "[::ffff:7f00:1]", "[::ffff:127.0.0.1]", "[::127.0.0.1]",
        "[0:0:0:0:0:ffff:7f00:0001]", "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]",
        "[2002:7f00:1::1]", "[::ffff:0:7f00:1]",
    ])
    func `no spelling of a loopback address passes`(host: String) async throws {
        let peer = try RawPeer { [ok] peer in
            peer.readHead()
            peer.write(ok)
        }
        let there = try destination("http://\(host):\(peer.port)/", .publicOnly(allow: []))
        let client = try client()
        do throws(HTTPClientError) {
            let answer = try await client.send(to: there)
            Issue.record("\(host) answered \(answer.status)")
        } catch {
            switch error {
            case .addressRefused: break
            // The system may have no entry for this name, or no name server.
            case .cannotResolve, .timedOut(.resolving):
                #expect(host.lowercased().hasPrefix("localhost"))
            default: Issue.record("\(host): \(error)")
            }
        }
        #expect(peer.connections == 0)
    }

    @Test(arguments: [
        ("10.0.0.1", AddressUse.privateUse), ("192.168.1.1", .privateUse),
        ("169.254.169.254", .linkLocal), ("100.100.100.200", .sharedAddressSpace),
        ("255.255.255.255", .broadcast), ("[fd00:ec2::254]", .uniqueLocal),
        ("[fe80::1]", .linkLocal), ("[fec0::1]", .siteLocal),
    ])
    func `a refused address is reported at once`(host: String, use: AddressUse) async throws {
        let there = try destination("http://\(host)/", .publicOnly(allow: []))
        let bare = host.filter { !"[]".contains($0) }
        let address = try #require(IPAddress(bare))
        await #expect(throws: HTTPClientError.addressRefused(address, use)) {
            try await client().send(to: there)
        }
    }

    @Test func `a request to an allowed network succeeds`() async throws {
        let peer = try RawPeer { [ok] peer in
            peer.readHead()
            peer.write(ok)
        }
        let network = try #require(IPNetwork("127.0.0.0/8"))
        for host in ["127.0.0.1", "2130706433"] {
            let url = "http://\(host):\(peer.port)/"
            let there = try destination(url, .publicOnly(allow: [network]))
            #expect(try await client().send(to: there).text == "ok")
        }
    }

    @Test func `a reused connection does not bypass the guard`() async throws {
        let peer = try RawPeer { [ok] peer in
            while !peer.readHead().isEmpty { peer.write(ok) }
        }
        let client = try client()
        let trusted = try destination(peer.url())
        let entered = try destination(peer.url(), .publicOnly(allow: []))
        let loopback = try #require(IPAddress("127.0.0.1"))
        for _ in 0..<3 {
            #expect(try await client.send(to: trusted).text == "ok")
            await #expect(throws: HTTPClientError.addressRefused(loopback, .loopback)) {
                try await client.send(to: entered)
            }
        }
    }

    @Test func `a guarded request through a proxy is refused`() async throws {
        let client = try HTTPClient(userAgent: "tideover/test", proxy: .environment)
        let there = try destination("http://127.0.0.1:1/", .publicOnly(allow: []))
        await #expect(throws: HTTPClientError.unguardable) { try await client.send(to: there) }
    }
}
