import Testing
import TideoverCore
import TideoverGooglePlay
import TideoverHTTP
import TideoverJSON
import TideoverSQLite
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// Google Play without a service account: the types of authenticated pushes count, for the customer
/// who presents the token.
@Suite struct PlayWithoutAccountTests {
    private static let purchased: Int64 = 4
    private static let catalogue = Catalogue(products: [
        "cards.pro.monthly": Product(entitlements: ["premium"], period: Period(months: 1)),
        "cards.gold": Product(entitlements: ["premium", "extra"], period: Period(months: 1)),
        "cards.lifetime": Product(entitlements: ["premium", "extra"], kind: .nonConsumable),
    ])
    private static let plain: JSONObject = [
        "store": "googlePlay", "productId": "cards.pro.monthly", "purchaseToken": "token-1",
    ]

    private func server(policy: Policy = Policy()) throws -> TestServer {
        try TestServer(
            catalogue: Self.catalogue,
            policy: policy,
            googlePlay: TestPlay().trust(asksStore: false)
        )
    }

    private func push(
        _ server: TestServer,
        _ type: Int64 = purchased,
        _ token: String = "token-1"
    ) async throws {
        let notice = TestPlay.notice(type, token)
        let request = try TestPlay.push(
            notice,
            messageId: "\(token)-\(type)",
            at: server.now
        )
        #expect(try await server.service.handler(request).status == 200)
    }

    private func present(
        _ server: TestServer,
        _ customer: String = "u_42",
        _ purchase: JSONObject = plain
    ) async throws -> JSONValue {
        let device = Device(server: server, customer: customer)
        let (status, answer) = try await device.present(
            ["purchases": [.object(purchase)]],
            environment: "simulated"
        )
        #expect(status == 200)
        return answer
    }

    private func premium(
        _ server: TestServer,
        _ customer: String = "u_42"
    ) async throws -> String {
        let answer = try await server.answer(customer, environment: "simulated")
        let premium = answer["entitlements"]?["premium"]
        return [premium?["state"]?.string, premium?["confidence"]?.string]
            .compactMap(\.self).joined(separator: " ")
    }

    private func why(_ server: TestServer, _ customer: String = "u_42") async throws -> String {
        let path = "/v1/apps/cards/customers/\(customer)/explain?environment=simulated"
        let answer = try JSONDocument(try await server.get(path).body).root
        let sentences = answer["entitlements"]?["premium"]?["why"]?.elements.compactMap(\.string)
        return (sentences ?? []).joined(separator: " ")
    }

    @Test func `a push and a device in either order make the purchase active and presumed`()
        async throws
    {
        for isPushedFirst in [true, false] {
            let server = try server()
            if isPushedFirst {
                try await push(server)
                #expect(try await premium(server) == "never unknown")
                #expect(Device.items(try await present(server)) == ["accepted claimed"])
            } else {
                #expect(Device.items(try await present(server)) == ["unasked claimed"])
                #expect(try await premium(server) == "never unknown")
                try await push(server)
            }
            #expect(try await premium(server) == "active presumed")
            #expect(Device.items(try await present(server)) == ["accepted held"])
            await server.close()
        }
    }

    @Test func `a report of a device alone grants no access and leaves the answer unknown`()
        async throws
    {
        let server = try server()
        var bought = Self.plain
        bought["purchaseState"] = "purchased"
        bought["isAutoRenewing"] = true
        let answer = try await present(server, "u_42", bought)
        #expect(answer["items"]?.array?.first?["reason"]?.string == "awaiting-notification")
        #expect(try await premium(server) == "never unknown")
        #expect(answer["reconciledAt"]?.string == nil)
        server.set(server.now + .days(2))
        #expect(try await premium(server) == "never unknown")
        // A notification of another token does not affect this one.
        try await push(server, Self.purchased, "token-2")
        #expect(try await premium(server) == "never unknown")
        await server.close()
    }

    @Test func `the answer and the explanation report a missing service account`() async throws {
        let server = try server()
        let awaited = try await present(server)
        let file = "googlePlay.serviceAccountFile"
        #expect(awaited["items"]?.array?.first?["missing"]?.string?.contains(file) == true)
        #expect(try await why(server).contains(file))
        try await push(server)
        let accepted = try await present(server)
        #expect(accepted["items"]?.array?.first?["missing"]?.string?.contains(file) == true)
        #expect(try await why(server).contains(file))
        // A customer without such a purchase does not see the message.
        #expect(try await !why(server, "u_1").contains(file))
        await server.close()
    }

    @Test func `a purchase without a product of the catalogue is rejected`() async throws {
        let server = try server()
        for product in [nil, "cards.unknown"] as [String?] {
            var purchase = Self.plain
            purchase["productId"] = product.map { .string($0) }
            let answer = try await present(server, "u_42", purchase)
            #expect(Device.items(answer) == ["refused store-not-askable"])
        }
        await server.close()
    }

    @Test func `the first customer owns a token, and the policy decides about the next`()
        async throws
    {
        let policies: [(Policy.Transfer, String)] = [
            (.claim, "accepted held-by-another"), (.keep, "accepted held-by-another"),
            (.transferIfInactive, "accepted holder-has-access"),
            (.transfer(coolDown: .days(1)), "accepted transferred"),
        ]
        for (transfer, expected) in policies {
            let server = try server(policy: Policy(transfer: transfer))
            _ = try await present(server, "u_1")
            try await push(server)
            #expect(Device.items(try await present(server, "u_2")) == [expected])
            let isMoved = expected.hasSuffix("transferred")
            #expect(
                try await premium(server, "u_1") == (isMoved ? "never unknown" : "active presumed")
            )
            #expect(try await premium(server, "u_2").hasPrefix(isMoved ? "active" : "never"))
            await server.close()
        }
    }

    @Test func `the first product of a token remains, and one-time products are ignored`()
        async throws
    {
        let server = try server()
        _ = try await present(server)
        var dearer = Self.plain
        dearer["productId"] = "cards.gold"
        _ = try await present(server, "u_42", dearer)
        try await push(server)
        let entitlements = try await server.answer("u_42", environment: "simulated")["entitlements"]
        #expect(entitlements?["premium"]?["productId"]?.string == "cards.pro.monthly")
        #expect(entitlements?["extra"]?["access"]?.bool == false)
        var forever = Self.plain
        forever["productId"] = "cards.lifetime"
        forever["purchaseToken"] = "token-9"
        _ = try await present(server, "u_9", forever)
        try await push(server, Self.purchased, "token-9")
        let others = try await server.answer("u_9", environment: "simulated")["entitlements"]
        #expect(others?["premium"]?["access"]?.bool == false)
        await server.close()
    }

    @Test func `a replay of the stored evidence adds no facts`() async throws {
        let server = try server()
        _ = try await present(server)
        try await push(server)
        let lineages = try server.storage.lineages(
            in: AppScope("cards", .simulated),
            after: nil,
            limit: 9
        )
        #expect(lineages.map(\.facts.count) == [2])
        let report = try await server.service.replayed(.simulated)
        for list in ["added", "unread", "changed"] {
            #expect(report[list]?["count"]?.int64 == 0)
        }
        #expect(report["unreadable"] == [:])
        await server.close()
    }
}
