import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSQLite
import TideoverStorage

@testable import TideoverTestServer

/// Customers with so many purchases that the cost of each matters.
@Suite struct ManyPurchasesTests {
    private static let catalogue = Catalogue(
        products: TestServer.catalogue.products.merging(
            ["cards.coins": Product(entitlements: [], kind: .consumable)]
        ) { $1 }
    )
    private static let key = CustomerKey(
        app: "cards",
        environment: .sandbox,
        customer: CustomerID(TestServer.anna).unsafelyUnwrapped
    )

    private func coins(_ number: Int, signed: Instant = Message.start) -> JSONObject {
        var coins = Message.transaction(signed: signed, product: "cards.coins")
        let id = "20000000001\(String(number + 10_000).dropFirst())"
        coins["transactionId"] = .string(id)
        coins["originalTransactionId"] = .string(id)
        coins["type"] = "Consumable"
        for field in ["webOrderLineItemId", "subscriptionGroupIdentifier", "expiresDate"] {
            coins[field] = nil
        }
        return coins
    }

    private func month(_ number: Int64) -> JSONObject {
        let start = Message.start + .days(30 * number)
        var month = Message.transaction(signed: start + .seconds(number))
        month["transactionId"] = .string("200000000000000\(number)")
        month["webOrderLineItemId"] = .string("90000000\(number)")
        month["purchaseDate"] = start.wire
        month["expiresDate"] = (start + .days(30)).wire
        return month
    }

    private func present(_ transactions: [JSONObject], to server: TestServer) async throws {
        let signed = try transactions.map { JSONValue.string(try server.store.sign($0)) }
        let response = try await server.send(
            "POST",
            "/v1/apps/cards/customers/\(TestServer.anna)/reconcile",
            body: JSONValue.object(["transactions": .array(signed)]).encoded()
        )
        #expect(response.status == 200)
    }

    @Test func `later answers leave out used consumables`() async throws {
        let server = try TestServer(catalogue: Self.catalogue)
        server.set(Message.start + .minutes(1))
        try await present((0..<30).map { coins($0) }, to: server)
        server.set(Message.start + .minutes(2))
        #expect(try await server.premium() == "never notEntitled none")
        let bought = Message.purchase(signed: Message.start + .minutes(2))
        let response = try await server.post(try bought.body(server.store))
        #expect(response.status == 200)
        #expect(try await server.premium() == "active paid access")
        server.set(Message.start + .minutes(3))
        let lineages = try #require(try await server.derivationInput(of: Self.key))
        #expect(lineages.lineageRecords.count == 2)
        #expect(lineages.leftOut?.count == 29)
        // A refunded purchase counts again.
        var refunded = coins(7, signed: Message.start + .minutes(4))
        refunded["revocationDate"] = (Message.start + .minutes(4)).wire
        refunded["revocationReason"] = 0
        server.set(Message.start + .minutes(5))
        try await present([refunded], to: server)
        server.set(Message.start + .minutes(6))
        let after = try #require(try await server.derivationInput(of: Self.key))
        #expect(after.lineageRecords.count == 3)
        #expect(after.leftOut?.count == 28)
        let events = try server.storage.outbox(app: "cards", after: nil, limit: 100)
        #expect(events.filter { $0.event.kind == "refunded" }.count == 1)
        #expect(events.allSatisfy { $0.event.kind != "corrected" })
        // The subscription is unaffected.
        #expect(try await server.premium() == "active paid access")
        server.set(Message.end + .days(90))
        #expect(try await server.premium().hasPrefix("expired"))
        await server.close()
    }

    @Test func `purchases in one request are projected once`() async throws {
        let server = try TestServer(catalogue: Self.catalogue)
        server.set(Message.start + .days(70))
        try await present((1...3).map { month(Int64($0) - 1) }, to: server)
        let row = try #require(try server.storage.row(of: Self.key))
        #expect(row.version == 1)
        #expect(
            try server.storage.lineages(of: Self.key, now: server.now)?.lineageRecords.count == 1
        )
        await server.close()
    }

    @Test func `a repeated request projects no customer`() async throws {
        let server = try TestServer(catalogue: Self.catalogue)
        server.set(Message.start + .minutes(1))
        try await present([coins(1), month(0)], to: server)
        let row = try #require(try server.storage.row(of: Self.key))
        server.set(Message.start + .minutes(2))
        try await present([coins(1), month(0)], to: server)
        #expect(try server.storage.row(of: Self.key)?.derivedAt == row.derivedAt)
        await server.close()
    }
}
