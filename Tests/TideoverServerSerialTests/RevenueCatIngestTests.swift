import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverRevenueCat
import TideoverSQLite
import TideoverServer
import TideoverSignatures
import TideoverStorage

@testable import TideoverTestServer

/// RevenueCat's webhooks through the route, alone and beside the stores' own facts.
struct RevenueCatIngestTests {
    private static let world: [Environment] = [.production, .sandbox]

    private func server(
        _ revenueCat: TestRevenueCat = TestRevenueCat(),
        policy: Policy = Policy(),
        googlePlay: PlayTrust? = nil,
        asks: Bool = false
    ) throws -> TestServer {
        try TestServer(
            policy: policy,
            googlePlay: googlePlay,
            revenueCat: revenueCat.trust(asks: asks),
            environments: Self.world
        )
    }

    // MARK: Authentication

    @Test func `a request that is not from RevenueCat stores nothing`() async throws {
        let server = try server()
        let event = TestRevenueCat.event("INITIAL_PURCHASE", id: "E-1")
        let twice: Headers = [
            "Authorization": TestRevenueCat.authorization, "authorization": "another",
        ]
        let cases: [(Request, String)] = [
            (TestRevenueCat.request(event, headers: [:]), "401 missing-authorization"),
            (TestRevenueCat.request(event, headers: twice), "401 missing-authorization"),
            (
                TestRevenueCat.request(event, headers: ["Authorization": "Bearer guess"]),
                "401 wrong-authorization"
            ),
            (TestRevenueCat.request(Array("{".utf8)), "400 malformed-json"),
            (TestRevenueCat.request(Array(#"{"event":{}}"#.utf8)), "400 missing-member"),
            (
                TestRevenueCat.request(
                    TestRevenueCat.event("RENEWAL", id: "E-3", ["product_id": 7])
                ),
                "400 malformed"
            ),
        ]
        for (request, word) in cases { #expect(try await server.hear(request) == word) }
        for environment in Self.world {
            let kept = try server.storage.evidence(
                in: AppScope("cards", environment),
                after: nil,
                limit: 10
            )
            #expect(kept == [])
        }
        #expect(server.logged.allSatisfy { !$0.contains("guess") })
        await server.close()
    }

    /// An index of PostgreSQL cannot hold such an id.
    @Test func `a long id of an event is stored as a digest`() async throws {
        let server = try server()
        let id = String(repeating: "x", count: 3_000)
        for word in ["200 committed", "200 duplicate"] {
            #expect(try await server.hear(TestRevenueCat.event("RENEWAL", id: id)) == word)
        }
        let scope = AppScope("cards", .sandbox)
        let kept = try server.storage.evidence(in: scope, after: nil, limit: 9)
        #expect(kept.map(\.dedupeKey.utf8.count) == ["revenuecat:sha256:".utf8.count + 64])
        await server.close()
    }

    @Test func `a long id of a customer is stored under no name`() async throws {
        let server = try server()
        let long = JSONValue.string(String(repeating: "x", count: 3_000))
        let event = TestRevenueCat.event("RENEWAL", id: "E-1", ["app_user_id": long])
        #expect(try await server.hear(event) == "200 committed")
        let scope = AppScope("cards", .sandbox)
        #expect(try server.storage.evidence(in: scope, after: nil, limit: 9).count == 1)
        #expect(try server.storage.unclaimed(in: scope, after: nil, limit: 9) == [])
        await server.close()
    }

    @Test func `an app without RevenueCat has no webhook route`() async throws {
        let server = try TestServer()
        let word = try await server.hear(TestRevenueCat.event("TEST", id: "E-1"))
        #expect(word == "404 revenuecat-not-configured")
        await server.close()
    }

    @Test func `signed webhooks need a valid signature`() async throws {
        let server = try TestServer(
            revenueCat: TestRevenueCat().trust(signatureSecret: "rc-signing-secret"),
            environments: Self.world
        )
        let body = Array(
            (#"{"api_version":"1.0","event":{"type":"TEST","id":"signed-1","#
                + #""event_timestamp_ms":1777629600000,"environment":"SANDBOX"}}"#).utf8
        )
        // HMAC-SHA256 of `1777629605.` and the body, computed by another implementation.
        let signature =
            "26e2396e505a415498dad3e513dc48a5a3ba0582b8a243835d891fcd49c5f3f3"
        func headers(_ signature: String?) -> Headers {
            var headers: Headers = ["Authorization": TestRevenueCat.authorization]
            if let signature {
                headers["X-RevenueCat-Webhook-Signature"] = "t=1777629605,v1=\(signature)"
            }
            return headers
        }
        let cases: [(String?, [UInt8], String)] = [
            (nil, body, "401 missing-signature"),
            (signature, body + [UInt8(ascii: " ")], "401 wrong-signature"),
            (String(signature.reversed()), body, "401 wrong-signature"),
            ("zz", body, "401 malformed-signature"),
            (signature, body, "200 committed"),
        ]
        for (signature, body, word) in cases {
            let request = TestRevenueCat.request(body, headers: headers(signature))
            #expect(try await server.hear(request) == word)
        }
        await server.close()
    }

    @Test func `an event dated in the future is rejected for a retry`() async throws {
        let server = try server()
        let event = TestRevenueCat.event("RENEWAL", id: "E-1", at: "2026-05-02T00:00:00Z")
        #expect(try await server.hear(event) == "503 signed-in-the-future")
        #expect(try server.facts().isEmpty)
        server.set("2026-05-02T00:00:00Z")
        #expect(try await server.hear(event) == "200 committed")
        await server.close()
    }

    // MARK: Events

    @Test func `a repeated event changes nothing`() async throws {
        let server = try server()
        let event = TestRevenueCat.event("INITIAL_PURCHASE", id: "E-1")
        #expect(try await server.hear(event) == "200 committed")
        let (facts, answer) = (try server.facts(), try await server.answer())
        for _ in 0..<3 { #expect(try await server.hear(event) == "200 duplicate") }
        #expect(try server.facts() == facts)
        #expect(try await server.answer() == answer)
        #expect(try await server.premium() == "active paid access")
        #expect(answer["entitlements"]?["premium"]?["confidence"] == "presumed")
        await server.close()
    }

    @Test func `every type is stored, and an unknown one is counted`() async throws {
        let server = try server()
        let types = RevenueCatEvent.EventType.allCases.map(\.rawValue) + ["MOON_LANDING"]
        for type in types {
            let event = TestRevenueCat.event(type, id: "E-\(type)")
            #expect(try await server.hear(event) == "200 committed", "\(type)")
        }
        let kept = try server.storage.evidence(
            in: AppScope("cards", .sandbox),
            after: nil,
            limit: 100
        )
        #expect(kept.count == types.count)
        let counts = try await server.counts()
        let unknown = counts.filter { $0.hasPrefix("unrecognised") }
        #expect(unknown == ["unrecognised type=MOON_LANDING 1"])
        await server.close()
    }

    @Test func `a test and an unknown type state no facts`() async throws {
        let server = try server()
        for type in ["TEST", "MOON_LANDING"] {
            #expect(
                try await server.hear(TestRevenueCat.event(type, id: type)) == "200 committed"
            )
        }
        #expect(try server.facts().isEmpty)
        #expect(try await server.premium().hasPrefix("never"))
        await server.close()
    }

    @Test func `an incomplete event is stored and counted and states no facts`() async throws {
        let server = try server()
        for (id, environment) in [("1", JSONValue.null), ("2", "MOON")] {
            let event = TestRevenueCat.event("RENEWAL", id: id, ["environment": environment])
            #expect(try await server.hear(event) == "200 committed")
        }
        #expect(try server.facts(.production).isEmpty)
        #expect(try server.facts(.sandbox).isEmpty)
        #expect(try Self.kept(server, .production) == 2)
        let counts = try await server.counts()
        #expect(counts.contains("rare incomplete RENEWAL 2"))
        #expect(counts.contains("unrecognised environment=MOON 1"))
        await server.close()
    }

    private static func kept(_ server: TestServer, _ environment: Environment) throws -> Int {
        try server.storage.evidence(
            in: AppScope("cards", environment),
            after: nil,
            limit: 100
        ).count
    }

    @Test func `an event without purchase and environment is stored once`() async throws {
        let server = try server()
        let aliases: JSONValue = ["$RCAnonymousID:c1", .string(TestServer.anna)]
        for (type, more) in [
            ("EXPERIMENT_ENROLLMENT", ["aliases": aliases, "experiment_id": "prexp7"]),
            ("VIRTUAL_CURRENCY_TRANSACTION", ["purchase_environment": "PRODUCTION"]),
            ("INVOICE_ISSUANCE", ["store": "RC_BILLING", "transaction_id": .null]),
            ("SUBSCRIBER_ALIAS", ["aliases": aliases]),
        ] as [(String, JSONObject)] {
            var event = TestRevenueCat.event(type, id: type, ["environment": .null])
            for (key, value) in more { event[key] = value }
            #expect(try await server.hear(event) == "200 committed", "\(type)")
        }
        #expect(try Self.kept(server, .production) == 4)
        #expect(try Self.kept(server, .sandbox) == 0)
        #expect(try await server.counts() == [])
        await server.close()
    }

    @Test func `a temporary grant gives access until the real purchase is known`() async throws {
        let server = try server()
        let until = TestRevenueCat.start + .hours(20)
        let grant: JSONObject = [
            "type": "TEMPORARY_ENTITLEMENT_GRANT", "id": "1", "store": "APP_STORE",
            "event_timestamp_ms": TestRevenueCat.ms(TestRevenueCat.start),
            "purchased_at_ms": TestRevenueCat.ms(TestRevenueCat.start),
            "expiration_at_ms": TestRevenueCat.ms(until), "entitlement_ids": ["premium"],
            "product_id": "cards.pro.monthly", "app_user_id": .string(TestServer.anna),
            "aliases": ["$RCAnonymousID:c1", .string(TestServer.anna)],
        ]
        #expect(try await server.hear(grant) == "200 committed")
        let premium = try await server.answer(environment: "production")["entitlements"]?["premium"]
        #expect(premium?["access"] == true)
        #expect(premium?["confidence"] == "presumed")
        #expect(premium?["accessUntil"] == .string(until.rfc3339))
        #expect(try server.facts(.sandbox).isEmpty)
        let purchase = TestRevenueCat.event(
            "INITIAL_PURCHASE",
            id: "2",
            ["environment": "PRODUCTION"]
        )
        #expect(try await server.hear(purchase) == "200 committed")
        let bought = try await server.answer(environment: "production")["entitlements"]?["premium"]
        #expect(bought?["reason"] == "paid")
        #expect(bought?["accessUntil"] == .string(TestRevenueCat.end.rfc3339))
        await server.close()
    }

    @Test func `sandbox and production are separate`() async throws {
        let server = try server()
        let event = TestRevenueCat.event("INITIAL_PURCHASE", id: "1", ["environment": "PRODUCTION"])
        _ = try await server.hear(event)
        #expect(try server.facts(.sandbox).isEmpty)
        #expect(try server.facts(.production).isEmpty == false)
        await server.close()
    }

    @Test(arguments: ["STRIPE", "AMAZON", "PADDLE"])
    func `a purchase of another store has its own lineage`(_ store: String) async throws {
        let server = try server()
        _ = try await server.hear(
            TestRevenueCat.event("INITIAL_PURCHASE", id: "1", ["store": .string(store)])
        )
        #expect(try await server.premium() == "active paid access")
        let lineages = Set(try server.facts().map(\.lineage.key))
        #expect(lineages == ["revenueCat:\(store.lowercased()):2000000000000001"])
        await server.close()
    }

    // MARK: A life in every order

    private static func life(_ name: String) -> [JSONObject] {
        let failed: JSONObject = ["transaction_id": .string("\(name)-2")]
        let renewed: JSONObject = [
            "transaction_id": .string("\(name)-2"), "purchased_at_ms": TestRevenueCat.ms(end),
            "expiration_at_ms": TestRevenueCat.ms(nextEnd),
        ]
        let grace: JSONObject = ["grace_period_expiration_at_ms": TestRevenueCat.ms(graceEnd)]
        let pastDue: JSONObject = ["cancel_reason": "BILLING_ERROR"]
        let events: [(String, Instant, [JSONObject])] = [
            ("INITIAL_PURCHASE", TestRevenueCat.start, []),
            ("RENEWAL", end, [renewed]),
            ("BILLING_ISSUE", nextEnd, [renewed, failed, grace]),
            ("CANCELLATION", nextEnd, [renewed, failed, pastDue]),
        ]
        return events.map { type, at, changes in
            let own: JSONObject = [
                "app_user_id": .string(name), "original_app_user_id": .string(name),
                "aliases": [.string(name)], "transaction_id": .string("\(name)-1"),
                "original_transaction_id": .string("\(name)-1"),
            ]
            var all = own
            for change in changes { for (key, value) in change { all[key] = value } }
            return TestRevenueCat.event(type, id: "\(name) \(type)", at: at, all)
        }
    }

    private static let end = TestRevenueCat.end
    private static let nextEnd: Instant = "2026-07-01T10:00:00Z"
    private static let graceEnd: Instant = "2026-07-17T10:00:00Z"

    /// Returns all orders of a number of items.
    private static func orders(of count: Int) -> [[Int]] {
        guard count > 0 else { return [[]] }
        return orders(of: count - 1).flatMap { order in
            (0...order.count).map { place in
                var order = order
                order.insert(count - 1, at: place)
                return order
            }
        }
    }

    @Test func `events in any order give one answer with the end of grace`() async throws {
        let server = try server()
        server.set("2026-07-05T00:00:00Z")
        for (number, order) in Self.orders(of: 4).enumerated() {
            let name = "customer-\(number)"
            let life = Self.life(name)
            for place in order { #expect(try await server.hear(life[place]) == "200 committed") }
            let premium = try await server.answer(name)["entitlements"]?["premium"]
            #expect(premium?["state"] == "grace", "\(order)")
            #expect(premium?["reason"] == "billingIssue")
            #expect(premium?["graceUntil"] == .string(Self.graceEnd.rfc3339), "\(order)")
            #expect(premium?["accessUntil"] == .string(Self.graceEnd.rfc3339), "\(order)")
            #expect(premium?["confidence"] == "presumed")
        }
        await server.close()
    }

    // MARK: Beside the stores

    private func purchases(_ server: TestServer, _ customer: String) async throws -> [JSONValue] {
        let path = "/v1/apps/cards/customers/\(customer)/explain?environment=sandbox"
        let root = JSONValue(try JSONDocument(try await server.get(path).body).root)
        return root["purchases"]?.array ?? []
    }

    private func push(_ server: TestServer, _ id: String) async throws -> Int {
        let request = try TestPlay.push(TestPlay.notice(4), messageId: id, at: server.now)
        return try await server.service.handler(request).status
    }

    @Test(arguments: [true, false])
    func `a purchase of Google Play counts once in either order of its sources`(
        relayFirst: Bool
    ) async throws {
        let play = TestPlay()
        play.answer("token-1", TestPlay.subscription("ACTIVE", until: Self.end.rfc3339))
        let server = try server(googlePlay: play.trust())
        let event = TestRevenueCat.event("RENEWAL", id: "1", TestRevenueCat.play)
        if relayFirst { #expect(try await server.hear(event) == "200 committed") }
        #expect(try await push(server, "1") == 200)
        if !relayFirst { #expect(try await server.hear(event) == "200 committed") }
        let premium = try await server.answer()["entitlements"]?["premium"]
        #expect(premium?["confidence"] == "confirmed")
        #expect(premium?["accessUntil"] == .string(Self.end.rfc3339))
        let purchases = try await purchases(server, TestServer.anna)
        #expect(purchases.count == 1)
        let report = try await server.service.replayed()
        #expect(report["status"] == "completed")
        #expect(report["added"]?["count"] == 0)
        #expect(report["unread"]?["count"] == 0)
        await server.close()
    }

    @Test func `a purchase without an account belongs to the customer that RevenueCat names`()
        async throws
    {
        let play = TestPlay()
        var unnamed = TestPlay.subscription("ACTIVE", until: Self.end.rfc3339)
        unnamed["externalAccountIdentifiers"] = nil
        play.answer("token-1", unnamed)
        let server = try server(googlePlay: play.trust())
        _ = try await server.hear(TestRevenueCat.event("RENEWAL", id: "1", TestRevenueCat.play))
        #expect(try await push(server, "1") == 200)
        let premium = try await server.answer()["entitlements"]?["premium"]
        #expect(premium?["confidence"] == "confirmed")
        let unclaimed = try server.storage.unclaimedCount(
            in: AppScope("cards", .sandbox),
            limit: 10
        )
        #expect(unclaimed == 0)
        await server.close()
    }

    @Test func `RevenueCat's customer owns a purchase that another device presents first`()
        async throws
    {
        let play = TestPlay()
        var unnamed = TestPlay.subscription("ACTIVE", until: Self.end.rfc3339)
        unnamed["externalAccountIdentifiers"] = nil
        play.answer("token-1", unnamed)
        let server = try server(googlePlay: play.trust())
        _ = try await server.hear(TestRevenueCat.event("RENEWAL", id: "1", TestRevenueCat.play))
        let (status, answer) = try await Device(server: server, customer: TestServer.ben).present(
            ["purchases": [["store": "googlePlay", "purchaseToken": "token-1"]]],
            environment: "sandbox"
        )
        #expect(status == 200)
        #expect(Device.items(answer) == ["accepted held-by-another"])
        let premium = try await server.answer()["entitlements"]?["premium"]
        #expect(premium?["confidence"] == "confirmed")
        await server.close()
    }

    @Test(arguments: [true, false])
    func `the customer that the store names owns the purchase alone`(
        relayFirst: Bool
    ) async throws {
        let play = TestPlay()
        play.answer("token-1", TestPlay.subscription("ACTIVE", until: Self.end.rfc3339))
        let server = try server(googlePlay: play.trust())
        var changes = TestRevenueCat.play
        for name in ["app_user_id", "original_app_user_id"] {
            changes[name] = .string(TestServer.ben)
        }
        changes["aliases"] = [.string(TestServer.ben)]
        let event = TestRevenueCat.event("RENEWAL", id: "1", changes)
        if relayFirst { #expect(try await server.hear(event) == "200 committed") }
        #expect(try await push(server, "1") == 200)
        if !relayFirst { #expect(try await server.hear(event) == "200 committed") }
        #expect(try await server.premium(TestServer.anna) == "active paid access")
        #expect(try await server.premium(TestServer.ben).hasSuffix("none"))
        await server.close()
    }

    /// The ids of a customer under which a purchase can have been made. The last one is another id
    /// that the app gave.
    private static let buyers = [
        TestServer.anna, "$RCAnonymousID:0f1e2d3c4b5a69788796a5b4c3d2e1f0", "former-id",
    ]

    /// A subscription on Google Play with the account that RevenueCat's SDK makes from an id.
    private func sold(to buyer: String) -> (play: TestPlay, account: String) {
        let account = Hexadecimal.text(SHA256.hash(buyer.utf8))
        let play = TestPlay()
        let ids: JSONValue = ["obfuscatedExternalAccountId": .string(account)]
        play.answer(
            "token-1",
            TestPlay.subscription(
                "ACTIVE",
                until: Self.end.rfc3339,
                ["externalAccountIdentifiers": ids]
            )
        )
        return (play, account)
    }

    @Test(arguments: [true, false], Self.buyers)
    func `an account that RevenueCat's SDK made belongs to the customer that RevenueCat names`(
        relayFirst: Bool,
        buyer: String
    ) async throws {
        let (play, account) = sold(to: buyer)
        let server = try server(googlePlay: play.trust())
        var changes = TestRevenueCat.play
        changes["aliases"] = [.string(TestServer.anna), .string(buyer)]
        let event = TestRevenueCat.event("RENEWAL", id: "1", changes)
        if relayFirst { #expect(try await server.hear(event) == "200 committed") }
        #expect(try await push(server, "1") == 200)
        if !relayFirst { #expect(try await server.hear(event) == "200 committed") }
        #expect(try await server.premium(TestServer.anna) == "active paid access")
        #expect(try await server.premium(account).hasSuffix("none"))
        #expect(try await push(server, "2") == 200)
        #expect(try await server.premium(TestServer.anna) == "active paid access")
        await server.close()
    }

    @Test(arguments: [true, false], Self.buyers)
    func `an imported purchase stays with its customer when Google Play reports it`(
        importFirst: Bool,
        buyer: String
    ) async throws {
        let (play, _) = sold(to: buyer)
        let server = try server(googlePlay: play.trust())
        let answer = TestRevenueCat.answer(
            buyer,
            at: TestRevenueCat.start,
            ["store": "play_store", "store_transaction_id": "GPA.1..0"]
        )
        let line = Array(#"{"app_user_id":"\#(TestServer.anna)","#.utf8) + answer.dropFirst()
        if !importFirst { #expect(try await push(server, "1") == 200) }
        let path = "/v1/apps/cards/imports/revenuecat"
        #expect(try await server.send("POST", path, body: line).status == 200)
        #expect(try await push(server, "2") == 200)
        #expect(try await server.premium(TestServer.anna) == "active paid access")
        await server.close()
    }

    @Test func `an erasure includes a purchase with an account of RevenueCat's SDK`() async throws {
        let (play, account) = sold(to: TestServer.anna)
        let server = try server(googlePlay: play.trust())
        let event = TestRevenueCat.event("RENEWAL", id: "1", TestRevenueCat.play)
        #expect(try await server.hear(event) == "200 committed")
        #expect(try await push(server, "1") == 200)
        let path = "/v1/apps/cards/customers/\(TestServer.anna)"
        let answer = try await server.send("DELETE", path)
        #expect(answer.status == 200)
        let root = try JSONDocument(answer.body).root
        #expect(root["kept"]?["purchases"]?.int64 == 0)
        #expect(try await server.premium(account).hasSuffix("none"))
        await server.close()
    }

    @Test func `a transfer gives no account of RevenueCat's SDK to another customer`()
        async throws
    {
        let (play, account) = sold(to: TestServer.anna)
        let server = try server(googlePlay: play.trust())
        #expect(try await push(server, "1") == 200)
        let transfer: JSONObject = [
            "app_user_id": .null, "original_app_user_id": .null, "aliases": .null,
            "transferred_from": [.string(account), .string(TestServer.anna)],
            "transferred_to": [.string(TestServer.ben)],
        ]
        let event = TestRevenueCat.event("TRANSFER", id: "1", transfer)
        #expect(try await server.hear(event) == "200 committed")
        #expect(try await server.premium(TestServer.ben).hasSuffix("none"))
        await server.close()
    }

    @Test(arguments: [true, false])
    func `a purchase of the App Store counts once, and RevenueCat does not overrule it`(
        relayFirst: Bool
    ) async throws {
        let server = try server()
        let cancelled = TestRevenueCat.event(
            "CANCELLATION",
            id: "1",
            at: "2026-05-01T10:00:04Z",
            [
                "cancel_reason": "CUSTOMER_SUPPORT",
                "expiration_at_ms": TestRevenueCat.ms(Message.start),
            ]
        )
        if relayFirst { _ = try await server.hear(cancelled) }
        #expect(try await server.post(.purchase()).status == 200)
        if !relayFirst { _ = try await server.hear(cancelled) }
        #expect(try await server.premium() == "active paid access")
        #expect(Set(try server.facts().map(\.lineage.key)) == ["appStore:2000000000000001"])
        await server.close()
    }

    // MARK: Customers

    @Test(arguments: [[0, 1], [1, 0]])
    func `an anonymous id of RevenueCat belongs to the customer it names`(_ order: [Int])
        async throws
    {
        let server = try server()
        let made = "$RCAnonymousID:0a1b"
        let events = [
            TestRevenueCat.event(
                "INITIAL_PURCHASE",
                id: "1",
                [
                    "app_user_id": .string(made), "original_app_user_id": .string(made),
                    "aliases": [.string(made)],
                ]
            ),
            TestRevenueCat.event(
                "UNCANCELLATION",
                id: "2",
                at: "2026-05-01T10:00:03Z",
                [
                    "original_app_user_id": .string(made),
                    "aliases": [.string(made), .string(TestServer.anna)],
                ]
            ),
        ]
        for place in order { #expect(try await server.hear(events[place]) == "200 committed") }
        #expect(try await server.premium() == "active paid access")
        await server.close()
    }

    @Test func `RevenueCat does not join two ids of the app`() async throws {
        let server = try server()
        let aliases: JSONValue = [.string(TestServer.anna), .string(TestServer.ben)]
        _ = try await server.hear(
            TestRevenueCat.event("INITIAL_PURCHASE", id: "1", ["aliases": aliases])
        )
        #expect(try await server.premium(TestServer.ben).hasPrefix("never"))
        await server.close()
    }

    @Test(
        arguments: [
            (Policy.Transfer.claim, "active paid access", "never"),
            (.transfer(coolDown: .zero), "none", "active paid access"),
            (.transfer(coolDown: .days(1)), "none", "active paid access"),
        ],
        [false, true]
    )
    func `policy decides about transfers of RevenueCat, also before their purchase`(
        _ expected: (policy: Policy.Transfer, former: String, new: String),
        transferFirst: Bool
    ) async throws {
        let (policy, former, new) = expected
        let server = try server(policy: Policy(transfer: policy))
        let purchase = TestRevenueCat.event("INITIAL_PURCHASE", id: "1")
        if !transferFirst { _ = try await server.hear(purchase) }
        let transfer: JSONObject = [
            "type": "TRANSFER", "id": "2", "event_timestamp_ms": TestRevenueCat.ms(Message.start),
            "transferred_from": [.string(TestServer.anna)],
            "transferred_to": ["$RCAnonymousID:1", .string(TestServer.ben)],
        ]
        #expect(try await server.hear(transfer) == "200 committed")
        #expect(try await server.hear(transfer) == "200 duplicate")
        if transferFirst { #expect(try await server.hear(purchase) == "200 committed") }
        #expect(try await server.premium(TestServer.anna).hasSuffix(former))
        #expect(try await server.premium(TestServer.ben).hasPrefix(new))
        let audit = try server.storage.audit(app: "cards", customer: nil, after: nil, limit: 10)
        #expect(!audit.isEmpty)
        // Neither customer did anything.
        #expect(audit.allSatisfy { $0.entry.actor == .relay || $0.entry.kind == .aliased })
        let moved = audit.first { $0.entry.kind == .transferred }?.entry.why
        #expect(moved?.hasPrefix("RevenueCat reported the customer") ?? true)
        await server.close()
    }

    @Test func `a purchase after a transfer stays with its buyer`() async throws {
        let policy = Policy(transfer: .transfer(coolDown: .zero))
        let server = try server(policy: policy)
        let start = TestRevenueCat.start
        let transfer: JSONObject = [
            "type": "TRANSFER", "id": "2", "event_timestamp_ms": TestRevenueCat.ms(start),
            "transferred_from": [.string(TestServer.anna)],
            "transferred_to": [.string(TestServer.ben)],
        ]
        #expect(try await server.hear(transfer) == "200 committed")
        let later = start + .seconds(1)
        _ = try await server.hear(TestRevenueCat.event("INITIAL_PURCHASE", id: "1", at: later))
        #expect(try await server.premium(TestServer.anna) == "active paid access")
        #expect(try await server.premium(TestServer.ben).hasPrefix("never"))
        await server.close()
    }

    @Test func `repeated transfers lead to the last customer, and a late event changes nothing`()
        async throws
    {
        let server = try server(policy: Policy(transfer: .transfer(coolDown: .zero)))
        let start = TestRevenueCat.start
        func transfer(_ id: String, _ from: String, _ to: String, at seconds: Int64) -> JSONObject {
            [
                "type": "TRANSFER", "id": .string(id),
                "event_timestamp_ms": TestRevenueCat.ms(start + .seconds(seconds)),
                "transferred_from": [.string(from)], "transferred_to": [.string(to)],
            ]
        }
        _ = try await server.hear(transfer("3", "u_2", TestServer.ben, at: 2))
        _ = try await server.hear(transfer("2", TestServer.anna, "u_2", at: 1))
        _ = try await server.hear(TestRevenueCat.event("INITIAL_PURCHASE", id: "1"))
        #expect(try await server.premium(TestServer.ben) == "active paid access")
        _ = try await server.hear(TestRevenueCat.event("UNCANCELLATION", id: "4"))
        #expect(try await server.premium(TestServer.ben) == "active paid access")
        await server.close()
    }

    // MARK: Queries

    @Test func `the customer of an event is requested from RevenueCat, and the answer is stored`()
        async throws
    {
        let revenueCat = TestRevenueCat()
        revenueCat.answer(TestServer.anna, Response(body: TestRevenueCat.answer()))
        let server = try server(revenueCat, asks: true)
        server.set("2026-05-11T00:00:00Z")
        let event = TestRevenueCat.event("INITIAL_PURCHASE", id: "1")
        #expect(try await server.hear(event) == "200 committed")
        #expect(try await server.hear(event) == "200 duplicate")
        #expect(try await server.hear(TestRevenueCat.event("TEST", id: "2")) == "200 committed")
        #expect(revenueCat.questions == [TestServer.anna])
        #expect(Set(try server.facts().map(\.source)) == [.revenueCatWebhook, .revenueCatAPI])
        #expect(Set(try server.facts().map(\.lineage.key)).count == 1)
        await server.close()
    }

    @Test func `a failed request to RevenueCat changes nothing`() async throws {
        let server = try server(asks: true)
        let event = TestRevenueCat.event("INITIAL_PURCHASE", id: "1")
        #expect(try await server.hear(event) == "200 committed")
        #expect(try await server.premium() == "active paid access")
        let told = server.logged.filter { $0.contains("RevenueCat could not be asked") }
        #expect(told.count == 1)
        #expect(server.logged.allSatisfy { !$0.contains(TestServer.anna) })
        await server.close()
    }

    // MARK: Erasure

    /// Returns the number of pieces of evidence that erasing a customer removes.
    private func erase(_ customer: String, at server: TestServer) async throws -> Int64? {
        let response = try await server.send("DELETE", "/v1/apps/cards/customers/\(customer)")
        #expect(response.status == 200)
        return try JSONDocument(response.body).root["erased"]?["evidence"]?.int64
    }

    private func keys(_ server: TestServer) throws -> [String] {
        try Self.world.flatMap {
            try server.storage.evidence(in: AppScope("cards", $0), after: nil, limit: 100)
                .map(\.dedupeKey)
        }.sorted()
    }

    @Test func `an erasure removes messages without facts that name the customer`() async throws {
        let server = try server()
        for (customer, id) in [("gdpr", "1"), ("gdpr-1", "2"), ("gdpr", "3")] {
            let enrolment: JSONObject = [
                "type": "EXPERIMENT_ENROLLMENT", "id": .string(id), "environment": "SANDBOX",
                "event_timestamp_ms": TestRevenueCat.ms(TestRevenueCat.start),
                "app_user_id": .string(customer),
                "subscriber_attributes": ["$email": ["value": "anna@example.com"]],
            ]
            #expect(try await server.hear(enrolment) == "200 committed")
        }
        #expect(try await erase("gdpr", at: server) == 2)
        #expect(try keys(server) == ["revenuecat:2"])
        #expect(try await erase("gdpr-1", at: server) == 1)
        #expect(try keys(server) == [])
        await server.close()
    }

    @Test func `an erasure removes transfers from and to the customer`() async throws {
        let server = try server()
        for (id, from, to) in [("1", "u_1", "u_2"), ("2", "u_2", "u_3"), ("3", "u_4", "u_5")] {
            let transfer: JSONObject = [
                "type": "TRANSFER", "id": .string(id), "environment": "SANDBOX",
                "event_timestamp_ms": TestRevenueCat.ms(TestRevenueCat.start),
                "transferred_from": [.string(from)], "transferred_to": [.string(to)],
            ]
            #expect(try await server.hear(transfer) == "200 committed")
        }
        func transferred() throws -> [String] {
            try ["u_1", "u_2", "u_4"].filter { from in
                let name = "revenueCat:transfer:\(from)"
                let key = BookmarkKey(app: "cards", environment: .sandbox, name: name)
                return try server.storage.bookmark(key) != nil
            }
        }
        #expect(try transferred() == ["u_1", "u_2", "u_4"])
        #expect(try await erase("u_2", at: server) == 2)
        #expect(try keys(server) == ["revenuecat:3"])
        #expect(try transferred() == ["u_4"])
        await server.close()
    }
}
