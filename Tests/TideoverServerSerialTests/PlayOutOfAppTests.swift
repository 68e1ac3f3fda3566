import Testing
import TideoverCore
import TideoverGooglePlay
import TideoverHTTP
import TideoverJSON
import TideoverSQLite
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// Subscriptions that are bought again in the Play Store, where the app cannot name the buyer: they
/// belong to the owner of the expired purchase until something names an owner directly.
@Suite struct PlayOutOfAppTests {
    /// A server with the purchases of one test.
    private struct BackEnd {
        let play = TestPlay()
        let server: TestServer
        let calls: OwnershipCalls

        init(_ policy: Policy.Transfer = .claim) throws {
            server = try TestServer(
                catalogue: TestPlay.catalogue,
                policy: Policy(transfer: policy),
                googlePlay: play.trust()
            )
            calls = OwnershipCalls(server: server)
        }

        /// Reports a token to the server, which then asks the store about it.
        func push(_ token: String) async throws {
            let id = "\(token)-\(play.questions.count)"
            let push = try TestPlay.push(TestPlay.notice(4, token), messageId: id, at: server.now)
            #expect(try await server.service.handler(push).status == 200)
            await infer()
        }

        /// Runs the background work.
        func infer() async { #expect(await server.service.keepUpNow()) }

        func present(_ token: String, _ customer: String) async throws -> [String] {
            let purchase: JSONObject = [
                "store": "googlePlay", "productId": "cards.pro.monthly",
                "purchaseToken": .string(token),
            ]
            let (status, answer) = try await Device(server: server, customer: customer).present(
                ["purchases": [.object(purchase)]],
                environment: "sandbox"
            )
            #expect(status == 200)
            return Device.items(answer)
        }

        func hasAccess(_ customer: String) async throws -> Bool {
            try await server.premium(customer) == "active paid access"
        }

        func unclaimed() async throws -> [String] {
            try await calls.get("unclaimed")["purchases"]?.array?.compactMap {
                $0["orderId"]?.string
            } ?? []
        }
    }

    private static let anna = TestServer.anna

    private static func item(_ end: String, _ order: String) -> JSONValue {
        [
            "productId": "cards.pro.monthly", "expiryTime": .string(end),
            "latestSuccessfulOrderId": .string(order),
            "autoRenewingPlan": ["autoRenewEnabled": true],
        ]
    }

    private static func identifiers(_ account: String?) -> JSONValue {
        account.map { ["obfuscatedExternalAccountId": .string($0)] } ?? [:]
    }

    /// The expired subscription, of Anna or of a customer that the store does not name.
    private static func expired(account: String? = anna) -> JSONObject {
        let end = "2026-04-01T10:00:00Z"
        return TestPlay.subscription(
            "EXPIRED",
            until: end,
            [
                "startTime": "2026-03-01T10:00:00Z",
                "externalAccountIdentifiers": identifiers(account),
                "lineItems": [item(end, "GPA.1")],
            ]
        )
    }

    /// A subscription from the Play Store that continues another, without an account unless named.
    private static func resubscribed(
        after expired: String = "token-1",
        _ state: String = "ACTIVE",
        from start: String = "2026-05-01T10:00:00Z",
        until end: String = "2026-06-01T10:00:00Z",
        order: String = "GPA.2",
        account: String? = nil
    ) -> JSONObject {
        TestPlay.subscription(
            state,
            until: end,
            [
                "startTime": .string(start),
                "externalAccountIdentifiers": identifiers(account),
                "outOfAppPurchaseContext": ["expiredPurchaseToken": .string(expired)],
                "lineItems": [item(end, order)],
            ]
        )
    }

    private func resubscribed(_ policy: Policy.Transfer = .claim) async throws -> BackEnd {
        let backEnd = try BackEnd(policy)
        backEnd.play.answer("token-1", Self.expired())
        backEnd.play.answer("token-2", Self.resubscribed())
        try await backEnd.push("token-1")
        try await backEnd.push("token-2")
        return backEnd
    }

    @Test func `the owner of the expired purchase has the new one`() async throws {
        let backEnd = try await resubscribed()
        #expect(try await backEnd.hasAccess(Self.anna))
        #expect(try await backEnd.unclaimed() == [])
        let found = try await backEnd.calls.get("lookup", "order=GPA.2")
        let owners = found["purchases"]?.array?.first?["owners"]?.array
        #expect(owners?.map { $0["why"]?.string } == ["inferred"])
        let events = try await backEnd.calls.get("events")["events"]?.array ?? []
        #expect(!events.contains { $0["kind"]?.string == PurchaseMove.eventKind })
        // What is inferred once is not stored again, and a replay reads it again.
        let facts = try backEnd.server.storage.lineages(
            in: AppScope("cards", .sandbox),
            after: nil,
            limit: 9
        ).flatMap(\.facts)
        #expect(facts.count { $0.assertion.word == "inferredOwner" } == 1)
        let last = try await backEnd.server.service.replayed()
        #expect(last["added"]?["count"] == 0)
        #expect(last["unreadable"] == [:])
        await backEnd.server.close()
    }

    static let policies: [Policy.Transfer] = [
        .claim, .keep, .transferIfInactive, .transfer(coolDown: .days(30)),
    ]

    @Test(arguments: policies)
    func `a reinstalled app's new customer who presents the purchase has it`(
        policy: Policy.Transfer
    ) async throws {
        let backEnd = try await resubscribed(policy)
        #expect(try await backEnd.present("token-2", "phone") == ["accepted claimed"])
        await backEnd.infer()
        #expect(try await backEnd.hasAccess("phone"))
        #expect(try await !backEnd.hasAccess(Self.anna))
        #expect(try await backEnd.calls.audit() == ["claimed phone - customer"])
        let events = try await backEnd.calls.get("events")["events"]?.array ?? []
        #expect(!events.contains { $0["kind"]?.string == PurchaseMove.eventKind })
        // The expired purchase is still Anna's.
        #expect(try await backEnd.server.premium(Self.anna).hasPrefix("expired"))
        await backEnd.server.close()
    }

    @Test func `a customer who presented the purchase keeps it when the expired one arrives`()
        async throws
    {
        let backEnd = try BackEnd()
        backEnd.play.answer("token-1", Self.expired())
        backEnd.play.answer("token-2", Self.resubscribed())
        #expect(try await backEnd.present("token-2", "phone") == ["accepted claimed"])
        try await backEnd.push("token-1")
        #expect(try await backEnd.hasAccess("phone"))
        #expect(try await !backEnd.hasAccess(Self.anna))
        await backEnd.server.close()
    }

    @Test func `an inferred owner who presents the purchase keeps it against later claims`()
        async throws
    {
        let backEnd = try await resubscribed()
        #expect(try await backEnd.present("token-2", Self.anna) == ["accepted claimed"])
        #expect(try await backEnd.present("token-2", "phone") == ["accepted held-by-another"])
        #expect(try await backEnd.hasAccess(Self.anna))
        await backEnd.server.close()
    }

    @Test func `an account id that the store names later outranks the inferred owner`()
        async throws
    {
        let backEnd = try await resubscribed()
        backEnd.play.answer("token-2", Self.resubscribed(account: TestServer.ben))
        try await backEnd.push("token-2")
        #expect(try await backEnd.hasAccess(TestServer.ben))
        #expect(try await !backEnd.hasAccess(Self.anna))
        await backEnd.server.close()
    }

    @Test(arguments: [[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]])
    func `a chain of expired purchases leads to its owner, in every order of arrival`(
        order: [Int]
    ) async throws {
        let backEnd = try BackEnd()
        backEnd.play.answer("token-1", Self.expired())
        backEnd.play.answer(
            "token-2",
            Self.resubscribed(
                "EXPIRED",
                from: "2026-04-05T10:00:00Z",
                until: "2026-04-20T10:00:00Z"
            )
        )
        backEnd.play.answer("token-3", Self.resubscribed(after: "token-2", order: "GPA.3"))
        for number in order { try await backEnd.push("token-\(number)") }
        #expect(try await backEnd.hasAccess(Self.anna))
        #expect(try await backEnd.unclaimed() == [])
        await backEnd.server.close()
    }

    @Test func `a purchase that continues an unknown or unowned one stays unclaimed`()
        async throws
    {
        let backEnd = try BackEnd()
        backEnd.play.answer("token-2", Self.resubscribed())
        try await backEnd.push("token-2")
        #expect(try await backEnd.unclaimed() == ["GPA.2"])
        backEnd.play.answer("token-1", Self.expired(account: nil))
        try await backEnd.push("token-1")
        #expect(try await Set(backEnd.unclaimed()) == ["GPA.1", "GPA.2"])
        // Who presents the expired purchase has the new one too.
        #expect(try await backEnd.present("token-1", "u_42") == ["accepted claimed"])
        await backEnd.infer()
        #expect(try await backEnd.hasAccess("u_42"))
        #expect(try await backEnd.unclaimed() == [])
        await backEnd.server.close()
    }

    @Test func `a move of the expired purchase moves the new one from then on`() async throws {
        let backEnd = try await resubscribed()
        let before = backEnd.server.now
        backEnd.server.set(before + .hours(1))
        let (status, _) = try await backEnd.calls.post(
            "purchases/GPA.1/move",
            ["customer": .string(TestServer.ben), "why": "another account"]
        )
        #expect(status == 200)
        await backEnd.infer()
        #expect(try await backEnd.hasAccess(TestServer.ben))
        #expect(try await !backEnd.hasAccess(Self.anna))
        #expect(try await backEnd.calls.state(of: Self.anna, at: before) == "active")
        await backEnd.server.close()
    }

    @Test func `a purchase that an operator gives to its inferred owner has that owner`()
        async throws
    {
        let backEnd = try await resubscribed()
        let (status, _) = try await backEnd.calls.post(
            "purchases/GPA.2/move",
            ["customer": .string(Self.anna), "why": "asked by mail"]
        )
        #expect(status == 200)
        #expect(try await backEnd.present("token-2", "phone") == ["accepted held-by-another"])
        #expect(try await backEnd.hasAccess(Self.anna))
        await backEnd.server.close()
    }

    /// Anna replaces the purchase from the Play Store in the app, which names her account.
    @Test(arguments: [[1, 2, 3], [1, 3, 2], [2, 3, 1], [3, 2, 1]])
    func `a replacement in the app leaves the time before it to the inferred owner`(
        order: [Int]
    ) async throws {
        let backEnd = try BackEnd()
        let replaced = "2026-04-20T10:00:00Z"
        backEnd.play.answer("token-1", Self.expired())
        backEnd.play.answer(
            "token-2",
            Self.resubscribed("EXPIRED", from: "2026-04-05T10:00:00Z", until: replaced)
        )
        let end = "2026-06-01T10:00:00Z"
        backEnd.play.answer(
            "token-3",
            TestPlay.subscription(
                "ACTIVE",
                until: end,
                [
                    "startTime": .string(replaced), "linkedPurchaseToken": "token-2",
                    "externalAccountIdentifiers": Self.identifiers(Self.anna),
                    "lineItems": [Self.item(end, "GPA.3")],
                ]
            )
        )
        for number in order { try await backEnd.push("token-\(number)") }
        #expect(try await backEnd.hasAccess(Self.anna))
        let before = try #require(Instant(rfc3339: "2026-04-10T10:00:00Z"))
        #expect(try await backEnd.calls.state(of: Self.anna, at: before) == "active")
        await backEnd.server.close()
    }

    @Test func `erasing the owner erases what was inferred, and nothing is inferred again`()
        async throws
    {
        let backEnd = try await resubscribed()
        let target = "/v1/apps/cards/customers/\(Self.anna)"
        let erased = try JSONDocument(try await backEnd.server.send("DELETE", target).body).root
        #expect(erased["erased"]?["purchases"]?.int64 == 2)
        try await backEnd.push("token-2")
        #expect(try await !backEnd.hasAccess(Self.anna))
        #expect(try await backEnd.unclaimed() == ["GPA.2"])
        await backEnd.server.close()
    }

    @Test func `erasing a customer erases when the store was asked about their purchases`()
        async throws
    {
        let backEnd = try await resubscribed()
        let storage = backEnd.server.storage
        let anna = CustomerKey(
            app: "cards",
            environment: .sandbox,
            customer: try #require(CustomerID(Self.anna))
        )
        let known = try #require(try storage.lineages(of: anna, now: backEnd.server.now))
        let bookmarks = known.lineageRecords.map(\.lineage).flatMap { lineage in
            ["confirmed:\(lineage.key)", "failed:\(lineage.key)"]
                + ["settled:\(lineage.key):\(lineage.id)"]
        }.map {
            BookmarkKey(app: "cards", environment: .sandbox, name: "googlePlay:\($0)")
        }
        #expect(bookmarks.count == 6)
        for bookmark in bookmarks { try await storage.keep(Array("{}".utf8), as: bookmark) }
        let target = "/v1/apps/cards/customers/\(Self.anna)"
        #expect(try await backEnd.server.send("DELETE", target).status == 200)
        for bookmark in bookmarks {
            #expect(try storage.bookmark(bookmark) == nil, "\(bookmark.name)")
        }
        await backEnd.server.close()
    }

    @Test func `erasing an owner erases a purchase that another was inferred to own`()
        async throws
    {
        let backEnd = try await resubscribed()
        #expect(try await backEnd.present("token-2", "phone") == ["accepted claimed"])
        let target = "/v1/apps/cards/customers/phone"
        let erased = try JSONDocument(try await backEnd.server.send("DELETE", target).body).root
        #expect(erased["erased"]?["purchases"]?.int64 == 1)
        #expect(erased["kept"]?["purchases"]?.int64 == 0)
        #expect(try await backEnd.server.premium(Self.anna).hasPrefix("expired"))
        await backEnd.server.close()
    }
}
