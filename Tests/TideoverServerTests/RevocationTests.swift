import Testing
import TideoverCore
import TideoverDoctor
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverServer
import TideoverSignatures
import TideoverTestResponders

@testable import TideoverTestServer

/// A server that asks the OCSP responder of its store's certificates.
@Suite struct RevocationTests {
    private static let url = "http://responder.test/ocsp"

    private let store: RevocableStore
    private let server: TestServer
    private let uptime = Locked<Int64>(0)
    private let connection = Locked<RevocationChecks.Exchange?>(nil)

    init() throws {
        let store = try RevocableStore(responder: Self.url)
        let (uptime, connection) = (uptime, connection)
        let clock = Locked<Instant>("2026-05-01T10:00:05Z")
        let list = RevocationList()
        let checks = RevocationChecks(list: list) { url, _, request in
            if let exchange = connection.withLock({ $0 }) { return exchange }
            guard url == Self.url,
                let answer = try? store.respond(to: request, at: clock.withLock { $0 })
            else { return .forbidden }
            return .response(status: answer.status, body: answer.body)
        }
        self.store = store
        self.clock = clock
        server = try TestServer(
            store: store.store,
            probes: Probes(uptime: { uptime.withLock { $0 } }),
            revocation: (list, checks)
        )
    }

    private let clock: Locked<Instant>

    private func pass(_ time: Milliseconds) {
        uptime.withLock { $0 += time.count * 1_000_000 }
        server.set(server.now + time)
        clock.withLock { $0 = server.now }
    }

    private func post(_ id: String) async throws -> Response {
        try await server.post(Message.purchase(id, signed: server.now))
    }

    private func metrics() async throws -> String {
        String(decoding: try await server.get("/metrics").body, as: UTF8.self)
    }

    private func finding() async throws -> Finding? {
        Finding.revocation(MetricsReading(try await metrics()))
    }

    @Test func `the first message is accepted at once, and the question follows`() async throws {
        store.set(.answer(.revoked(0)))
        #expect(try await post("n-1").status == 200)
        #expect(store.requests == 0)
        await server.service.checkDueRevocation()
        #expect(store.requests == 1)
        let refused = try await post("n-2")
        #expect(refused.status == 401)
        #expect(
            try JSONDocument(refused.body).root["type"]?.string?.hasSuffix("certificate-revoked")
                == true
        )
        #expect(server.logged.contains { $0.contains("signing certificate is revoked") })
        let text = try await metrics()
        #expect(text.contains(#"tideover_signing_certificates{state="revoked"} 1"#))
        #expect(text.contains(#"tideover_revocation_checks_total{outcome="revoked"} 1"#))
        #expect(try await finding()?.verdict == .problem)
        await server.close()
    }

    @Test func `a revocation counts from the next answer on`() async throws {
        #expect(try await post("n-1").status == 200)
        await server.service.checkDueRevocation()
        #expect(try await finding()?.verdict == .ok)
        store.set(.answer(.revoked(0)))
        // Half of the answer's hour.
        pass(.minutes(29))
        await server.service.checkDueRevocation()
        #expect(store.requests == 1)
        #expect(try await post("n-2").status == 200)
        pass(.minutes(2))
        await server.service.checkDueRevocation()
        #expect(store.requests == 2)
        #expect(try await post("n-3").status == 401)
        await server.close()
    }

    @Test(arguments: [
        "unreachable", "status", "garbage", "oversized", "unknown", "old", "forbidden",
    ])
    func `without a usable answer messages are accepted with an alarm`(
        _ fault: String
    ) async throws {
        switch fault {
        case "unreachable": connection.withLock { $0 = .failure("cannot connect") }
        case "status": store.set(.status(503))
        case "garbage": store.set(.body(Array("<html>".utf8)))
        case "oversized": store.set(.body(Array(repeating: 0x30, count: 40_000)))
        case "unknown": store.set(.answer(.unknown))
        case "old": store.set(.answerAsOf(server.now - .hours(2)))
        default: connection.withLock { $0 = .forbidden }
        }
        #expect(try await post("n-1").status == 200)
        await server.service.checkDueRevocation()
        #expect(try await post("n-2").status == 200)
        #expect(server.logged.contains { $0.contains("revocation not checked") })
        #expect(try await metrics().contains(#"{state="unchecked"} 1"#))
        #expect(try await finding()?.verdict == .warning)
        // The next request waits.
        let before = store.requests
        await server.service.checkDueRevocation()
        #expect(store.requests == before)
        // An answer ends the alarm.
        connection.withLock { $0 = nil }
        store.set(.answer(.good))
        pass(.minutes(2))
        await server.service.checkDueRevocation()
        #expect(try await finding()?.verdict == .ok)
        #expect(server.logged.contains { $0.contains("revocation checked again") })
        await server.close()
    }

    @Test func `a good answer stays while it is current, with an alarm`() async throws {
        #expect(try await post("n-1").status == 200)
        await server.service.checkDueRevocation()
        connection.withLock { $0 = .failure("cannot connect") }
        pass(.minutes(31))
        await server.service.checkDueRevocation()
        #expect(try await metrics().contains(#"{state="failing"} 1"#))
        #expect(try await finding()?.verdict == .warning)
        pass(.minutes(30))
        #expect(try await metrics().contains(#"{state="unchecked"} 1"#))
        #expect(try await post("n-2").status == 200)
        await server.close()
    }

    @Test func `neither silence nor an older answer lifts a revocation`() async throws {
        let early = server.now
        #expect(try await post("n-1").status == 200)
        pass(.minutes(1))
        store.set(.answer(.revoked(0)))
        await server.service.checkDueRevocation()
        #expect(try await post("n-2").status == 401)
        // A repeated good answer that is still current.
        store.set(.answerAsOf(early))
        pass(.minutes(40))
        await server.service.checkDueRevocation()
        #expect(store.requests == 2)
        #expect(try await post("n-3").status == 401)
        #expect(try await metrics().contains(#"{outcome="older"} 1"#))
        // The network is blocked until the answer is out of date.
        connection.withLock { $0 = .failure("cannot connect") }
        pass(.days(3))
        await server.service.checkDueRevocation()
        #expect(try await post("n-4").status == 401)
        // Only a newer answer ends a suspension.
        connection.withLock { $0 = nil }
        store.set(.answer(.good))
        pass(.hours(2))
        await server.service.checkDueRevocation()
        #expect(try await post("n-5").status == 200)
        await server.close()
    }

    @Test func `an expired certificate is not asked about and raises no alarm`() async throws {
        let signed = server.now
        pass(.days(6_000))
        let store = store.store
        let transaction = try store.sign(Message.transaction(signed: signed))
        let answer = try await server.send(
            "POST",
            "/v1/apps/cards/customers/\(TestServer.anna)/reconcile?environment=sandbox",
            body: JSONValue.object(["transactions": [.string(transaction)]]).encoded()
        )
        #expect(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
        await server.service.checkDueRevocation()
        #expect(self.store.requests == 0)
        #expect(try await metrics().contains(#"{state="expired"} 2"#))
        #expect(try await finding()?.verdict == .ok)
        await server.close()
    }

    @Test func `a signature that is not valid causes no request`() async throws {
        var jws = try store.store.sign(Message.purchase("n-1").payload(store.store))
        jws.removeLast(4)
        #expect(try await server.post(Message.wrap(jws + "AAAA")).status == 401)
        await server.service.checkDueRevocation()
        #expect(store.requests == 0)
        await server.close()
    }
}
