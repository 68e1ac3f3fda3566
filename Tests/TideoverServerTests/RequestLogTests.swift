import Synchronization
import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSQLite
import TideoverServer

@testable import TideoverTestServer

/// The log lines of requests.
@Suite struct RequestLogTests {
    /// Each reading of the clock is two milliseconds after the previous one, and each id is one
    /// higher.
    private static func probes() -> Probes {
        let looks = Counter()
        let ids = Counter()
        return Probes(
            uptime: { looks.next() * 2_000_000 },
            requestID: { "r\(ids.next())" }
        )
    }

    @Test(arguments: [
        (
            "GET", "/healthz",
            #""method":"GET","route":"/healthz","request":"r1","key":"configured","status":200,"#
                + #""durationMs":2.0}"#
        ),
        (
            "GET", "/v1/apps/cards/customers/u_42?environment=sandbox",
            #""app":"cards","environment":"sandbox","method":"GET","#
                + #""route":"/v1/apps/{app}/customers/{customer}","request":"r1","#
                + #""key":"configured","status":200,"durationMs":2.0}"#
        ),
        (
            "GET", "/v1/apps/other/customers/u_42",
            #""code":"unknown-app","method":"GET","route":"/v1/apps/{app}/customers/{customer}","#
                + #""request":"r1","key":"configured","status":404,"durationMs":2.0}"#
        ),
        (
            "PATCH", "/v1/apps/cards/customers/u_42",
            #""app":"cards","code":"method-not-allowed","method":"PATCH","#
                + #""route":"/v1/apps/{app}/customers/{customer}","request":"r1","#
                + #""key":"configured","status":405,"durationMs":2.0}"#
        ),
        (
            "BREW", "/tea",
            #""code":"not-found","method":"other","route":"none","request":"r1","#
                + #""key":"configured","status":404,"durationMs":2.0}"#
        ),
    ])
    func `a request adds one log line`(method: String, target: String, line: String) async throws {
        let server = try TestServer(probes: Self.probes())
        let response = try await server.send(method, target)
        #expect(response.headers["X-Request-Id"] == "r1")
        let start = #"{"time":"2026-05-01T10:00:05.000Z","level":"info","event":"request","#
        #expect(server.logged == [start + line])
        await server.close()
    }

    @Test func `every response contains the request id of the log`() async throws {
        for route in Service.routes {
            // A new server for each, because only the first rejections for one reason are logged.
            let server = try TestServer()
            let path = route.template.replacing("{app}", with: "cards")
                .replacing("{customer}", with: TestServer.anna)
            let id = try #require(
                try await server.send(route.method, path).headers["X-Request-Id"]
            )
            #expect(id.utf8.count == 16)
            let lines = server.logged.filter { $0.contains(#""request":"\#(id)""#) }
            let count = lines.count { $0.contains(#""event":"request""#) }
            #expect(count == 1, "\(route.method) \(route.template)")
            #expect(lines.contains { $0.contains(#""route":"\#(route.template)""#) })
            await server.close()
        }
    }

    static let senders: [(peer: String?, forwarded: String?, network: String?)] = [
        ("192.0.2.77", nil, "192.0.2.0/24"), ("::ffff:192.0.2.77", nil, "192.0.2.0/24"),
        ("2001:db8:1:2::9", nil, "2001:db8:1::/48"),
        ("192.0.2.77", "198.51.100.9", "192.0.2.0/24"),
        ("10.0.0.7", "203.0.113.200, 10.0.0.8", "203.0.113.0/24"), (nil, "203.0.113.200", nil),
    ]

    @Test(arguments: senders)
    func `a request line contains the sender's network and never the address`(
        peer: String?,
        forwarded: String?,
        network: String?
    ) async throws {
        let proxies = TrustedProxies([try #require(IPNetwork("10.0.0.0/8"))])
        let server = try TestServer(clients: ClientLimits(trustedProxies: proxies))
        var request = Request(path: "/healthz", peer: peer)
        request.headers["X-Forwarded-For"] = forwarded
        _ = try await server.service.handler(request)
        let line = try #require(server.logged.last { $0.contains(#""event":"request""#) })
        #expect(try JSONDocument(line).root["network"]?.string == network)
        #expect(!line.contains(".77") && !line.contains(".200") && !line.contains("::9"))
        await server.close()
    }

    @Test func `a request line contains the id of its key and never the key`() async throws {
        let server = try TestServer()
        let body = Array(#"{"kind": "secret", "apps": ["cards"], "name": "back end"}"#.utf8)
        let made = try JSONDocument(try await server.send("POST", "/v1/keys", body: body).body).root
        let key = try #require(made["key"]?.string)
        let id = try #require(made["id"]?.string)
        let target = "/v1/apps/cards/customers/u_42?environment=sandbox"
        let cases: [(String?, String?)] = [
            ("Bearer \(key)", id), ("Bearer \(key)x", nil), (nil, nil),
        ]
        for (presented, named) in cases {
            let headers: Headers = presented.map { ["Authorization": $0] } ?? [:]
            _ = try await server.ask("GET", target, headers: headers)
            let line = try #require(server.logged.last)
            #expect(try JSONDocument(line).root["key"]?.string == named)
            #expect(!line.contains(key))
        }
        await server.close()
    }

    @Test func `the result of a notification is logged with the request id`() async throws {
        let server = try TestServer(probes: Self.probes())
        _ = try await server.post(.purchase())
        let forged = try Message.purchase("n-2").body(server.store, defect: .unknownRoot)
        _ = try await server.post(forged)
        let events = try server.logged.map { line in
            let line = try JSONDocument(Array(line.utf8)).root
            return ["event", "code", "environment", "request"].map { line[$0]?.string ?? "-" }
        }
        #expect(
            events == [
                ["notification committed", "SUBSCRIBED", "sandbox", "r1"],
                ["request", "-", "sandbox", "r1"],
                ["request", "untrusted-root", "-", "r2"],
            ]
        )
        await server.close()
    }

    @Test(
        arguments: [
            ([.production, .sandbox], "GET", "customers/u_42", "production"),
            ([.production, .sandbox], "GET", "customers/u_42?environment=sandbox", "sandbox"),
            ([.production, .sandbox], "POST", "customers/u_42/reconcile", "production"),
            ([.sandbox, .simulated], "POST", "customers/u_42/reconcile", "sandbox"),
            // The keys of passes are those of all environments.
            ([.production, .sandbox], "GET", "pass-keys", nil),
            ([.production], "GET", "pass-keys", "production"),
        ] as [([Environment], String, String, String?)]
    )
    func `a request line names the environment that it concerns`(
        environments: [Environment],
        method: String,
        target: String,
        environment: String?
    ) async throws {
        let server = try TestServer(environments: environments)
        let body = Array((method == "POST" ? "{}" : "").utf8)
        let response = try await server.send(method, "/v1/apps/cards/\(target)", body: body)
        #expect(response.status == 200)
        let line = try JSONDocument(Array(try #require(server.logged.last).utf8)).root
        #expect(line["event"]?.string == "request")
        #expect(line["environment"]?.string == environment)
        await server.close()
    }

    @Test func `a notification of an environment that is not served is logged with it`()
        async throws
    {
        let server = try TestServer(environments: [.production])
        #expect(try await server.post(.purchase()).status == 422)
        let line = try JSONDocument(Array(try #require(server.logged.last).utf8)).root
        #expect(line["code"]?.string == "wrong-environment")
        #expect(line["environment"]?.string == "sandbox")
        #expect(
            line["detail"]?.string
                == "This is from the environment sandbox; the app accepts production."
        )
        await server.close()
    }

    @Test func `why a notification is rejected is logged, but no text of its signature's header`()
        async throws
    {
        let server = try TestServer()
        func detail(_ body: String) async throws -> String? {
            _ = try await server.post(Array(body.utf8))
            let line = try JSONDocument(Array(try #require(server.logged.last).utf8)).root
            #expect(line["code"]?.string != nil)
            return line["detail"]?.string
        }
        #expect(
            try await detail("{}") == "The member signedPayload is missing. Notifications of "
                + "version 1 do not have it: choose version 2 in App Store Connect."
        )
        let header = Base64.encodeString(Array(#"{"alg":"CANARY"}"#.utf8), .urlSafe)
        #expect(try await detail(#"{"signedPayload": "\#(header).e30.AAAA"}"#) == nil)
        #expect(!server.logged.contains { $0.contains("CANARY") })
        await server.close()
    }

    @Test func `a failure of the storage is logged with the request id`() async throws {
        let server = try TestServer(probes: Self.probes())
        await server.storage.close()
        let target = "/v1/apps/cards/customers/\(TestServer.anna)?environment=sandbox"
        #expect(try await server.get(target).status == 503)
        #expect(server.logged.count == 2)
        #expect(server.logged.allSatisfy { $0.contains(#""request":"r1""#) })
        await server.close()
    }
}
