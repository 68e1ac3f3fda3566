import Synchronization
import Testing
import TideoverHTTP
import TideoverJSON
import TideoverSQLite
import TideoverServer

/// What the log tells of requests.
@Suite struct RequestLogTests {
    /// Every look at the clock is two milliseconds after the one before, every id one more.
    private static func instruments() -> Instruments {
        let looks = Counter()
        let ids = Counter()
        return Instruments(
            uptime: { looks.next() * 2_000_000 },
            requestID: { "r\(ids.next())" }
        )
    }

    @Test(arguments: [
        (
            "GET", "/healthz",
            #""method":"GET","route":"/healthz","request":"r1","status":200,"durationMs":2.0}"#
        ),
        (
            "GET", "/v1/apps/cards/customers/u_42?environment=sandbox",
            #""app":"cards","environment":"sandbox","method":"GET","#
                + #""route":"/v1/apps/{app}/customers/{customer}","request":"r1","status":200,"#
                + #""durationMs":2.0}"#
        ),
        (
            "GET", "/v1/apps/other/customers/u_42",
            #""code":"unknown-app","method":"GET","route":"/v1/apps/{app}/customers/{customer}","#
                + #""request":"r1","status":404,"durationMs":2.0}"#
        ),
        (
            "DELETE", "/v1/apps/cards/customers/u_42",
            #""app":"cards","code":"method-not-allowed","method":"DELETE","#
                + #""route":"/v1/apps/{app}/customers/{customer}","request":"r1","status":405,"#
                + #""durationMs":2.0}"#
        ),
        (
            "BREW", "/tea",
            #""code":"not-found","method":"other","route":"none","request":"r1","status":404,"#
                + #""durationMs":2.0}"#
        ),
    ])
    func `a request is one line`(method: String, target: String, line: String) async throws {
        let server = try TestServer(instruments: Self.instruments())
        let response = try await server.send(method, target)
        #expect(response.headers["X-Request-Id"] == "r1")
        let start = #"{"time":"2026-05-01T10:00:05.000Z","level":"info","event":"request","#
        #expect(server.logged == [start + line])
        await server.close()
    }

    @Test func `every route says its id, and the log knows it`() async throws {
        for route in Service.routes {
            // Each of its own: of refusals for one reason only the first few have lines.
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

    @Test func `what happened to a notification is told under the request's id`() async throws {
        let server = try TestServer(instruments: Self.instruments())
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
                ["request", "-", "-", "r1"],
                ["request", "untrusted-root", "-", "r2"],
            ]
        )
        await server.close()
    }

    @Test func `a failure of the storage is told under the request's id`() async throws {
        let server = try TestServer(instruments: Self.instruments())
        await server.storage.close()
        let target = "/v1/apps/cards/customers/\(TestServer.anna)?environment=sandbox"
        #expect(try await server.get(target).status == 503)
        #expect(server.logged.count == 2)
        #expect(server.logged.allSatisfy { $0.contains(#""request":"r1""#) })
        await server.close()
    }
}

/// Counts from one.
final class Counter: Sendable {
    private let latest = Atomic<Int64>(0)

    func next() -> Int64 { latest.wrappingAdd(1, ordering: .relaxed).newValue }
}
