import Foundation
import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSQLite
import TideoverSandbox
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// The portfolio from stored figures is the portfolio of all facts, whatever has happened.
@Suite struct FiguresTests {
    private static let key = BookmarkKey(app: "cards", environment: .sandbox, name: "figures")

    /// Derives all stale figures, like the worker.
    private func derive(_ server: TestServer) async {
        await server.service.work(on: [.figures]) { duration in
            if duration > .seconds(1) { throw CancellationError() }
        }
    }

    private func report(_ server: TestServer, _ query: String = "") async throws -> [UInt8] {
        let response = try await server.get("/v1/reports/portfolio?app=cards\(query)")
        #expect(response.status == 200)
        return response.body
    }

    /// Returns the report without the stored figures.
    private func walked(_ server: TestServer, _ query: String = "") async throws -> [UInt8] {
        let mark = try server.storage.bookmark(Self.key)
        try await server.storage.keep(Array("{}".utf8), as: Self.key)
        let report = try await report(server, query)
        if let mark { try await server.storage.keep(mark, as: Self.key) }
        return report
    }

    private func stale(_ server: TestServer) throws -> [String] {
        try server.storage.staleFigures(in: AppScope("cards", .sandbox), limit: 100).subjects
            .map { "\($0.subject.kind) \($0.subject.name)" }.sorted()
    }

    private func figures(
        _ server: TestServer,
        _ kind: FiguresSubject.Kind
    ) throws -> [FiguresRow] {
        try server.storage.figures(
            in: AppScope("cards", .sandbox),
            kind: kind,
            after: nil,
            limit: 100
        )
    }

    private static let ranges = [
        "&each=day", "&from=2026-05-11T10:00:00Z&to=2026-06-05T10:00:00Z",
        "&from=2026-05-11T10:00:00Z&to=2026-06-01T10:00:00Z&each=week",
        "&from=2026-01-01T00:00:00Z&each=month",
    ]

    /// Compares the two ways to the report, and its money with that of recovery.
    private func compare(_ server: TestServer, _ event: Comment) async throws {
        // A range begins before now.
        for range in server.now > Message.start + .days(11) ? Self.ranges : [Self.ranges[0]] {
            #expect(try await report(server, range) == walked(server, range), event)
        }
        let range = "&from=2026-04-01T00:00:00Z"
        let own = try row(try await report(server, range))
        let recovery = try await server.get("/v1/reports/recovery?app=cards\(range)")
        let group = try row(recovery.body)["groups"]?.array?.first
        #expect(own["issues"]?.int64 == group?["issues"]?.int64 ?? 0, event)
        #expect(own["money"]?.array ?? [] == group?["money"]?.array ?? [], event)
    }

    private func row(_ body: [UInt8]) throws -> JSONValue {
        let rows = JSONValue(try JSONDocument(body).root)["rows"]?.array
        return try #require(rows?.first { $0["environment"]?.string == "sandbox" })
    }

    /// Returns the number of subscriptions in any state.
    private func count(_ row: JSONValue) -> Int64 {
        let states = row["subscriptions"]?.object ?? [:]
        return states.reduce(0) { $0 + ($1.1.int64 ?? 0) }
    }

    @Test func `the report sums stored figures, and derives those that are stale`() async throws {
        let server = try await MeasureReportTests.lives()
        let before = try await report(server, "&each=day")
        let keys = (1...3).map { "lineage appStore:300000000000000\($0)" }
        #expect(try stale(server) == keys)
        await derive(server)
        #expect(try stale(server) == [])
        #expect(try figures(server, .lineage).count == 3)
        // Two of the three had a failed renewal.
        #expect(try figures(server, .customer).count == 2)
        #expect(try await report(server, "&each=day") == before)
        // Without the stored figures of one there is one less: they were read, not the facts.
        let page = try server.storage.staleFigures(in: AppScope("cards", .sandbox), limit: 1)
        let first = try #require(try figures(server, .lineage).first)
        let removed = FiguresUpdate(
            app: "cards",
            environment: .sandbox,
            stamp: first.stamp,
            done: page,
            forms: [first.subject: nil]
        )
        #expect(try await server.storage.keep(removed))
        let less = try row(try await report(server))
        #expect(count(less) == 2)
        #expect(count(try row(before)) == 3)
        // Those under other rules are not used.
        let other = FiguresUpdate(
            app: "cards",
            environment: .sandbox,
            stamp: 1,
            done: try server.storage.staleFigures(in: AppScope("cards", .sandbox), limit: 1),
            forms: [first.subject: first.form]
        )
        #expect(try await server.storage.keep(other))
        #expect(try await report(server, "&each=day") == before)
        await server.close()
    }

    @Test func `figures of a change during their derivation are not stored`() async throws {
        let server = try await MeasureReportTests.lives()
        await derive(server)
        server.set(server.now + .days(1))
        let renewed = Message.renewed("late", signed: server.now)
        #expect(try await server.post(renewed).status == 200)
        let page = try server.storage.staleFigures(in: AppScope("cards", .sandbox), limit: 9)
        #expect(page.subjects.count == 1)
        let update = FiguresUpdate(
            app: "cards",
            environment: .sandbox,
            stamp: 1,
            done: page,
            forms: [page.subjects[0].subject: [0]]
        )
        var later = Message.renewed("later", signed: server.now + .seconds(1))
        later.transaction?["transactionId"] = "2000000000000003"
        #expect(try await server.post(later).status == 200)
        #expect(try await server.storage.keep(update) == false)
        #expect(try stale(server) == ["lineage appStore:2000000000000001"])
        try await compare(server, "a late renewal")
        await server.close()
    }

    @Test func `a change of the policy makes all figures stale, once`() async throws {
        let first = try await MeasureReportTests.lives()
        await derive(first)
        await first.storage.close()
        let second = try TestServer(
            policy: Policy(billingRetry: .keep(.days(50))),
            folder: first.folder,
            store: first.store,
            now: first.now
        )
        try await compare(second, "before the worker")
        await derive(second)
        #expect(try stale(second) == [])
        #expect(Set(try figures(second, .lineage).map(\.stamp)).count == 1)
        try await compare(second, "after the worker")
        await second.close()
    }

    @Test func `an alias moves the failures of both ids to the primary one`() async throws {
        let server = try await MeasureReportTests.lives()
        await derive(server)
        let calls = OwnershipCalls(server: server)
        let ids = (1...2).map { "00000000-0000-4000-8000-00000000000\($0)" }
        // Both began before the alias was declared.
        let amounts = ["recovered 9990", "open 9990", "lost 0"]
        #expect(try await self.amounts(server) == amounts)
        let declared = try await calls.post(
            "customers/\(ids[1])/aliases",
            ["alias": .string(ids[0])]
        )
        #expect(declared.status == 201)
        #expect(try stale(server).contains("customer \(ids[1])"))
        try await compare(server, "stale")
        #expect(try await self.amounts(server) == amounts)
        await derive(server)
        #expect(try figures(server, .customer).map(\.subject.name) == [ids[1]])
        try await compare(server, "derived")
        #expect(try await self.amounts(server) == amounts)
        await server.close()
    }

    @Test func `a failure before the first owner of a purchase is counted`() async throws {
        let server = try TestServer()
        server.set(Message.start)
        var bought = Message.purchase("buy", signed: server.now)
        bought.transaction?["appAccountToken"] = nil
        #expect(try await server.post(bought).status == 200)
        server.set(Message.end)
        var failed = Message.purchase("fail", signed: server.now)
        failed.transaction?["appAccountToken"] = nil
        failed.fail(graceUntil: nil)
        #expect(try await server.post(failed).status == 200)
        // The store names the owner with the renewal after the recovery.
        server.set(Message.end + .days(3))
        var renewed = Message.renewed("renew", signed: server.now)
        renewed.transaction?["transactionReason"] = "RENEWAL"
        renewed.transaction?["purchaseDate"] = server.now.wire
        renewed.transaction?["expiresDate"] = (server.now + .days(30)).wire
        renewed.transaction?["appAccountToken"] = "00000000-0000-4000-8000-000000000001"
        #expect(try await server.post(renewed).status == 200)
        server.set(Message.end + .days(5))
        for state in ["stale", "stored"] {
            try await compare(server, "\(state)")
            let expected = ["recovered 9990", "open 0", "lost 0"]
            #expect(try await amounts(server) == expected, "\(state)")
            await derive(server)
        }
        await server.close()
    }

    @Test func `an erased customer has no figures, whatever the worker stored before`()
        async throws
    {
        let server = try TestServer(policy: Policy(transfer: .transfer(coolDown: .zero)))
        let calls = OwnershipCalls(server: server)
        let customer = "customer-who-asks-to-be-forgotten"
        try await calls.present(customer, calls.transaction("77"))
        try await calls.present(customer, calls.transaction("78"))
        _ = try await calls.post("customers/\(customer)/aliases", ["alias": "forgotten-phone"])
        await derive(server)
        server.set(server.now + .days(1))
        try await calls.present("heir", calls.transaction("78"))
        let erased = try await server.send("DELETE", "/v1/apps/cards/customers/\(customer)")
        #expect(erased.status == 200)
        #expect(try figures(server, .lineage).map(\.subject.name) == ["appStore:78"])
        #expect(try stale(server) == ["lineage appStore:78"])
        try await compare(server, "stale")
        await derive(server)
        try await compare(server, "derived")
        await server.storage.close()
        var files = Data()
        for suffix in ["", "-wal"] {
            let file = server.folder.appending(path: "tideover.db\(suffix)")
            if FileManager.default.fileExists(atPath: file.path) {
                files += try Data(contentsOf: file)
            }
        }
        #expect(files.range(of: Data("appStore:78".utf8)) != nil)
        for text in ["appStore:77", "forgotten-phone"] {
            #expect(files.range(of: Data(text.utf8)) == nil, "\(text)")
        }
        await server.close()
    }
}

// MARK: - Generated messages

/// Messages about a few purchases of a few customers, in any order.
private struct MessageSource {
    private var random: SeededRandom
    private var number = 0
    private var delayed: [Message] = []

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func chance(_ of: Int) -> Bool { Int.random(in: 0..<of, using: &random) == 0 }

    mutating func customer() -> String {
        "00000000-0000-4000-8000-00000000000\(Int.random(in: 1...4, using: &random))"
    }

    /// Returns the messages that arrive next; some arrive much later than they were signed.
    mutating func next(at now: Instant) -> [Message] {
        let message = message(at: now)
        guard !chance(4) else {
            delayed.append(message)
            return []
        }
        guard chance(3) else { return [message] }
        let late = delayed.shuffled(using: &random)
        delayed = []
        return [message] + late
    }

    private mutating func message(at now: Instant) -> Message {
        number += 1
        let purchase = Int.random(in: 1...6, using: &random)
        let month = Int64((now - Message.start).count / Milliseconds.days(30).count)
        var message = Message.purchase("m-\(number)", customer: customer(), signed: now)
        // Only sometimes does a message name its customer.
        if chance(2) { message.transaction?["appAccountToken"] = nil }
        let original = JSONValue.string("400000000000000\(purchase)")
        message.transaction?["originalTransactionId"] = original
        message.renewal?["originalTransactionId"] = original
        message.transaction?["transactionId"] = .string("5\(purchase)\(month)")
        message.transaction?["webOrderLineItemId"] = .string("6\(purchase)\(month)")
        let start = Message.start + .days(30 * month)
        message.transaction?["purchaseDate"] = start.wire
        message.transaction?["expiresDate"] = (start + .days(30)).wire
        message.renewal?["renewalDate"] = (start + .days(30)).wire
        if month > 0 { message.transaction?["transactionReason"] = "RENEWAL" }
        change(&message, start + .days(30), now)
        return message
    }

    private mutating func change(_ message: inout Message, _ end: Instant, _ now: Instant) {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: message.fail(graceUntil: Bool.random(using: &random) ? end + .days(16) : nil)
        case 1:
            message.type = "REFUND"
            message.subtype = nil
            message.transaction?["revocationDate"] = now.wire
            message.transaction?["revocationReason"] = 0
        case 2:
            message.type = "DID_CHANGE_RENEWAL_STATUS"
            message.subtype = "AUTO_RENEW_DISABLED"
            message.renewal?["autoRenewStatus"] = 0
        case 3: message.transaction?["price"] = 4_990
        default:
            message.type = "DID_RENEW"
            message.subtype = nil
        }
    }
}

extension FiguresTests {
    @Test(arguments: Array(1...4) as [UInt64])
    func `stored figures give the report of all facts after any messages in any order`(
        seed: UInt64
    ) async throws {
        let server = try TestServer(policy: Policy(transfer: .transfer(coolDown: .zero)))
        let calls = OwnershipCalls(server: server)
        server.set(Message.start + .hours(1))
        var source = MessageSource(seed: seed)
        for step in 0..<24 {
            server.set(server.now + .days(source.chance(2) ? 1 : 5))
            for message in source.next(at: server.now) {
                #expect(try await server.post(message).status == 200)
            }
            if source.chance(12) {
                let alias = source.customer()
                let body: JSONObject = ["alias": .string(alias)]
                // Refused for some pairs.
                _ = try await calls.post("customers/\(source.customer())/aliases", body)
            }
            if source.chance(12) {
                let path = "/v1/apps/cards/customers/\(source.customer())"
                #expect(try await server.send("DELETE", path).status == 200)
            }
            if source.chance(2) { await derive(server) }
            try await compare(server, "seed \(seed), step \(step)")
        }
        await derive(server)
        #expect(try stale(server) == [])
        try await compare(server, "seed \(seed), at the end")
        await server.close()
    }
}

// MARK: - Recovery by another purchase

/// How a customer with a failed renewal comes to another purchase.
enum OtherPurchase: String, CaseIterable, Sendable {
    case own, ofAlias, claimed
}

extension FiguresTests {
    /// Lets the second customer of the lives buy again, and returns the instant of the purchase.
    private func buyAgain(_ way: OtherPurchase, _ server: TestServer) async throws -> Instant {
        let customer = "00000000-0000-4000-8000-000000000002"
        let other = "00000000-0000-4000-8000-000000000009"
        let calls = OwnershipCalls(server: server)
        let boughtAt = server.now
        var message = Message.purchase("again", customer: customer, signed: boughtAt)
        for name in ["transactionId", "originalTransactionId", "webOrderLineItemId"] {
            message.transaction?[name] = "7000000000000001"
        }
        message.renewal?["originalTransactionId"] = "7000000000000001"
        for name in ["purchaseDate", "originalPurchaseDate"] {
            message.transaction?[name] = boughtAt.wire
        }
        message.transaction?["expiresDate"] = (boughtAt + .days(30)).wire
        message.renewal?["renewalDate"] = (boughtAt + .days(30)).wire
        if way == .ofAlias { message.transaction?["appAccountToken"] = .string(other) }
        if way == .claimed { message.transaction?["appAccountToken"] = nil }
        #expect(try await server.post(message).status == 200)
        guard way != .own else { return boughtAt }
        await derive(server)
        try await compare(server, "\(way) before")
        #expect(try await amounts(server) == ["recovered 9990", "open 9990", "lost 0"])
        server.set(boughtAt + .days(1))
        if way == .ofAlias {
            let path = "customers/\(customer)/aliases"
            #expect(try await calls.post(path, ["alias": .string(other)]).status == 201)
        } else {
            let transaction = try #require(message.transaction)
            #expect(try await calls.present(customer, transaction) == "claimed")
        }
        return boughtAt
    }

    private func amounts(_ server: TestServer, _ query: String = "") async throws -> [String] {
        let body = try await report(server, "&from=2026-04-01T00:00:00Z" + query)
        let money = try row(body)["money"]?.array?.first
        return ["recovered", "open", "lost"].map { "\($0) \(money?[$0]?.int64 ?? -1)" }
    }

    @Test(arguments: OtherPurchase.allCases)
    func `another purchase of the same customer recovers a failure, from its instant on`(
        way: OtherPurchase
    ) async throws {
        let server = try await MeasureReportTests.lives()
        await derive(server)
        let before = server.now
        #expect(try await amounts(server) == ["recovered 9990", "open 9990", "lost 0"])
        server.set(before + .days(1))
        let boughtAt = try await buyAgain(way, server)
        server.set(boughtAt + .days(2))
        // Derived from stale figures, then stored.
        for state in ["stale", "stored"] {
            try await compare(server, "\(way) \(state)")
            #expect(try await amounts(server) == ["recovered 19980", "open 0", "lost 0"])
            let past = "&to=\(before.rfc3339)"
            #expect(try await amounts(server, past) == ["recovered 9990", "open 9990", "lost 0"])
            await derive(server)
            #expect(try stale(server) == [])
        }
        await server.close()
    }
}
