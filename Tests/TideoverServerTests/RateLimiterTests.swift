import Testing
import TideoverCore
import TideoverDoctor
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverServer

@testable import TideoverTestServer

/// The used budget of each sender.
@Suite struct RefusalLedgerTests {
    private static let second: Int64 = 1_000_000_000

    private func sender(_ address: String, app: String = "cards") throws -> Sender {
        Sender(app: app, network: IPNetwork(ofClient: try #require(IPAddress(address))))
    }

    private func sender(number: Int) throws -> Sender {
        let bytes = [10, number >> 16 & 255, number >> 8 & 255, number & 255].map(UInt8.init)
        return Sender(
            app: "cards",
            network: IPNetwork(ofClient: try #require(IPAddress(bytes: bytes)))
        )
    }

    @Test(arguments: [1, 7, 60, 10_000])
    func `the budget of a minute can be used at once and then refills`(perMinute: Int) throws {
        var ledger = RefusalLedger(perMinute: perMinute)
        let sender = try sender("192.0.2.1")
        for _ in 0..<perMinute {
            #expect(ledger.wait(of: sender, at: 0) == nil)
            ledger.charge(sender, at: 0)
        }
        let price = 60 * Self.second / Int64(perMinute)
        let asked = ledger.wait(of: sender, at: 0)
        let wait = try #require(asked)
        #expect((price - Int64(perMinute)...price).contains(wait))
        #expect(ledger.wait(of: sender, at: wait - 1) == 1)
        #expect(ledger.wait(of: sender, at: wait) == nil)
        ledger.charge(sender, at: wait)
        #expect(ledger.wait(of: sender, at: wait) == price)
        let rested = wait + 61 * Self.second
        for _ in 0..<perMinute {
            #expect(ledger.wait(of: sender, at: rested) == nil)
            ledger.charge(sender, at: rested)
        }
        #expect(ledger.wait(of: sender, at: rested) != nil)
    }

    @Test func `an overdraft of the budget is paid back later`() throws {
        var ledger = RefusalLedger(perMinute: 60)
        let sender = try sender("192.0.2.1")
        for _ in 0..<70 { ledger.charge(sender, at: 0) }
        #expect(ledger.wait(of: sender, at: 0) == 11 * Self.second)
    }

    @Test func `each sender has its own bucket`() throws {
        var ledger = RefusalLedger(perMinute: 1)
        ledger.charge(try sender("2001:db8:0:1::1"), at: 0)
        ledger.charge(try sender("192.0.2.1"), at: 0)
        for address in ["192.0.2.1", "2001:db8:0:1::1", "2001:db8:0:1:ffff::1"] {
            #expect(ledger.wait(of: try sender(address), at: 0) != nil)
        }
        for address in ["192.0.2.2", "2001:db8:0:2::1"] {
            #expect(ledger.wait(of: try sender(address), at: 0) == nil)
        }
        #expect(ledger.wait(of: try sender("192.0.2.1", app: "chess"), at: 0) == nil)
        #expect(ledger.count == 2)
    }

    @Test func `a hundred thousand addresses use bounded memory`() throws {
        var ledger = RefusalLedger(perMinute: 1)
        let stubborn = try sender("192.0.2.1")
        let silent = try sender("192.0.2.2")
        ledger.charge(stubborn, at: 0)
        ledger.charge(silent, at: 0)
        var most = 0
        for number in 0..<100_000 {
            ledger.charge(try sender(number: number), at: 1)
            most = max(most, ledger.count)
            if number % 1_000 == 0 { #expect(ledger.wait(of: stubborn, at: 2) != nil) }
        }
        #expect(most <= RefusalLedger.mostSenders)
        #expect(most > RefusalLedger.mostSenders - 100)
        #expect(ledger.wait(of: stubborn, at: 2) != nil)
        #expect(ledger.wait(of: silent, at: 2) == nil)
        for number in 99_000..<100_000 {
            #expect(ledger.wait(of: try sender(number: number), at: 2) != nil)
        }
    }

    @Test func `a sender without a rejection is not stored`() throws {
        var ledger = RefusalLedger(perMinute: 1)
        for number in 0..<1_000 { _ = ledger.wait(of: try sender(number: number), at: 0) }
        #expect(ledger.count == 0)
    }
}

/// The service's behaviour towards senders of rejected notifications.
@Suite struct RateLimiterTests {
    private static let proxies = TrustedProxies(["10.0.0.0/8"].compactMap { IPNetwork($0) })
    private static let limits = ClientLimits(trustedProxies: proxies, refusalsPerMinute: 3)
    private static let forged = Array("{}".utf8)

    private let uptime = Uptime()

    private func server(_ limits: ClientLimits = limits) throws -> TestServer {
        try TestServer(
            probes: Probes(uptime: { [uptime] in uptime.nanoseconds }),
            clients: limits
        )
    }

    private func post(
        _ body: [UInt8],
        from peer: String?,
        forwarded: String? = nil,
        to server: TestServer
    ) async throws -> Response {
        var request = Request(
            method: "POST",
            path: "/v1/apps/cards/notifications/app-store",
            body: body,
            peer: peer
        )
        request.headers["X-Forwarded-For"] = forwarded
        return try await server.service.handler(request)
    }

    /// Sends until a request is rejected by the budget, and returns how many were verified, at most
    /// 20.
    private func lookedAt(
        from peer: String?,
        forwarded: String? = nil,
        by server: TestServer
    ) async throws -> Int {
        for count in 0..<20 {
            let response = try await post(Self.forged, from: peer, forwarded: forwarded, to: server)
            if response.status == 429 { return count }
            #expect(response.status == 400)
        }
        return 20
    }

    @Test func `a sender over its budget is rejected before any verification`() async throws {
        let server = try server()
        let untrusted = try Message.purchase("n-bad").body(server.store, defect: .unknownRoot)
        for _ in 0..<3 {
            #expect(try await post(untrusted, from: "192.0.2.1", to: server).status == 401)
        }
        let before = try await operations(server)
        let response = try await post(untrusted, from: "192.0.2.1", to: server)
        #expect(response.status == 429)
        #expect(response.headers["Retry-After"] == "20")
        let problem = try JSONDocument(response.body).root
        #expect(problem["type"]?.string == "/problems/too-many-refusals")
        #expect(try await operations(server) == before)
        // A request rejected by the budget costs nothing more, and after the wait requests are
        // verified again.
        uptime.nanoseconds += 20_000_000_000
        #expect(try await post(untrusted, from: "192.0.2.1", to: server).status == 401)
        #expect(try await post(untrusted, from: "192.0.2.1", to: server).status == 429)
        #expect(
            try await server.counts()
                == ["refusal too-many-refusals 2", "refusal untrusted-root 4"]
        )
        let samples = try await server.samples()
        #expect(samples.contains("tideover_refused_senders 1"))
        let code = #"app="cards",code="too-many-refusals""#
        #expect(samples.contains("tideover_notification_refusals_total{\(code)} 2"))
        await server.close()
    }

    private func operations(_ server: TestServer) async throws -> String? {
        try await server.samples().first { $0.contains("public_key_operations_total") }
    }

    @Test func `a sender over its budget also waits with valid data, and others do not`()
        async throws
    {
        let server = try server()
        #expect(try await lookedAt(from: "192.0.2.1", by: server) == 3)
        let purchase = try Message.purchase().body(server.store)
        #expect(try await post(purchase, from: "192.0.2.1", to: server).status == 429)
        #expect(try await server.premium() == "never unknown none")
        #expect(try await post(purchase, from: "192.0.2.2", to: server).status == 200)
        uptime.nanoseconds += 20_000_000_000
        #expect(try await post(purchase, from: "192.0.2.1", to: server).status == 200)
        #expect(try await server.premium() == "active paid access")
        await server.close()
    }

    @Test func `beyond the budget a notification under a known chain is still accepted`()
        async throws
    {
        let server = try server()
        let first = try Message.purchase("n-1").body(server.store)
        #expect(try await post(first, from: "192.0.2.2", to: server).status == 200)
        #expect(try await lookedAt(from: "192.0.2.1", by: server) == 3)
        let second = try Message.purchase("n-2").body(server.store)
        #expect(try await post(second, from: "192.0.2.1", to: server).status == 200)
        // A copied chain with a false signature is rejected, without an operation on the chain.
        let before = try await operations(server)
        var forged = try Message.purchase("n-3").body(server.store)
        forged[forged.count - 6] ^= 1
        #expect(try await post(forged, from: "192.0.2.1", to: server).status == 429)
        #expect(try await operations(server) == before)
        await server.close()
    }

    @Test(.timeLimit(.minutes(20)))
    func `many waiting forgeries do not block a notification under a known chain`() async throws {
        let server = try server()
        let first = try Message.purchase("n-1").body(server.store)
        #expect(try await post(first, from: "192.0.2.2", to: server).status == 200)
        #expect(try await lookedAt(from: "192.0.2.1", by: server) == 3)
        let probation = server.service.rateLimiter.probation
        let holder = Holder(probation)
        let forgeries = (0..<100).map { _ in
            Task { try await post(Self.forged, from: "192.0.2.1", to: server).status }
        }
        try await probation.settles { $0.waiting == 100 }
        let second = try Message.purchase("n-2").body(server.store)
        let genuine = Task { try await post(second, from: "192.0.2.1", to: server).status }
        try await probation.settles { $0.waiting == 101 }
        try await holder.release()
        #expect(try await genuine.value == 200)
        for forgery in forgeries { #expect(try await forgery.value == 429) }
        await server.close()
    }

    @Test func `rejected notifications leave the budget of reconciles unchanged`() async throws {
        let server = try server()
        #expect(try await lookedAt(from: "192.0.2.1", by: server) == 3)
        func reconcile(_ transaction: String) async throws -> Int {
            let body: JSONValue = ["transactions": [.string(transaction)]]
            let request = Request(
                method: "POST",
                path: "/v1/apps/cards/customers/\(TestServer.anna)/reconcile",
                headers: TestServer.credentials,
                body: body.encoded(),
                peer: "192.0.2.1"
            )
            return try await server.service.handler(request).status
        }
        let transaction = try #require(Message.purchase().transaction)
        let forged = try server.store.sign(transaction, defect: .unknownRoot)
        for _ in 0..<3 { #expect(try await reconcile(forged) == 200) }
        #expect(try await reconcile(forged) == 429)
        await server.close()
    }

    @Test func `X-Forwarded-For from an untrusted peer is counted and logged once`() async throws {
        let server = try server()
        for _ in 0..<3 {
            _ = try await post(Self.forged, from: "127.0.0.1", forwarded: "192.0.2.1", to: server)
        }
        _ = try await post(Self.forged, from: "10.0.0.1", forwarded: "192.0.2.1", to: server)
        #expect(try await server.samples().contains("tideover_untrusted_forwarding_total 3"))
        #expect(server.logged.filter { $0.contains("untrusted-forwarding") }.count == 1)
        let text = try await server.samples().joined(separator: "\n")
        #expect(Finding.clientAddresses(MetricsReading(text))?.verdict == .warning)
        await server.close()
    }

    @Test func `accepted data and failures of the server do not use the budget`() async throws {
        let disk = Disk()
        let server = try TestServer(
            probes: Probes(uptime: { [uptime] in uptime.nanoseconds }),
            clients: Self.limits,
            faults: disk.faults
        )
        for number in 0..<10 {
            let body = try Message.purchase("n-\(number)").body(server.store)
            #expect(try await post(body, from: "192.0.2.1", to: server).status == 200)
            #expect(try await post(body, from: "192.0.2.1", to: server).status == 200)
        }
        var early = Message.purchase("n-early")
        early.signed = Message.start + .minutes(6)
        let body = try early.body(server.store)
        for _ in 0..<10 {
            #expect(try await post(body, from: "192.0.2.1", to: server).status == 503)
        }
        disk.isFull = true
        let unstored = try Message.purchase("n-unstored").body(server.store)
        for _ in 0..<10 {
            #expect(try await post(unstored, from: "192.0.2.1", to: server).status == 503)
        }
        disk.isFull = false
        #expect(try await server.samples().contains("tideover_refused_senders 0"))
        #expect(try await lookedAt(from: "192.0.2.1", by: server) == 3)
        await server.close()
    }

    @Test func `behind a trusted proxy the client is counted, not the proxy`() async throws {
        let server = try server()
        for client in ["192.0.2.1", "192.0.2.2", "2001:db8::1"] {
            let forwarded = "198.51.100.1, \(client)"
            #expect(try await lookedAt(from: "10.0.0.1", forwarded: forwarded, by: server) == 3)
            #expect(try await lookedAt(from: "10.0.0.2", forwarded: client, by: server) == 0)
        }
        // An address of the same IPv6 network, and one of another.
        #expect(try await lookedAt(from: "10.0.0.1", forwarded: "2001:db8::2", by: server) == 0)
        #expect(try await lookedAt(from: "10.0.0.1", forwarded: "2001:db8:0:1::", by: server) == 3)
        // A client that is not a trusted proxy cannot report other addresses.
        #expect(try await lookedAt(from: "192.0.2.9", forwarded: "192.0.2.8", by: server) == 3)
        #expect(try await lookedAt(from: "192.0.2.9", forwarded: "192.0.2.7", by: server) == 0)
        #expect(try await lookedAt(from: "192.0.2.8", by: server) == 3)
        await server.close()
    }

    @Test(arguments: [
        (nil, nil), ("127.0.0.1", nil), ("::1", nil), ("127.0.0.1", "192.0.2.1"),
        ("10.0.0.1", nil), ("10.0.0.1", "not an address"), ("10.0.0.1", "10.0.0.2"),
        ("10.0.0.1", "127.0.0.1"),
    ])
    func `an address that many clients share has no limit`(peer: String?, forwarded: String?)
        async throws
    {
        let server = try server()
        #expect(try await lookedAt(from: peer, forwarded: forwarded, by: server) == 20)
        #expect(try await server.samples().contains("tideover_refused_senders 0"))
        await server.close()
    }

    @Test func `a sender that states another key each time has one budget`() async throws {
        let server = try server()
        var statuses: [Int] = []
        for number in 0..<5 {
            let request = Request(
                method: "POST",
                path: "/v1/apps/cards/notifications/app-store",
                headers: ["Authorization": "Bearer key\(number)"],
                body: Self.forged,
                peer: "192.0.2.1"
            )
            statuses.append(try await server.service.handler(request).status)
        }
        #expect(statuses == [400, 400, 400, 429, 429])
        await server.close()
    }

    @Test func `without a limit no sender is rejected`() async throws {
        let server = try server(ClientLimits(refusalsPerMinute: 0))
        #expect(try await lookedAt(from: "192.0.2.1", by: server) == 20)
        await server.close()
    }

    @Test(.timeLimit(.minutes(20)))
    func `waiting requests of a sender over its budget are rejected unverified`() async throws {
        let server = try TestServer(
            probes: Probes(uptime: { [uptime] in uptime.nanoseconds }),
            verifications: WorkLimits(running: 1, waiting: 20),
            clients: Self.limits
        )
        let gate = server.service.verifications
        let holder = Holder(gate)
        let posts = (0..<10).map { _ in
            Task { try await post(Self.forged, from: "192.0.2.1", to: server).status }
        }
        try await gate.settles { $0.waiting == 10 }
        try await holder.release()
        var statuses: [Int] = []
        for post in posts { statuses.append(try await post.value) }
        #expect(statuses.count { $0 == 400 } == 3)
        #expect(statuses.count { $0 == 429 } == 7)
        await server.close()
    }
}
