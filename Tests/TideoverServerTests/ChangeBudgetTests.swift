import Foundation
import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSQLite
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// Limits on the data that a client with only an app's public key, and no purchase, can store.
@Suite struct ChangeBudgetTests {
    private static let limits = ClientLimits(refusalsPerMinute: 3)
    private static let nothing = #"{"nothing":true}"#

    private let uptime = Uptime()

    private func server(_ limits: ClientLimits = limits) throws -> TestServer {
        try TestServer(
            probes: Probes(uptime: { [uptime] in uptime.nanoseconds }),
            clients: limits
        )
    }

    private func reconcile(
        _ customer: String,
        _ body: String,
        from peer: String = "192.0.2.1",
        at server: TestServer
    ) async throws -> Response {
        try await server.service.handler(
            Request(
                method: "POST",
                path: "/v1/apps/cards/customers/\(customer)/reconcile",
                headers: TestServer.credentials,
                body: Array(body.utf8),
                peer: peer
            )
        )
    }

    private func presenting(_ id: String, to server: TestServer) throws -> String {
        var transaction = Message.transaction(customer: TestServer.anna)
        transaction["transactionId"] = .string(id)
        transaction["originalTransactionId"] = .string(id)
        transaction["webOrderLineItemId"] = .string(id)
        let signed = try server.store.sign(transaction)
        return #"{"transactions":["\#(signed)"]}"#
    }

    private func row(of customer: String, _ server: TestServer) throws -> Bool {
        let id = try #require(CustomerID(customer))
        return try Environment.allCases.contains {
            let key = CustomerKey(app: "cards", environment: $0, customer: id)
            return try server.storage.row(of: key) != nil
        }
    }

    @Test func `the server limits invented customers without a purchase`() async throws {
        let server = try server()
        for number in 0..<3 {
            let answer = try await reconcile("made-up-\(number)", Self.nothing, at: server)
            #expect(answer.status == 200)
            #expect(try row(of: "made-up-\(number)", server))
        }
        for number in 3..<20 {
            let answer = try await reconcile("made-up-\(number)", Self.nothing, at: server)
            #expect(answer.status == 429)
            #expect(answer.headers["Retry-After"] == "20")
            let type = try JSONDocument(answer.body).root["type"]?.string
            #expect(type == "/problems/too-many-changes")
            #expect(try !row(of: "made-up-\(number)", server))
        }
        // A known customer is answered, and new ones from another address are accepted.
        #expect(try await reconcile("made-up-0", Self.nothing, at: server).status == 200)
        let other = try await reconcile("made-up-3", Self.nothing, from: "192.0.2.2", at: server)
        #expect(other.status == 200)
        uptime.nanoseconds += 20_000_000_000
        #expect(try await reconcile("made-up-4", Self.nothing, at: server).status == 200)
        await server.close()
    }

    @Test func `a new purchase is accepted after the budget of its address is spent`() async throws
    {
        let server = try server()
        for number in 0..<5 {
            _ = try await reconcile("made-up-\(number)", Self.nothing, at: server)
        }
        for number in 0..<10 {
            let body = try presenting("20000000000001\(10 + number)", to: server)
            #expect(try await reconcile(TestServer.anna, body, at: server).status == 200)
            // A purchase that the customer already owns changes nothing.
            #expect(try await reconcile(TestServer.anna, body, at: server).status == 200)
        }
        await server.close()
    }

    @Test func `one proof under many ids adds few audit lines`() async throws {
        let server = try server()
        let body = try presenting("2000000000000110", to: server)
        #expect(try await reconcile(TestServer.anna, body, at: server).status == 200)
        for number in 0..<20 {
            let answer = try await reconcile("thief-\(number)", body, at: server)
            #expect(answer.status == (number < 3 ? 200 : 429))
        }
        let lines = try server.storage.audit(
            app: "cards",
            customer: nil,
            after: nil,
            limit: 1_000
        )
        #expect(lines.count <= 5)
        await server.close()
    }

    @Test func `a device that alternates its report is recorded a few times an hour`() async throws
    {
        let server = try server(ClientLimits(refusalsPerMinute: 0))
        let body = try presenting("2000000000000110", to: server)
        server.set(Message.start + .hours(1))
        #expect(try await reconcile(TestServer.anna, body, at: server).status == 200)
        for turn in 0..<60 {
            server.set(Message.start + .hours(2) + .seconds(Int64(turn)))
            let word = turn % 2 == 0 ? "false" : "true"
            let words = #"{"device":{"entitlements":{"premium":{"access":\#(word)}}}}"#
            #expect(try await reconcile(TestServer.anna, words, at: server).status == 200)
        }
        let id = try #require(CustomerID(TestServer.anna))
        let key = CustomerKey(app: "cards", environment: .sandbox, customer: id)
        #expect(try server.storage.drift(of: key, limit: 1_000).count == 8)
        let dropped = #"tideover_device_reports_dropped_total{app="cards"} "#
        let samples = try await server.samples()
        #expect(samples.contains { $0.hasPrefix(dropped) && !$0.hasSuffix(" 0") })
        server.set(Message.start + .hours(4))
        let words = #"{"device":{"entitlements":{"premium":{"access":false}}}}"#
        #expect(try await reconcile(TestServer.anna, words, at: server).status == 200)
        #expect(try server.storage.drift(of: key, limit: 1_000).count == 9)
        await server.close()
    }

    @Test func `an id of more than 256 bytes is rejected`() async throws {
        let server = try server()
        let longest = String(repeating: "x", count: 256)
        // Each character has two bytes.
        let accents = String(repeating: "%C3%A9", count: 129)
        #expect(try await reconcile(longest, Self.nothing, at: server).status == 200)
        for customer in [longest + "x", accents] {
            let answer = try await reconcile(customer, Self.nothing, at: server)
            #expect(answer.status == 400)
            let type = try JSONDocument(answer.body).root["type"]?.string
            #expect(type == "/problems/bad-customer")
        }
        await server.close()
    }

    /// A catalogue with several entitlements that can differ.
    private static let manyEntitlements = Catalogue(
        products: [
            "cards.pro.monthly": Product(
                entitlements: ["premium"] + (1...6).map { "more\($0)" },
                group: "pro",
                period: Period(months: 1)
            )
        ]
    )

    /// The largest report that a device may send about all entitlements.
    private static let largestReport: String = {
        let ids = (0..<32).map { number in
            "\"" + String(repeating: "\(number % 10)", count: 255) + "\""
        }.joined(separator: ",")
        let word = #"{"access":true,"unfinished":[\#(ids)]}"#
        let words = (["premium"] + (1...3).map { "more\($0)" }).map { #""\#($0)":\#(word)"# }
        return #"{"device":{"entitlements":{\#(words.joined(separator: ","))}}}"#
    }()

    /// The limit that SECURITY.md states for one address, key and app.
    private static let mostBytesInAnHour: Int64 = 32 << 20

    @Test(arguments: [Self.nothing, Self.largestReport])
    func `the bytes that one address stores in an hour are bounded`(_ body: String) async throws {
        let server = try TestServer(
            catalogue: Self.manyEntitlements,
            probes: Probes(uptime: { [uptime] in uptime.nanoseconds }),
            clients: ClientLimits()
        )
        let pad = String(repeating: "x", count: 240)
        // Three minutes of an hour: the budget is full at first, and refills in a minute.
        for minute in 0..<3 {
            if minute > 0 { uptime.nanoseconds += 60_000_000_000 }
            for number in 0..<66 {
                let answer = try await reconcile("\(pad)\(minute)-\(number)", body, at: server)
                #expect([200, 429].contains(answer.status))
            }
        }
        // Beyond the budget neither request stores anything.
        #expect(try !row(of: "\(pad)2-65", server))
        #expect(try row(of: "\(pad)2-0", server))
        await server.storage.close()
        let empty = try SQLiteStorage(path: server.folder.appending(path: "empty.db").path)
        await empty.close()
        let grown = try size(of: server.storage.path) - size(of: empty.path)
        #expect(grown > 0)
        #expect(grown * 20 <= Self.mostBytesInAnHour)
        await server.close()
    }

    private func size(of file: String) throws -> Int64 {
        Int64(try #require(FileManager.default.contents(atPath: file)).count)
    }
}
