import Testing
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer
import TideoverSignatures
import TideoverUnionChecker

@testable import TideoverTestServer

/// Tests the server as RevenueCat's SDKs see it by a proxy URL.
@Suite struct RevenueCatSDKTests {
    private static let sdk = RevenueCatSDK(
        appStoreKeys: ["appl_test"],
        googlePlayKeys: ["goog_test"],
        currentOffering: "default",
        offerings: [
            RevenueCatSDK.Offering(
                identifier: "default",
                description: "Standard",
                packages: [
                    RevenueCatSDK.Package(
                        identifier: "$rc_monthly",
                        products: ["cards.pro.monthly"]
                    )
                ]
            )
        ]
    )

    private func server(
        _ play: TestPlay? = nil,
        policy: Policy = Policy()
    ) throws -> TestServer {
        try TestServer(policy: policy, googlePlay: play?.trust(), revenueCatSDK: Self.sdk)
    }

    private static let anonymous = "$RCAnonymousID:0f1e2d3c4b5a69788796a5b4c3d2e1f0"

    private func transaction(_ server: TestServer) throws -> String {
        var transaction = Message.transaction()
        transaction["appAccountToken"] = nil
        return try server.store.sign(transaction)
    }

    // MARK: The life of a subscription

    @Test func `an App Store subscription is active in the SDK exactly while we give access`()
        async throws
    {
        let server = try server()
        var app = SDKApp(server: server, key: "appl_test")
        try await app.requireAgreement("before any purchase")
        let bought = try await app.post([
            "fetch_token": .string(try transaction(server)), "product_id": "cards.pro.monthly",
        ])
        #expect(bought.status == 200)
        #expect(bought.isActive("premium"))
        #expect(bought.body["purchased_products"]?["cards.pro.monthly"]?["should_consume"] == false)
        try await app.requireAgreement("bought")
        // A receipt presents one transaction, so the device's purchases are not known to be whole.
        #expect(try await server.answer("u_42")["reconciledAt"]?.string == nil)

        server.set(Message.end + .minutes(1))
        try await app.requireAgreement("renewal due")
        try await app.hear(Message.renewed())
        try await app.requireAgreement("renewed")

        let secondEnd = Message.end + .days(30)
        server.set(secondEnd + .minutes(5))
        var failed = Message.renewed("n-3", signed: secondEnd + .minutes(2))
        failed.type = "DID_FAIL_TO_RENEW"
        failed.subtype = "GRACE_PERIOD"
        failed.status = 4
        failed.renewal?["isInBillingRetryPeriod"] = true
        failed.renewal?["gracePeriodExpiresDate"] = (secondEnd + .days(16)).wire
        try await app.hear(failed)
        try await app.requireAgreement("grace")
        #expect(try await server.premium("u_42") == "grace billingIssue access")
        let inGrace = try await app.get()
        let subscription = try #require(inGrace.subscription("cards.pro.monthly"))
        #expect(subscription["billing_issues_detected_at"]?.string != nil)

        for instant in (secondEnd + .days(16)).around {
            server.set(instant)
            try await app.requireAgreement("the end of grace")
        }
        #expect(try await server.premium("u_42").hasSuffix("none"))

        let recovery = secondEnd + .days(18)
        server.set(recovery + .minutes(1))
        var recovered = Message.renewed("n-4", signed: recovery)
        recovered.subtype = "BILLING_RECOVERY"
        recovered.transaction?["transactionId"] = "2000000000000003"
        recovered.transaction?["webOrderLineItemId"] = "900000003"
        recovered.transaction?["purchaseDate"] = recovery.wire
        recovered.transaction?["expiresDate"] = (recovery + .days(30)).wire
        recovered.renewal?["renewalDate"] = (recovery + .days(30)).wire
        try await app.hear(recovered)
        try await app.requireAgreement("recovered")
        #expect(try await app.get().isActive("premium"))

        let refund = recovery + .days(5)
        server.set(refund + .minutes(1))
        var refunded = recovered
        refunded.uuid = "n-5"
        refunded.refund(at: refund)
        try await app.hear(refunded)
        try await app.requireAgreement("refunded")
        #expect(try await app.get().conclusion("premium") == false)
        // While a renewal is due, until the end of grace, and after it.
        #expect(app.confirmed == 3)
        await server.close()
    }

    @Test func `a Google Play subscription is active in the SDK exactly while we give access`()
        async throws
    {
        let play = TestPlay()
        let server = try server(play)
        var app = SDKApp(server: server, key: "goog_test", customer: TestServer.anna)
        let receipt: JSONObject = [
            "fetch_token": "token-1", "product_ids": ["cards.pro.monthly"], "price": 9.99,
        ]
        let steps: [(String, at: Instant, state: String, until: String, isActive: Bool)] = [
            ("bought", "2026-05-01T10:00:10Z", "ACTIVE", "2026-06-01T10:00:00Z", true),
            ("renewed", "2026-06-01T10:05:00Z", "ACTIVE", "2026-07-01T10:00:00Z", true),
            ("grace", "2026-07-01T10:05:00Z", "IN_GRACE_PERIOD", "2026-07-08T10:00:00Z", true),
            ("hold", "2026-07-08T10:05:00Z", "ON_HOLD", "2026-07-08T10:00:00Z", false),
            ("recovered", "2026-07-10T10:00:00Z", "ACTIVE", "2026-08-10T10:00:00Z", true),
            ("refunded", "2026-07-20T10:00:00Z", "EXPIRED", "2026-07-20T09:00:00Z", false),
        ]
        for (position, step) in steps.enumerated() {
            server.set(step.at)
            play.set(step.at)
            var changes: JSONObject = [:]
            if let order = JSONValue.string("GPA.1..\(position)").string {
                changes["latestOrderId"] = .string(order)
            }
            var subscription = TestPlay.subscription(step.state, until: step.until, changes)
            subscription["lineItems"] = [
                [
                    "productId": "cards.pro.monthly", "expiryTime": .string(step.until),
                    "latestSuccessfulOrderId": .string("GPA.1..\(min(position, 1))"),
                    "autoRenewingPlan": ["autoRenewEnabled": true],
                ]
            ]
            play.answer("token-1", subscription)
            let answer = try await app.post(receipt)
            #expect(answer.status == 200, "\(step.0)")
            #expect(answer.conclusion("premium") == step.isActive, "\(step.0)")
            try await app.requireAgreement(step.0)
        }
        try await app.requireAgreement("refunded, asked again")
        #expect(app.confirmed == 1)
        await server.close()
    }

    // MARK: Receipts

    @Test func `a forged or foreign receipt is final, with the number of an invalid receipt`()
        async throws
    {
        let server = try server()
        let app = SDKApp(server: server, key: "appl_test")
        let forged = try server.store.sign(Message.transaction(), defect: .unknownRoot)
        var foreign = Message.transaction()
        foreign["bundleId"] = "com.example.other"
        for token in [forged, try server.store.sign(foreign), "not-a-jws", "a.b.c"] {
            let answer = try await app.post(["fetch_token": .string(token)])
            #expect(answer.status == 400, "\(token)")
            #expect(answer.body["code"] == 7103, "\(token)")
        }
        await server.close()
    }

    @Test(arguments: [500, 503, 429, 403, 401])
    func `a store that cannot be asked keeps the purchase`(status: Int) async throws {
        let play = TestPlay()
        let server = try server(play)
        play.answer("token-1", status: status)
        let app = SDKApp(server: server, key: "goog_test")
        let answer = try await app.post(["fetch_token": "token-1", "product_ids": ["x"]])
        #expect(answer.status == 503)
        #expect(answer.body["code"] == 7110)
        await server.close()
    }

    @Test func `a token that Google Play does not know is invalid`() async throws {
        let play = TestPlay()
        let server = try server(play)
        let app = SDKApp(server: server, key: "goog_test")
        let answer = try await app.post(["fetch_token": "token-9", "product_ids": ["x"]])
        #expect(answer.status == 400)
        #expect(answer.body["code"] == 7103)
        await server.close()
    }

    @Test(arguments: ["u_42", anonymous])
    func `the account id that the SDK sets on Google Play is its customer`(
        customer: String
    ) async throws {
        let play = TestPlay()
        let server = try server(play)
        let digest = Hexadecimal.text(SHA256.hash(customer.utf8))
        play.answer(
            "token-1",
            TestPlay.subscription(
                "ACTIVE",
                until: "2026-06-01T10:00:00Z",
                [
                    "externalAccountIdentifiers": [
                        "obfuscatedExternalAccountId": .string(digest)
                    ]
                ]
            )
        )
        let receipt: JSONObject = [
            "fetch_token": "token-1", "product_ids": ["cards.pro.monthly"],
        ]
        let stranger = try await SDKApp(server: server, key: "goog_test", customer: "u_9")
            .post(receipt)
        #expect(stranger.body["code"] == 7102)
        let app = SDKApp(server: server, key: "goog_test", customer: customer)
        #expect(try await app.post(receipt).isActive("premium"))
        #expect(try await app.get().isActive("premium"))
        let logIn: JSONValue = ["app_user_id": .string(customer), "new_app_user_id": "u_50"]
        let after = try await app.ask("POST", "/v1/subscribers/identify", logIn)
        #expect(after.conclusion("premium") == (customer == Self.anonymous))
        await server.close()
    }

    /// An app can assign ids that have the form of the SDK's accounts on Google Play.
    @Test(arguments: ["u_50", String(repeating: "5a", count: 32)])
    func `an alias takes the purchases along, and one that is refused changes nothing`(
        named: String
    ) async throws {
        let server = try server()
        var transaction = Message.transaction()
        transaction["appAccountToken"] = nil
        let receipt: JSONObject = ["fetch_token": .string(try server.store.sign(transaction))]
        let former = SDKApp(server: server, key: "appl_test", customer: Self.anonymous)
        #expect(try await former.post(receipt).isActive("premium"))
        func alias(_ id: String, as new: String) async throws -> SDKApp.Answer {
            let path = "/v1/subscribers/\(PercentEncoding.encode(id))/alias"
            let body: JSONValue = ["new_app_user_id": .string(new)]
            return try await former.ask("POST", path, body)
        }
        for _ in 0..<2 { #expect(try await alias(Self.anonymous, as: named).status == 200) }
        #expect(
            try await SDKApp(server: server, key: "appl_test", customer: named).get()
                .isActive("premium")
        )
        // A customer who was named is not joined with another.
        #expect(try await alias(named, as: named).status == 200)
        let refused = try await alias(named, as: "u_51")
        #expect(refused.status == 400)
        #expect(refused.body["code"] == 7255)
        // An alias stays with its customer.
        #expect(try await alias(Self.anonymous, as: "u_51").body["code"] == 7255)
        let other = SDKApp(server: server, key: "appl_test", customer: "u_51")
        #expect(try await other.get().conclusion("premium") == false)
        await server.close()
    }

    /// Declares an alias of `u_42` as a back end does, and returns the status.
    private func declare(_ alias: String, at server: TestServer) async throws -> Int {
        let body: JSONValue = ["alias": .string(alias)]
        let path = "/v1/apps/cards/customers/u_42/aliases"
        return try await server.send("POST", path, body: body.encoded()).status
    }

    @Test func `log-ins from anonymous ids without purchases fill no customer's list of aliases`()
        async throws
    {
        let server = try server(TestPlay())
        // A receipt that names an id makes it known, without a purchase of its own.
        var transaction = Message.transaction()
        transaction["appAccountToken"] = .string(TestServer.anna)
        let receipt: JSONObject = ["fetch_token": .string(try server.store.sign(transaction))]
        for number in 0..<CustomerAlias.most {
            let digit = String(number, radix: 16)
            let anonymous = "$RCAnonymousID:" + String(repeating: digit, count: 32)
            let key = number.isMultiple(of: 2) ? "goog_test" : "appl_test"
            let phone = SDKApp(server: server, key: key, customer: anonymous)
            if key == "appl_test" { #expect(try await phone.post(receipt).body["code"] == 7102) }
            _ = try await logIn("u_42", on: phone)
        }
        for number in 0..<CustomerAlias.most {
            #expect(try await declare("web-\(number)", at: server) == 201)
        }
        await server.close()
    }

    @Test func `a customer with as many ids as fit still gets a purchase of their account`()
        async throws
    {
        let play = TestPlay()
        let server = try server(play)
        for number in 0..<CustomerAlias.most {
            #expect(try await declare("web-\(number)", at: server) == 201)
        }
        let digest = Hexadecimal.text(SHA256.hash("u_42".utf8))
        let account: JSONObject = ["obfuscatedExternalAccountId": .string(digest)]
        let bought = TestPlay.subscription(
            "ACTIVE",
            until: "2026-06-01T10:00:00Z",
            ["externalAccountIdentifiers": .object(account)]
        )
        play.answer("token-1", bought)
        let app = SDKApp(server: server, key: "goog_test", customer: "u_42")
        let receipt: JSONObject = [
            "fetch_token": "token-1", "product_ids": ["cards.pro.monthly"],
        ]
        for _ in 0..<2 { #expect(try await app.post(receipt).isActive("premium")) }
        #expect(try await app.get().isActive("premium"))
        await server.close()
    }

    @Test func `a purchase that awaits payment is kept`() async throws {
        let play = TestPlay()
        let server = try server(play)
        play.answer("token-1", TestPlay.subscription("PENDING", until: "2026-06-01T10:00:00Z"))
        let app = SDKApp(server: server, key: "goog_test", customer: TestServer.anna)
        let answer = try await app.post(["fetch_token": "token-1", "product_ids": ["x"]])
        #expect(answer.status == 503)
        await server.close()
    }

    @Test func `a purchase is accepted while its replacement awaits payment`() async throws {
        let play = TestPlay()
        let server = try server(play)
        let end = "2026-06-01T10:00:00Z"
        play.answer("token-1", TestPlay.subscription("ACTIVE", until: end))
        let pending = TestPlay.subscription(
            "PENDING",
            until: end,
            ["linkedPurchaseToken": "token-1"]
        )
        play.answer("token-2", pending)
        let app = SDKApp(server: server, key: "goog_test", customer: TestServer.anna)
        let products: JSONValue = ["cards.pro.monthly"]
        let bought: JSONObject = ["fetch_token": "token-1", "product_ids": products]
        #expect(try await app.post(bought).isActive("premium"))
        server.set(server.now + .hours(1))
        play.set(server.now)
        let replacing: JSONObject = ["fetch_token": "token-2", "product_ids": products]
        #expect(try await app.post(replacing).status == 503)
        #expect(try await app.post(bought).isActive("premium"))
        await server.close()
    }

    @Test func `policy that keeps a purchase with its owner refuses another customer`()
        async throws
    {
        let server = try server()
        let receipt: JSONObject = ["fetch_token": .string(try transaction(server))]
        let first = try await SDKApp(server: server, key: "appl_test").post(receipt)
        #expect(first.isActive("premium"))
        let again = try await SDKApp(server: server, key: "appl_test").post(receipt)
        #expect(again.body["subscriber"] == first.body["subscriber"])
        let other = try await SDKApp(server: server, key: "appl_test", customer: "u_43")
            .post(receipt)
        #expect(other.status == 400)
        #expect(other.body["code"] == 7102)
        await server.close()
    }

    @Test func `a receipt that arrives many times at once has one owner`() async throws {
        let server = try server()
        let receipt: JSONObject = ["fetch_token": .string(try transaction(server))]
        let answers = try await withThrowingTaskGroup(of: SDKApp.Answer.self) { group in
            for position in 0..<100 {
                let customer = position.isMultiple(of: 2) ? "u_42" : "u_43"
                group.addTask {
                    try await SDKApp(server: server, key: "appl_test", customer: customer)
                        .post(receipt)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let winners = answers.filter { $0.status == 200 }
        #expect(winners.count == 50)
        #expect(winners.allSatisfy { $0.isActive("premium") })
        let bodies = Set(winners.map { $0.body["subscriber"]?.encoded() })
        #expect(bodies.count == 1)
        #expect(answers.filter { $0.status != 200 }.allSatisfy { $0.body["code"] == 7102 })
        await server.close()
    }

    @Test func `policy that moves purchases rejects none of many receipts`() async throws {
        var policy = Policy()
        policy.transfer = .transfer(coolDown: .days(0))
        let server = try server(policy: policy)
        let receipt: JSONObject = ["fetch_token": .string(try transaction(server))]
        let apps = ["u_42", "u_43"].map {
            SDKApp(server: server, key: "appl_test", customer: $0)
        }
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for position in 0..<100 {
                group.addTask { try await apps[position % 2].post(receipt).status }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(statuses == [200])
        let owners = try await [apps[0].get(), apps[1].get()].filter { $0.isActive("premium") }
        #expect(owners.count == 1)
        await server.close()
    }

    @Test func `a restore without purchases is answered with the customer`() async throws {
        let server = try server()
        let app = SDKApp(server: server, key: "appl_test")
        let answer = try await app.post(["app_transaction": "a.b.c", "is_restore": true])
        #expect(answer.status == 200)
        #expect(answer.body["subscriber"]?["entitlements"] == [:])
        await server.close()
    }

    @Test(arguments: [100_000, 500_000])
    func `evidence that is too large keeps the purchase`(groups: Int) async throws {
        let server = try TestServer(
            receiptAuthorities: Device.receiptAuthorities(),
            revenueCatSDK: Self.sdk
        )
        let app = SDKApp(server: server, key: "appl_test")
        let token = String(repeating: "QUJD", count: groups)
        let answer = try await app.post(["fetch_token": .string(token)])
        // The smaller one is read, and is no receipt.
        let isRead = groups == 100_000
        #expect(answer.status == (isRead ? 400 : 503))
        #expect(answer.body["code"] == (isRead ? 7103 : 7110))
        await server.close()
    }

    // MARK: Identity

    @Test(arguments: ["$RCAnonymousID%3A", "%24RCAnonymousID%3A", "%24RCAnonymousID:"])
    func `an id is decoded once, after the path is split`(prefix: String) async throws {
        let server = try server()
        let app = SDKApp(server: server, key: "appl_test")
        let id = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
        let answer = try await app.ask("GET", "/v1/subscribers/\(prefix)\(id)")
        #expect(answer.body["subscriber"]?["original_app_user_id"] == .string(Self.anonymous))
        for (path, found) in [("a%2Fb", "a/b"), ("a%20b", "a b"), ("a+b", "a+b"), ("%25", "%")] {
            let answer = try await app.ask("GET", "/v1/subscribers/\(path)")
            #expect(answer.body["subscriber"]?["original_app_user_id"] == .string(found))
        }
        await server.close()
    }

    @Test func `a log-in takes an anonymous customer's purchases along`() async throws {
        let server = try server()
        let receipt: JSONObject = ["fetch_token": .string(try transaction(server))]
        let stranger = SDKApp(server: server, key: "appl_test", customer: Self.anonymous)
        #expect(try await stranger.post(receipt).isActive("premium"))
        let logIn: JSONValue = [
            "app_user_id": .string(Self.anonymous), "new_app_user_id": "u_42",
        ]
        let first = try await stranger.ask("POST", "/v1/subscribers/identify", logIn)
        #expect(first.status == 201)
        #expect(first.isActive("premium"))
        let second = try await stranger.ask("POST", "/v1/subscribers/identify", logIn)
        #expect(second.status == 200)
        // An SDK's key is public: no operator declared the alias.
        let audit = try await OwnershipCalls(server: server).audit("customers/u_42/audit")
        let alias = "aliased u_42 \(Self.anonymous) customer"
        #expect(audit.filter { $0.hasPrefix("aliased") }.allSatisfy { $0 == alias })
        #expect(audit.contains(alias))
        #expect(try await SDKApp(server: server, key: "appl_test").get().isActive("premium"))
        await server.close()
    }

    /// The account id of an anonymous customer on Google Play is a digest of the id.
    private func playOfAnonymous() -> TestPlay {
        let play = TestPlay()
        play.answer("token-1", subscription(of: Self.anonymous))
        return play
    }

    /// A subscription that the SDK of a customer bought on Google Play.
    private func subscription(
        of customer: String,
        _ state: String = "ACTIVE",
        from start: String = "2026-05-01T10:00:00Z",
        until end: String = "2026-06-01T10:00:00Z"
    ) -> JSONObject {
        let digest = Hexadecimal.text(SHA256.hash(customer.utf8))
        let account: JSONObject = ["obfuscatedExternalAccountId": .string(digest)]
        return TestPlay.subscription(
            state,
            until: end,
            ["externalAccountIdentifiers": .object(account), "startTime": .string(start)]
        )
    }

    private func receipt(_ token: String) -> JSONObject {
        ["fetch_token": .string(token), "product_ids": ["cards.pro.monthly"]]
    }

    /// Logs a customer in on the phone of an anonymous one.
    private func logIn(
        _ customer: String,
        on phone: SDKApp
    ) async throws -> SDKApp.Answer {
        let logIn: JSONValue = [
            "app_user_id": .string(phone.customer), "new_app_user_id": .string(customer),
        ]
        let answer = try await phone.ask("POST", "/v1/subscribers/identify", logIn)
        #expect((200...201).contains(answer.status))
        #expect(answer.body["subscriber"]?["original_app_user_id"]?.string == customer)
        return answer
    }

    @Test(arguments: [Policy.Transfer.claim, .keep])
    func `a phone whose log-in had no answer can log in another customer, who gets nothing`(
        transfer: Policy.Transfer
    ) async throws {
        var policy = Policy()
        policy.transfer = transfer
        let server = try server(playOfAnonymous(), policy: policy)
        let phone = SDKApp(server: server, key: "goog_test", customer: Self.anonymous)
        #expect(try await phone.post(receipt("token-1")).isActive("premium"))
        let (first, second) = (
            SDKApp(server: server, key: "goog_test", customer: "u_50"),
            SDKApp(server: server, key: "goog_test", customer: "u_51")
        )
        for _ in 0..<2 {
            #expect(try await logIn("u_50", on: phone).isActive("premium"))
            #expect(try await logIn("u_51", on: phone).conclusion("premium") == false)
            #expect(try await first.get().isActive("premium"))
            #expect(try await second.get().conclusion("premium") == false)
        }
        let path = "/v1/subscribers/\(PercentEncoding.encode(Self.anonymous))/alias"
        #expect(try await phone.ask("POST", path, ["new_app_user_id": "u_50"]).status == 200)
        let refused = try await phone.ask("POST", path, ["new_app_user_id": "u_51"])
        #expect(refused.body["code"] == 7255)
        #expect(try await first.post(receipt("token-1")).isActive("premium"))
        #expect(try await second.post(receipt("token-1")).body["code"] == 7102)
        await server.close()
    }

    @Test func `a customer who bought before gets what a new phone bought, and what arrives later`()
        async throws
    {
        let play = TestPlay()
        let server = try server(play)
        let old = subscription(
            of: "u_50",
            "EXPIRED",
            from: "2026-03-01T10:00:00Z",
            until: "2026-04-01T10:00:00Z"
        )
        play.answer("token-1", old)
        play.answer("token-2", subscription(of: Self.anonymous))
        let app = SDKApp(server: server, key: "goog_test", customer: "u_50")
        #expect(try await app.post(receipt("token-1")).conclusion("premium") == false)
        let phone = SDKApp(server: server, key: "goog_test", customer: Self.anonymous)
        #expect(try await phone.post(receipt("token-2")).isActive("premium"))
        for _ in 0..<2 { #expect(try await logIn("u_50", on: phone).isActive("premium")) }
        #expect(try await app.get().isActive("premium"))
        #expect(try await phone.get().conclusion("premium") == false)
        #expect(try await app.post(receipt("token-2")).isActive("premium"))
        // The phone bought it before the log-in and sends its receipt after it.
        play.answer("token-3", subscription(of: Self.anonymous))
        let stranger = SDKApp(server: server, key: "goog_test", customer: "u_9")
        #expect(try await stranger.post(receipt("token-3")).body["code"] == 7102)
        #expect(try await app.post(receipt("token-3")).status == 200)
        #expect(try await stranger.post(receipt("token-3")).body["code"] == 7102)
        await server.close()
    }

    /// A customer's subscription expires, and is bought again in the Play Store as token-2. So the
    /// customer is the inferred owner of that.
    private func buyAgain(_ app: SDKApp, _ play: TestPlay) async throws {
        let old = subscription(
            of: app.customer,
            "EXPIRED",
            from: "2026-03-01T10:00:00Z",
            until: "2026-04-01T10:00:00Z"
        )
        play.answer("token-1", old)
        #expect(try await app.post(receipt("token-1")).conclusion("premium") == false)
        let again: JSONObject = [
            "startTime": "2026-05-01T10:00:00Z", "externalAccountIdentifiers": [:],
            "outOfAppPurchaseContext": ["expiredPurchaseToken": "token-1"],
        ]
        play.answer(
            "token-2",
            TestPlay.subscription("ACTIVE", until: "2026-06-01T10:00:00Z", again)
        )
        let (server, notice) = (app.server, TestPlay.notice(4, "token-2"))
        let push = try TestPlay.push(notice, messageId: "m-1", at: server.now)
        #expect(try await server.service.handler(push).status == 200)
        #expect(await server.service.keepUpNow())
        #expect(try await app.get().isActive("premium"))
    }

    @Test func `an inferred owner of what an anonymous customer claimed gets no later purchase`()
        async throws
    {
        let play = TestPlay()
        let server = try server(play)
        let other = SDKApp(server: server, key: "goog_test", customer: "u_9")
        try await buyAgain(other, play)
        let phone = SDKApp(server: server, key: "goog_test", customer: Self.anonymous)
        #expect(try await phone.post(receipt("token-2")).isActive("premium"))
        #expect(try await other.get().conclusion("premium") == false)
        play.answer("token-3", subscription(of: Self.anonymous))
        #expect(try await phone.post(receipt("token-3")).isActive("premium"))
        #expect(try await other.post(receipt("token-3")).body["code"] == 7102)
        #expect(try await other.get().conclusion("premium") == false)
        #expect(try await phone.get().isActive("premium"))
        await server.close()
    }

    @Test func `a log-in takes along a purchase whose owner is inferred`() async throws {
        let play = TestPlay()
        let server = try server(play)
        let phone = SDKApp(server: server, key: "goog_test", customer: Self.anonymous)
        try await buyAgain(phone, play)
        #expect(try await logIn("u_50", on: phone).isActive("premium"))
        #expect(try await phone.get().conclusion("premium") == false)
        await server.close()
    }

    @Test func `a customer with as many ids as fit gets an anonymous customer's purchases`()
        async throws
    {
        let server = try server(TestPlay())
        for number in 0..<CustomerAlias.most {
            #expect(try await declare("web-\(number)", at: server) == 201)
        }
        let phone = SDKApp(server: server, key: "appl_test", customer: Self.anonymous)
        let bought = try await phone.post(["fetch_token": .string(try transaction(server))])
        #expect(bought.isActive("premium"))
        for _ in 0..<2 { #expect(try await logIn("u_42", on: phone).isActive("premium")) }
        #expect(try await logIn("u_51", on: phone).conclusion("premium") == false)
        #expect(try await SDKApp(server: server, key: "appl_test").get().isActive("premium"))
        await server.close()
    }

    @Test func `a named alias of an anonymous id keeps the purchases`() async throws {
        let server = try server(playOfAnonymous())
        let phone = SDKApp(server: server, key: "goog_test", customer: Self.anonymous)
        #expect(try await phone.post(receipt("token-1")).isActive("premium"))
        let path = "/v1/apps/cards/customers/\(PercentEncoding.encode(Self.anonymous))/aliases"
        let alias: JSONValue = ["alias": "u_50"]
        #expect(try await server.send("POST", path, body: alias.encoded()).status == 201)
        let again: JSONValue = ["app_user_id": .string(Self.anonymous), "new_app_user_id": "u_50"]
        let known = try await phone.ask("POST", "/v1/subscribers/identify", again)
        #expect(known.isActive("premium"))
        #expect(try await logIn("u_51", on: phone).conclusion("premium") == false)
        for customer in ["u_50", Self.anonymous] {
            let app = SDKApp(server: server, key: "goog_test", customer: customer)
            #expect(try await app.get().isActive("premium"))
        }
        await server.close()
    }

    @Test(arguments: ["received before", "known by another", "unknown"])
    func `a log-in takes along a purchase whose receipt was never sent`(
        purchase: String
    ) async throws {
        let server = try server(playOfAnonymous())
        let receipt: JSONObject = [
            "fetch_token": "token-1", "product_ids": ["cards.pro.monthly"],
        ]
        // Another customer's attempt makes the purchase known.
        let stranger = SDKApp(server: server, key: "goog_test", customer: "u_9")
        if purchase == "received before" {
            #expect(try await stranger.post(receipt).body["code"] == 7102)
        } else if purchase == "known by another" {
            // The anonymous customer is known by an earlier purchase.
            let earlier = SDKApp(server: server, key: "appl_test", customer: Self.anonymous)
            _ = try await earlier.post(["fetch_token": .string(try transaction(server))])
        }
        let app = SDKApp(server: server, key: "goog_test", customer: "u_50")
        let logIn: JSONValue = [
            "app_user_id": .string(Self.anonymous), "new_app_user_id": "u_50",
        ]
        let after = try await app.ask("POST", "/v1/subscribers/identify", logIn)
        #expect(after.conclusion("premium") == (purchase != "unknown"))
        let sent = try await app.post(receipt)
        #expect(sent.status == 200)
        #expect(sent.isActive("premium"))
        #expect(try await stranger.post(receipt).body["code"] == 7102)
        await server.close()
    }

    @Test func `a log-in between two accounts merges nothing`() async throws {
        let server = try server()
        let receipt: JSONObject = ["fetch_token": .string(try transaction(server))]
        let app = SDKApp(server: server, key: "appl_test")
        #expect(try await app.post(receipt).isActive("premium"))
        let answer = try await app.ask(
            "POST",
            "/v1/subscribers/identify",
            ["app_user_id": "u_42", "new_app_user_id": "u_43"]
        )
        #expect(answer.status == 201)
        #expect(answer.conclusion("premium") == false)
        #expect(try await app.get().isActive("premium"))
        await server.close()
    }

    // MARK: Back ends

    private func key(_ server: TestServer, _ kind: String, of app: String) async throws -> String {
        let wish: JSONValue = ["kind": .string(kind), "apps": [.string(app)]]
        let made = try await server.send("POST", "/v1/keys", body: wish.encoded())
        return try #require(try JSONDocument(made.body).root["key"]?.string)
    }

    @Test func `a back end reads the same customer in both versions of RevenueCat's API`()
        async throws
    {
        let server = try server()
        let app = SDKApp(server: server, key: "appl_test")
        let bought = try await app.post([
            "fetch_token": .string(try transaction(server)), "product_id": "cards.pro.monthly",
        ])
        #expect(bought.status == 200)
        let path = "/v2/projects/cards/customers/u_42"
        let keys = [
            try await key(server, "secret", of: "cards"),
            try await key(server, "viewer", of: "cards"),
        ]
        for instant in [server.now, Message.end - .seconds(1), Message.end + .days(90)] {
            server.set(instant)
            let hasAccess = try await server.premium("u_42").hasSuffix(" access")
            for backEnd in keys.map({ SDKApp(server: server, key: $0) }) {
                let first = try await backEnd.get()
                #expect(first.status == 200)
                #expect(first.conclusion("premium") == hasAccess)
                let list = try await backEnd.ask("GET", "\(path)/active_entitlements")
                #expect(list.status == 200)
                #expect(list.body["object"]?.string == "list")
                let items = list.body["items"]?.array ?? []
                #expect(
                    items.map { $0["entitlement_id"]?.string } == (hasAccess ? ["premium"] : [])
                )
                let end = items.first?["expires_at"]?.int64
                #expect((end ?? 0 > instant.millisecondsSince1970) == hasAccess)
                let customer = try await backEnd.ask("GET", path)
                #expect(customer.body["active_entitlements"] == list.body)
                #expect(customer.body["project_id"]?.string == "cards")
            }
        }
        await server.close()
    }

    @Test func `a back end reads an id that the SDKs may not use`() async throws {
        let server = try server()
        let evidence: JSONValue = ["transactions": [.string(try transaction(server))]]
        let stored = try await server.send(
            "POST",
            "/v1/apps/cards/customers/guest/reconcile?environment=sandbox",
            body: evidence.encoded()
        )
        #expect(stored.status == 200)
        let key = try await key(server, "secret", of: "cards")
        let backEnd = SDKApp(server: server, key: key, customer: "guest")
        #expect(try await backEnd.get().isActive("premium"))
        let list = try await backEnd.ask(
            "GET",
            "/v2/projects/cards/customers/guest/active_entitlements"
        )
        #expect(list.body["items"]?.array?.count == 1)
        let device = SDKApp(server: server, key: "appl_test", customer: "guest")
        #expect(try await device.get().body["code"] == 7256)
        await server.close()
    }

    @Test func `a key that may not read the app reads nothing in RevenueCat's form`() async throws {
        let server = try server()
        let path = "/v2/projects/cards/customers/u_42"
        let other = try await key(server, "secret", of: "rehearsal")
        let device = try await key(server, "public", of: "cards")
        for key in [other, device] {
            let app = SDKApp(server: server, key: key)
            #expect(try await app.get().status == 401)
            #expect(try await app.ask("GET", path).status == 403)
            #expect(try await app.ask("GET", "/v1/subscribers/u_42?app=cards").status == 401)
        }
        let admin = SDKApp(server: server, key: TestServer.adminKey.text)
        #expect(try await admin.get().status == 401)
        #expect(try await admin.ask("GET", "/v1/subscribers/u_42?app=cards").status == 200)
        #expect(try await admin.ask("GET", "/v2/projects/none/customers/u_42").status == 404)
        let sdk = SDKApp(server: server, key: "appl_test")
        #expect(try await sdk.ask("GET", path).status == 401)
        await server.close()
    }

    @Test func `a key finds its app and its store`() async throws {
        let server = try server(TestPlay())
        // Android skips a subscription without a base plan, so none is listed for it.
        for (key, product, current) in [
            ("appl_test", "cards.pro.monthly", "default"), ("goog_test", nil, ""),
        ] as [(String, String?, String)] {
            let answer = try await SDKApp(server: server, key: key)
                .ask("GET", "/v1/subscribers/u_42/offerings")
            let package = answer.body["offerings"]?.array?.first?["packages"]?.array?.first
            #expect(package?["platform_product_identifier"]?.string == product)
            #expect(answer.body["current_offering_id"]?.string == current)
        }
        let mapping = try await SDKApp(server: server, key: "goog_test")
            .ask("GET", "/v1/product_entitlement_mapping")
        #expect(
            mapping.body["product_entitlement_mapping"]?["cards.pro.monthly"]?["entitlements"]
                == ["premium"]
        )
        await server.close()
    }

    @Test func `an unknown key has no access, and an SDK's key opens nothing else`() async throws {
        let server = try server()
        let stranger = try await SDKApp(server: server, key: "appl_other").get()
        #expect(stranger.status == 401)
        #expect(stranger.body["code"] == 7225)
        let own = try await SDKApp(server: server, key: "appl_test")
            .ask("GET", "/v1/apps/cards/customers/u_42")
        #expect(own.status == 401)
        await server.close()
    }

    @Test(arguments: [
        ("POST", "/v1/config/app", 404, 7259), ("POST", "/v1/offers", 400, 7234),
        ("POST", "/v1/subscribers/redeem_purchase", 400, 7849),
        ("GET", "/v1/customercenter/u_42", 404, 7259), ("GET", "/v1/no/such", 404, 7259),
        ("DELETE", "/v1/receipts", 405, 7226), ("POST", "/v1/receipts", 503, 7110),
        ("GET", "/v1/receipts/amazon/a/b", 400, 7662),
        ("POST", "/v1/external_purchase_tokens", 400, 7000),
    ])
    func `every error has a number, a JSON body and the request's time`(
        method: String,
        path: String,
        status: Int,
        code: Int
    ) async throws {
        let server = try server()
        let app = SDKApp(server: server, key: "appl_test")
        let answer = try await app.ask(method, path)
        #expect(answer.status == status)
        #expect(answer.body["code"] == .integer(Int64(code)))
        #expect(answer.body["message"]?.string?.isEmpty == false)
        #expect(answer.time == server.now)
        await server.close()
    }

    @Test(arguments: [
        ("POST", "/v1/events", "{}"), ("POST", "/v1/diagnostics", "{}"),
        ("POST", "/v1/subscribers/u_42/attribution", "{}"),
        ("GET", "/rcbilling/v1/subscribers/u_42/products?id=a&id=b", #"{"product_details":[]}"#),
        ("GET", "/rcbilling/v1/subscribers/u_42/offering_products", #"{"offerings":{}}"#),
        ("GET", "/v1/subscribers/u_42/virtual_currencies", #"{"virtual_currencies":{}}"#),
        ("POST", "/v1/customercenter/support/create-ticket", #"{"sent":false}"#),
        ("GET", "/v1/health", "{}"), ("GET", "/v1/health/connectivity", "{}"),
    ])
    func `what is not offered has the answer that an SDK reads as none`(
        method: String,
        path: String,
        body: String
    ) async throws {
        let server = try server()
        let answer = try await SDKApp(server: server, key: "appl_test").ask(method, path)
        #expect(answer.status == 200)
        #expect(String(decoding: answer.response.body, as: UTF8.self) == body)
        await server.close()
    }

    @Test func `a server without a key of an SDK has none of these routes`() async throws {
        let server = try TestServer()
        let answer = try await server.service.handler(
            Request(
                path: "/v1/subscribers/u_42",
                headers: ["Authorization": "Bearer appl_test"]
            )
        )
        #expect(answer.status == 404)
        #expect(answer.headers["Content-Type"] == "application/problem+json")
        await server.close()
    }
}

/// One installed app with RevenueCat's SDK.
struct SDKApp {
    let server: TestServer
    let key: String
    var customer = "u_42"
    /// The last answer with a tag, as the SDK stores it.
    private var stored: (tag: String, body: [UInt8])?
    /// How often the server confirmed the answer of an earlier step.
    private(set) var confirmed = 0

    init(server: TestServer, key: String, customer: String = "u_42") {
        self.server = server
        self.key = key
        self.customer = customer
    }

    struct Answer {
        let response: Response
        let content: [UInt8]

        var status: Int { response.status }
        var body: JSONValue { (try? JSONDocument(content)).map { JSONValue($0.root) } ?? .null }

        var time: Instant? {
            response.headers["X-RevenueCat-Request-Time"].flatMap { Int64($0) }
                .map { Instant(millisecondsSince1970: $0) }
        }

        func subscription(_ product: String) -> JSONValue? {
            body["subscriber"]?["subscriptions"]?[product]
        }

        /// What Android and iOS conclude; nil if they differ, and for an error.
        func conclusion(_ entitlement: String) -> Bool? {
            let time = response.headers["X-RevenueCat-Request-Time"]
            guard let info = try? UnionChecker(decoding: content, requestTime: time) else {
                return nil
            }
            let isActive = info.isActive(entitlement, on: .ios)
            return info.isActive(entitlement, on: .android) == isActive ? isActive : nil
        }

        func isActive(_ entitlement: String) -> Bool { conclusion(entitlement) == true }
    }

    func ask(
        _ method: String,
        _ path: String,
        _ body: JSONValue? = nil,
        tag: String = ""
    ) async throws -> Answer {
        let response = try await server.ask(
            method,
            path,
            headers: [
                "Authorization": "Bearer \(key)", "X-RevenueCat-ETag": tag,
                "price_string": "€ 4,99",
            ],
            body: body?.encoded() ?? []
        )
        return Answer(response: response, content: response.body)
    }

    func get() async throws -> Answer { try await ask("GET", "/v1/subscribers/\(customer)") }

    func post(_ receipt: JSONObject) async throws -> Answer {
        var receipt = receipt
        receipt["app_user_id"] = .string(customer)
        return try await ask("POST", "/v1/receipts", .object(receipt))
    }

    /// Posts a notification of the App Store, without an owner's name.
    func hear(_ message: Message) async throws {
        var message = message
        message.transaction?["appAccountToken"] = nil
        #expect(try await server.post(message).status == 200)
    }

    /// Requires that both platforms conclude our access, from a fresh answer and from the stored
    /// one where the server confirms it.
    mutating func requireAgreement(_ step: String) async throws {
        let access = try await server.answer(customer)["entitlements"]?["premium"]?["access"]?.bool
        let fresh = try await get()
        #expect(fresh.status == 200)
        #expect(fresh.conclusion("premium") == access, "\(step), fresh")
        try await requireConfirmation(of: fresh, access, step)
        guard let tag = fresh.response.headers["X-RevenueCat-ETag"] else { return }
        stored = (tag, fresh.content)
        let again = try await ask("GET", "/v1/subscribers/\(customer)", tag: tag)
        #expect(again.status == 304, "\(step)")
    }

    /// Requires that the server confirms the answer of an earlier step exactly while the tag is the
    /// same, and that it still leads to our access.
    private mutating func requireConfirmation(
        of fresh: Answer,
        _ access: Bool?,
        _ step: String
    ) async throws {
        guard let stored else { return }
        let tagged = try await ask("GET", "/v1/subscribers/\(customer)", tag: stored.tag)
        let isSame = fresh.response.headers["X-RevenueCat-ETag"] == stored.tag
        #expect(tagged.status == (isSame ? 304 : 200), "\(step)")
        guard tagged.status == 304 else { return }
        confirmed += 1
        #expect(tagged.response.headers["X-RevenueCat-ETag"] == stored.tag)
        let seen = Answer(response: tagged.response, content: stored.body)
        #expect(seen.conclusion("premium") == access, "\(step), stored")
    }
}

extension Instant {
    fileprivate var around: [Instant] {
        [self - Milliseconds(1), self, self + Milliseconds(1), self + .seconds(2)]
    }
}
