import Testing
import TideoverConfiguration
import TideoverCore
import TideoverDoctor
import TideoverHTTP
import TideoverHTTPServer
import TideoverJSON
import TideoverLocks
import TideoverSQLite
import TideoverSandbox
import TideoverServer
import TideoverSignatures
import TideoverStorage
import TideoverUnionChecker

@testable import TideoverTestServer

/// Tests receipts that cannot be read or stored, restores, and offers, as RevenueCat's SDKs see
/// them.
@Suite struct SDKSwitchTests {
    private static let sdk = RevenueCatSDK(
        appStoreKeys: ["appl_test"],
        googlePlayKeys: ["goog_test"],
        promotionalOffers: ["winback50"]
    )
    private static let anonymous = "$RCAnonymousID:0f1e2d3c4b5a69788796a5b4c3d2e1f0"
    private static let receipt: JSONObject = [
        "fetch_token": "token-1", "product_ids": ["cards.pro.monthly"],
    ]

    private static func transaction(_ server: TestServer) throws -> JSONValue {
        var transaction = Message.transaction()
        transaction["appAccountToken"] = nil
        return .string(try server.store.sign(transaction))
    }

    // MARK: Receipts

    @Test(arguments: [
        StorageError.Reason.busy, .full, .readOnly, .io, .corrupt, .locked(holder: nil),
    ])
    func `a receipt that cannot be stored is kept by the device`(
        reason: StorageError.Reason
    ) async throws {
        let server = try TestServer(
            faults: SQLiteFaults { _ throws(StorageError) in
                throw StorageError(reason, place: "the disk")
            },
            revenueCatSDK: Self.sdk
        )
        let app = SDKApp(server: server, key: "appl_test")
        let answer = try await app.post(["fetch_token": try Self.transaction(server)])
        #expect((500...599).contains(answer.status))
        #expect(answer.body["code"] == 7110)
        await server.close()
    }

    @Test func `a slow store delays a receipt no longer than it may take`() async throws {
        let play = TestPlay()
        let isSlow = Locked(true)
        let purchase = TestPlay.subscription(
            "ACTIVE",
            until: "2026-06-01T10:00:00Z",
            ["externalAccountIdentifiers": [:]]
        )
        play.answer("token-1") {
            if isSlow.withLock({ $0 }) { try await Task.sleep(for: .seconds(3_600)) }
            return Response(body: JSONValue.object(purchase).encoded())
        }
        let server = try TestServer(
            googlePlay: play.trust(),
            revenueCatSDK: Self.sdk,
            receiptTime: .seconds(1)
        )
        let app = SDKApp(server: server, key: "goog_test")
        let began = ContinuousClock.now
        let answer = try await app.post(Self.receipt)
        #expect(ContinuousClock.now - began < .seconds(600))
        #expect(answer.status == 503)
        #expect(answer.body["code"] == 7110)
        isSlow.withLock { $0 = false }
        // On a loaded machine even a quick store can take longer than the first server waits.
        let patient = try TestServer(
            googlePlay: play.trust(),
            revenueCatSDK: Self.sdk,
            sharing: server
        )
        let again = try await SDKApp(server: patient, key: "goog_test").post(Self.receipt)
        #expect(again.isActive("premium"))
        await server.close()
    }

    @Test func `without credentials for Google Play a purchase is kept by the device`()
        async throws
    {
        let server = try TestServer(
            googlePlay: TestPlay().trust(asksStore: false),
            revenueCatSDK: Self.sdk
        )
        let app = SDKApp(server: server, key: "goog_test")
        let answer = try await app.post(Self.receipt)
        #expect(answer.status == 503)
        #expect(answer.body["code"] == 7110)
        await server.close()
    }

    @Test func `an app without a store keeps its purchases on the device`() async throws {
        let server = try TestServer(revenueCatSDK: Self.sdk)
        let answer = try await SDKApp(server: server, key: "goog_test").post(Self.receipt)
        #expect(answer.status == 503)
        await server.close()
    }

    @Test(arguments: [
        Problem.bodyTooLarge(limit: 1), .requestTooSlow("body"), .malformedRequest("x"),
        .headTooLarge(limit: 1), .contentEncoding("gzip"),
    ])
    func `a receipt that the HTTP server rejects is a 503, with a number`(
        problem: Problem
    ) async throws {
        let server = try TestServer(revenueCatSDK: Self.sdk)
        for target in ["/v1/receipts", "/v1/receipts?x=1"] {
            let response = server.service.rejection(problem, of: target)
            #expect(response.status == 503)
            #expect(try JSONDocument(response.body).root["code"]?.int64 == 7110)
            let request = Request(method: "POST", path: "/v1/receipts")
            UnionChecker.Exchange(request, response).requireAcceptance()
        }
        let path = "/v1/subscribers/%FF/attributes"
        let other = server.service.rejection(problem, of: path)
        let request = Request(method: "POST", path: path)
        UnionChecker.Exchange(request, other).requireAcceptance()
        let own = server.service.rejection(problem, of: "/v1/apps/cards/customers/u_42/reconcile")
        #expect(own == problem.response)
        await server.close()
    }

    @Test func `a server without an SDK's key rejects receipts as any other request`()
        async throws
    {
        let server = try TestServer()
        let problem = Problem.bodyTooLarge(limit: 1)
        #expect(server.service.rejection(problem, of: "/v1/receipts") == problem.response)
        await server.close()
    }

    // MARK: The origin of the app

    private static func appTransaction(
        _ server: TestServer,
        version: String,
        at date: Instant
    ) throws -> JSONValue {
        let transaction: JSONObject = [
            "receiptType": "Sandbox", "bundleId": "com.example.cards",
            "receiptCreationDate": server.now.wire, "applicationVersion": "320",
            "originalApplicationVersion": .string(version), "originalPurchaseDate": date.wire,
        ]
        return .string(try server.store.sign(transaction))
    }

    @Test func `a customer has the earliest version of the app that a device presented`()
        async throws
    {
        let server = try TestServer(revenueCatSDK: Self.sdk)
        let app = SDKApp(server: server, key: "appl_test")
        let documents = [
            try Self.appTransaction(server, version: "212", at: "2023-11-02"),
            try Self.appTransaction(server, version: "300", at: "2025-01-01"), "a.b.c",
        ]
        for document in documents {
            let answer = try await app.post(["app_transaction": document, "is_restore": true])
            #expect(answer.status == 200)
            let customer = answer.body["subscriber"]
            #expect(customer?["original_application_version"] == "212")
            #expect(customer?["original_purchase_date"] == "2023-11-02T00:00:00Z")
        }
        #expect(
            try await app.get().body["subscriber"]?["original_application_version"] == "212"
        )
        let other = SDKApp(server: server, key: "appl_test", customer: "u_43")
        #expect(
            try await other.get().body["subscriber"]?["original_application_version"] == .null
        )
        let erased = try await server.send("DELETE", "/v1/apps/cards/customers/u_42")
        #expect(erased.status == 200)
        #expect(
            try await app.get().body["subscriber"]?["original_application_version"] == .null
        )
        await server.close()
    }

    @Test func `a receipt of StoreKit 1 states the origin too, and the earliest counts`()
        async throws
    {
        let server = try TestServer(
            receiptAuthorities: Device.receiptAuthorities(),
            revenueCatSDK: Self.sdk
        )
        let store = try ReceiptStore.nine(environment: .sandbox)
        let receipt = Base64.encodeString(try store.container(), .standard)
        server.set("2026-05-01")
        let app = SDKApp(server: server, key: "appl_test")
        let bought = try await app.post(["fetch_token": .string(receipt)])
        #expect(bought.status == 200)
        #expect(bought.body["subscriber"]?["original_purchase_date"] == "2025-09-01T00:00:00Z")
        #expect(bought.body["subscriber"]?["original_application_version"]?.string != nil)
        let older = try Self.appTransaction(server, version: "212", at: "2023-11-02")
        let restored = try await app.post(["app_transaction": older, "is_restore": true])
        #expect(restored.body["subscriber"]?["original_application_version"] == "212")
        let again = try await app.post(["fetch_token": .string(receipt)])
        #expect(again.body["subscriber"]?["original_application_version"] == "212")
        await server.close()
    }

    @Test func `another customer's purchase in a receipt is no error beside the buyer's own`()
        async throws
    {
        let server = try TestServer(
            catalogue: ReceiptReconcileTests.catalogue,
            receiptAuthorities: Device.receiptAuthorities(),
            revenueCatSDK: Self.sdk
        )
        let lifetime = JSONValue.string(try server.store.sign(ReceiptReconcileTests.lifetime))
        let other = SDKApp(server: server, key: "appl_test", customer: "u_51")
        #expect(try await other.post(["fetch_token": lifetime]).isActive("premium"))
        let receipt = try ReceiptReconcileTests.two()
        let app = SDKApp(server: server, key: "appl_test")
        let cases: [JSONObject] = [
            ["product_ids": ["cards.themes"]], ["is_restore": true],
            ["is_restore": true, "product_ids": ["cards.lifetime"]],
            ["initiation_source": "restore", "product_ids": ["cards.lifetime"]],
        ]
        for more in cases {
            var body = more
            body["fetch_token"] = receipt
            let answer = try await app.post(body)
            #expect(answer.status == 200)
            #expect(answer.isActive("themes"))
            #expect(!answer.isActive("premium"))
        }
        // The bought product counts, and else any.
        var bought: JSONObject = ["fetch_token": receipt, "product_ids": ["cards.lifetime"]]
        #expect(try await app.post(bought).body["code"] == 7102)
        // The SDKs state a purchase of an anonymous customer so.
        bought["is_restore"] = true
        bought["initiation_source"] = "purchase"
        #expect(try await app.post(bought).body["code"] == 7102)
        let stranger = SDKApp(server: server, key: "appl_test", customer: "u_50")
        #expect(try await stranger.post(["fetch_token": receipt]).body["code"] == 7102)
        await server.close()
    }

    // MARK: Restores

    private func play(of customer: String) -> TestPlay {
        let play = TestPlay()
        play.answer(
            "token-1",
            Self.subscription(account: Self.digest(customer), until: "2026-06-01T10:00:00Z")
        )
        return play
    }

    private static func digest(_ customer: String) -> String {
        Hexadecimal.text(SHA256.hash(customer.utf8))
    }

    private static func subscription(account: String, until: String) -> JSONObject {
        let accounts: JSONValue = ["obfuscatedExternalAccountId": .string(account)]
        return TestPlay.subscription(
            "ACTIVE",
            until: until,
            ["externalAccountIdentifiers": accounts]
        )
    }

    private func server(_ play: TestPlay, _ transfer: Policy.Transfer) throws -> TestServer {
        var policy = Policy()
        policy.transfer = transfer
        return try TestServer(
            policy: policy,
            googlePlay: play.trust(),
            revenueCatSDK: Self.sdk
        )
    }

    private static let restore: JSONObject = {
        var restore = receipt
        restore["is_restore"] = true
        return restore
    }()

    @Test func `a restore takes a purchase of an anonymous id that never asked`() async throws {
        let server = try TestServer(
            googlePlay: play(of: Self.anonymous).trust(),
            revenueCatSDK: Self.sdk
        )
        let app = SDKApp(server: server, key: "goog_test", customer: "u_50")
        #expect(try await app.post(Self.receipt).body["code"] == 7102)
        let restored = try await app.post(Self.restore)
        #expect(restored.status == 200)
        #expect(restored.isActive("premium"))
        #expect(try await app.get().isActive("premium"))
        #expect(try await app.post(Self.receipt).status == 200)
        // It has a customer now, who keeps it.
        let other = SDKApp(server: server, key: "goog_test", customer: "u_51")
        #expect(try await other.post(Self.restore).body["code"] == 7102)
        #expect(try await other.get().conclusion("premium") == false)
        await server.close()
    }

    @Test func `a restore does not take a purchase of a customer who presented it`() async throws {
        let server = try TestServer(
            googlePlay: play(of: "u_42").trust(),
            revenueCatSDK: Self.sdk
        )
        let owner = SDKApp(server: server, key: "goog_test")
        #expect(try await owner.post(Self.receipt).isActive("premium"))
        let other = SDKApp(server: server, key: "goog_test", customer: "u_51")
        #expect(try await other.post(Self.restore).body["code"] == 7102)
        #expect(try await owner.get().isActive("premium"))
        await server.close()
    }

    @Test func `a purchase under an id that names no customer becomes its presenter's`()
        async throws
    {
        let play = play(of: "null")
        play.answer(
            "token-2",
            Self.subscription(account: Self.digest("null"), until: "2026-06-01T10:00:00Z")
        )
        let server = try TestServer(googlePlay: play.trust(), revenueCatSDK: Self.sdk)
        let none = SDKApp(server: server, key: "goog_test", customer: "null")
        #expect(try await none.post(Self.receipt).body["code"] == 7110)
        let buyer = SDKApp(server: server, key: "goog_test")
        #expect(try await buyer.post(Self.receipt).isActive("premium"))
        #expect(try await buyer.get().isActive("premium"))
        // The other purchases under that id are not the buyer's.
        let other = SDKApp(server: server, key: "goog_test", customer: "u_51")
        #expect(try await other.post(Self.receipt).body["code"] == 7102)
        var second = Self.receipt
        second["fetch_token"] = "token-2"
        #expect(try await other.post(second).isActive("premium"))
        #expect(try await buyer.get().isActive("premium"))
        await server.close()
    }

    @Test func `a restore takes a purchase that is stored under an id that names no customer`()
        async throws
    {
        let server = try TestServer(revenueCatSDK: Self.sdk)
        let transaction = try Self.transaction(server)
        let evidence: JSONValue = ["transactions": [transaction]]
        let stored = try await server.send(
            "POST",
            "/v1/apps/cards/customers/null/reconcile?environment=sandbox",
            body: evidence.encoded()
        )
        #expect(stored.status == 200)
        let buyer = SDKApp(server: server, key: "appl_test")
        #expect(try await buyer.post(["fetch_token": transaction]).body["code"] == 7102)
        let restore: JSONObject = ["fetch_token": transaction, "is_restore": true]
        #expect(try await buyer.post(restore).isActive("premium"))
        // It has a customer now, who keeps it.
        let other = SDKApp(server: server, key: "appl_test", customer: "u_51")
        #expect(try await other.post(restore).body["code"] == 7102)
        await server.close()
    }

    private static let secondAnonymous = "$RCAnonymousID:ffffffffffffffffffffffffffffffff"

    @Test func `a restore takes a purchase of a former installation`() async throws {
        let play = play(of: Self.anonymous)
        let server = try TestServer(googlePlay: play.trust(), revenueCatSDK: Self.sdk)
        let evidence: [(key: String, receipt: JSONObject)] = [
            ("goog_test", Self.receipt),
            ("appl_test", ["fetch_token": try Self.transaction(server)]),
        ]
        for (key, receipt) in evidence {
            var restore = receipt
            restore["is_restore"] = true
            let former = SDKApp(server: server, key: key, customer: Self.anonymous)
            #expect(try await former.post(receipt).isActive("premium"))
            let new = SDKApp(server: server, key: key, customer: Self.secondAnonymous)
            #expect(try await new.post(receipt).body["code"] == 7102)
            #expect(try await new.post(restore).isActive("premium"), "\(key)")
            // A customer with an account takes it too, and then keeps it.
            let account = SDKApp(server: server, key: key, customer: "u_42")
            #expect(try await account.post(restore).isActive("premium"), "\(key)")
            #expect(try await former.post(restore).body["code"] == 7102)
            #expect(try await new.post(restore).body["code"] == 7102)
            #expect(try await account.get().isActive("premium"))
        }
        await server.close()
    }

    @Test(arguments: [receipt, restore])
    func `policy that moves purchases moves one whose account the SDK named, and back`(
        evidence: JSONObject
    ) async throws {
        let play = play(of: "u_42")
        let server = try self.server(play, .transfer(coolDown: .zero))
        let buyer = SDKApp(server: server, key: "goog_test")
        let other = SDKApp(server: server, key: "goog_test", customer: "u_51")
        #expect(try await buyer.post(Self.receipt).isActive("premium"))
        for (former, new) in [(buyer, other), (other, buyer), (buyer, other)] {
            server.set(server.now + .minutes(1))
            #expect(try await new.post(evidence).isActive("premium"))
            #expect(try await new.get().isActive("premium"))
            #expect(try await former.get().conclusion("premium") == false)
        }
        // What the store says again names the buyer, and takes nothing back.
        server.set(server.now + .days(1))
        play.answer(
            "token-1",
            Self.subscription(account: Self.digest("u_42"), until: "2026-07-01T10:00:00Z")
        )
        _ = try await other.post(evidence)
        #expect(try await other.get().isActive("premium"))
        #expect(try await buyer.get().conclusion("premium") == false)
        await server.close()
    }

    @Test func `policy for inactive owners leaves a purchase whose account the SDK named`()
        async throws
    {
        let server = try self.server(play(of: "u_42"), .transferIfInactive)
        let buyer = SDKApp(server: server, key: "goog_test")
        let other = SDKApp(server: server, key: "goog_test", customer: "u_51")
        #expect(try await buyer.post(Self.receipt).isActive("premium"))
        #expect(try await other.post(Self.restore).body["code"] == 7102)
        #expect(try await buyer.get().isActive("premium"))
        await server.close()
    }

    @Test func `an account that is no digest overrules a policy that moves purchases`()
        async throws
    {
        let play = TestPlay()
        play.answer("token-1", Self.subscription(account: "u_42", until: "2026-06-01T10:00:00Z"))
        let server = try self.server(play, .transfer(coolDown: .zero))
        let other = SDKApp(server: server, key: "goog_test", customer: "u_51")
        #expect(try await other.post(Self.restore).body["code"] == 7102)
        await server.close()
    }

    @Test func `policy that keeps each purchase lets no restore move it`() async throws {
        let server = try self.server(play(of: Self.anonymous), .keep)
        let app = SDKApp(server: server, key: "goog_test", customer: "u_50")
        #expect(try await app.post(Self.restore).body["code"] == 7102)
        await server.close()
    }

    // MARK: Offers

    private static let eligibilityPath = "/v1/subscribers/u_42/intro_eligibility"
    private static let eligibilityBody: JSONValue = [
        "product_identifiers": ["cards.pro.monthly", "unknown"], "fetch_token": "AQI=",
    ]

    @Test func `introductory eligibility is true, false, or null if unknown`() async throws {
        let server = try TestServer(revenueCatSDK: Self.sdk)
        let app = SDKApp(server: server, key: "appl_test")
        let unknown = try await app.ask("POST", Self.eligibilityPath, Self.eligibilityBody)
        #expect(unknown.body == ["cards.pro.monthly": .null, "unknown": .null])
        _ = try await Device(server: server).present(["nothing": true], environment: "sandbox")
        let eligible = try await app.ask("POST", Self.eligibilityPath, Self.eligibilityBody)
        #expect(eligible.body["cards.pro.monthly"] == true)
        var transaction = Message.transaction()
        transaction["appAccountToken"] = nil
        transaction["offerType"] = 1
        transaction["offerDiscountType"] = "FREE_TRIAL"
        _ = try await app.post(["fetch_token": .string(try server.store.sign(transaction))])
        let used = try await app.ask("POST", Self.eligibilityPath, Self.eligibilityBody)
        #expect(used.body["cards.pro.monthly"] == false)
        await server.close()
    }

    private static func offer(_ id: String, _ product: String = "cards.pro.monthly") -> JSONValue {
        ["offer_id": .string(id), "product_id": .string(product), "subscription_group": "1"]
    }

    @Test(arguments: [
        (customer: "u_42", version: "1", account: "u_42"),
        ("u_42", "2", ""),
        (
            "7E3FB20B-4CDB-47CC-936D-99D65F608138", "2",
            "7e3fb20b-4cdb-47cc-936d-99d65f608138"
        ),
    ])
    func `a configured promotional offer is signed as the App Store verifies it`(
        customer: String,
        version: String,
        account: String
    ) async throws {
        let key = P256PrivateKey.generate()
        let server = try TestServer(revenueCatSDK: Self.sdk, storeSigner: { key.sign($0) })
        let response = try await server.ask(
            "POST",
            "/v1/offers",
            headers: ["Authorization": "Bearer appl_test", "X-StoreKit-Version": version],
            body: JSONValue.object([
                "app_user_id": .string(customer), "fetch_token": "x",
                "generate_offers": [Self.offer("winback50")],
            ]).encoded()
        )
        #expect(response.status == 200)
        let signed = try #require(try JSONDocument(response.body).root["offers"]?[0])
        #expect(signed["signature_error"]?.isNull == true)
        let data = try #require(signed["signature_data"])
        let nonce = try #require(data["nonce"]?.string)
        let time = try #require(data["timestamp"]?.int64)
        #expect(time == server.now.millisecondsSince1970)
        #expect(nonce.split(separator: "-").map(\.count) == [8, 4, 4, 4, 12])
        let parts = [
            "com.example.cards", "key", "cards.pro.monthly", "winback50", account, nonce,
            "\(time)",
        ]
        let text = try #require(data["signature"]?.string)
        let der = try #require(Base64.decode(Array(text.utf8), .standard))
        let raw = try #require(ECDSASignature.raw(der: der))
        let message = Array(parts.joined(separator: "\u{2063}").utf8)
        #expect(key.publicKey.verify(signature: raw, of: message))
        await server.close()
    }

    @Test func `an offer that is not configured is not signed`() async throws {
        let server = try TestServer(revenueCatSDK: Self.sdk)
        let app = SDKApp(server: server, key: "appl_test")
        let answer = try await app.ask(
            "POST",
            "/v1/offers",
            [
                "app_user_id": "u_42",
                "generate_offers": [Self.offer("other"), Self.offer("winback50", "unknown")],
            ]
        )
        let offers = answer.body["offers"]?.array ?? []
        #expect(offers.count == 2)
        for offer in offers {
            #expect(offer["signature_data"] == .null)
            #expect(offer["signature_error"]?["code"] == 7232)
        }
        let none = try await app.ask("POST", "/v1/offers", ["app_user_id": "u_42"])
        #expect(none.body["code"] == 7226)
        await server.close()
    }

    // MARK: SDKs

    @Test func `an SDK that may expect other answers is counted and logged once`() async throws {
        let server = try TestServer(revenueCatSDK: Self.sdk)
        func get(_ path: String, _ platform: String, _ version: String) async throws {
            _ = try await server.ask(
                "GET",
                path,
                headers: [
                    "Authorization": "Bearer appl_test", "X-Platform": platform,
                    "X-Version": version,
                ]
            )
        }
        let series = "tideover_revenuecat_sdk_unsupported_total{app=\"cards\",reason="
        #expect(try await server.samples().contains("\(series)\"version\"} 0"))
        try await get("/v1/subscribers/u_42", "iOS", "5.86.0-SNAPSHOT")
        for _ in 0..<3 { try await get("/v1/subscribers/u_42", "android", "11.0.2") }
        try await get("/v1/subscribers/u_42", "web", "1.53.1")
        try await get("/v1/subscribers/u_42", "iOS", "six\u{1F600}")
        try await get("/v1/tomorrow", "iOS", "5.86.0")
        let samples = try await server.samples()
        for (reason, count) in [("version", 3), ("platform", 1), ("path", 1)] {
            #expect(samples.contains("\(series)\"\(reason)\"} \(count)"))
        }
        let lines = server.logged.filter { $0.contains("unsupported request") }
        #expect(lines.count == 3)
        #expect(lines.contains { $0.contains("android 11.0.2") })
        let text = String(decoding: try await server.get("/metrics").body, as: UTF8.self)
        #expect(Finding.sdkRequests(MetricsReading(text))?.verdict == .warning)
        await server.close()
    }
}
