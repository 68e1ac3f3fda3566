import Testing
import TideoverCore
import TideoverGooglePlay
import TideoverHTTP
import TideoverJSON
import TideoverSQLite
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// Google Play purchases that devices present: the queries they cause, and their ownership.
@Suite struct PlayReconcileTests {
    private static let end = "2026-06-01T10:00:00Z"
    /// A subscription without an account id from the app.
    private static let nobodys = TestPlay.subscription(
        "ACTIVE",
        until: end,
        ["externalAccountIdentifiers": [:]]
    )

    private func server(
        _ play: TestPlay,
        asksStore: Bool = true,
        catalogue: Catalogue = TestPlay.catalogue
    ) throws -> TestServer {
        try TestServer(catalogue: catalogue, googlePlay: play.trust(asksStore: asksStore))
    }

    private func present(
        _ server: TestServer,
        _ customer: String = "u_42",
        _ purchases: JSONObject...
    ) async throws -> JSONValue {
        let device = Device(server: server, customer: customer)
        let all = purchases.map { JSONValue.object($0) }
        let (status, answer) = try await device.present(
            ["purchases": .array(all)],
            environment: "sandbox"
        )
        #expect(status == 200)
        return answer
    }

    private static let plain: JSONObject = [
        "store": "googlePlay", "productId": "cards.pro.monthly", "purchaseToken": "token-1",
    ]

    private func state(_ answer: JSONValue, _ entitlement: String = "premium") -> String? {
        answer["entitlements"]?[entitlement]?["state"]?.string
    }

    // MARK: Forms

    static let forms: [JSONObject] = [
        plain,
        [
            "store": "google", "productId": "cards.pro.monthly", "purchaseToken": "token-1",
            "purchaseState": "purchased", "isAutoRenewing": true, "platform": "android",
            "packageNameAndroid": "com.example.cards", "ids": ["cards.pro.monthly"],
            "id": "GPA.1", "transactionDate": 1, "isSuspendedAndroid": true,
        ],
        ["platform": "android", "productId": "cards.pro.monthly", "purchaseToken": "token-1"],
        [
            "platform": "android", "purchaseToken": "",
            "transactionReceipt":
                #"{"packageName":"com.example.cards","productId":"cards.pro.monthly","purchaseToken":"token-1"}"#,
        ],
        ["store": "google", "dataAndroid": #"{"purchaseToken":"token-1"}"#],
        ["store": "googlePlay", "purchaseToken": "token-1", "package": "com.example.cards"],
        // react-native-iap 12 and 13 name neither store nor platform.
        [
            "productId": "cards.pro.monthly", "transactionId": "GPA.1", "transactionDate": 1,
            "transactionReceipt": #"{"purchaseToken":"token-1","productId":"cards.pro.monthly"}"#,
            "purchaseToken": "token-1", "autoRenewingAndroid": true, "purchaseStateAndroid": 1,
            "dataAndroid": #"{"purchaseToken":"token-1"}"#, "signatureAndroid": "c2ln",
            "packageNameAndroid": "com.example.cards", "isAcknowledgedAndroid": false,
        ],
        ["dataAndroid": #"{"purchaseToken":"token-1"}"#],
        ["purchaseTokenAndroid": "token-1", "purchaseToken": .null, "store": .null],
        ["productId": "cards.pro.monthly", "purchaseToken": "token-1"],
        ["store": "unknown", "platform": "android", "purchaseToken": "token-1"],
        [
            "store": "Unknown", "packageNameAndroid": "com.example.cards",
            "purchaseToken": "token-1",
        ],
        // An active subscription of OpenIAP.
        [
            "productId": "cards.pro.monthly", "isActive": true, "expirationDateIOS": .null,
            "autoRenewingAndroid": true, "environmentIOS": .null, "transactionId": "GPA.1",
            "purchaseToken": "token-1", "transactionDate": 1, "basePlanIdAndroid": "monthly",
            "purchaseTokenAndroid": "token-1", "currentPlanId": "monthly", "renewalInfoIOS": .null,
        ],
    ]

    @Test(arguments: forms)
    func `a purchase in each supported form is requested from the store`(
        form: JSONObject
    ) async throws {
        let play = TestPlay()
        let server = try server(play)
        play.answer("token-1", Self.nobodys)
        let answer = try await present(server, "u_42", form)
        #expect(Device.items(answer) == ["accepted claimed"])
        #expect(play.questions == ["subscriptionsv2/tokens/token-1"])
        #expect(state(answer) == "active")
        #expect(try await server.premium("u_42") == "active paid access")
        await server.close()
    }

    @Test func `the server ignores every member beside the purchase token`() async throws {
        let play = TestPlay()
        let server = try server(play)
        play.answer("token-1", TestPlay.subscription("EXPIRED", until: "2026-04-30T10:00:00Z"))
        var claim = Self.plain
        claim["purchaseState"] = "purchased"
        claim["isAutoRenewing"] = true
        claim["obfuscatedAccountIdAndroid"] = "u_42"
        let answer = try await present(server, "u_42", claim)
        // The store names Anna.
        #expect(Device.items(answer) == ["accepted named-by-store"])
        #expect(state(answer) == "never")
        #expect(try await server.premium().hasPrefix("expired"))
        await server.close()
    }

    @Test func `a purchase that cannot belong to the app is rejected without a request`()
        async throws
    {
        let play = TestPlay()
        let server = try server(play)
        var other = Self.plain
        other["package"] = "com.example.other"
        let answer = try await present(
            server,
            "u_42",
            other,
            ["store": "google", "productId": "cards.pro.monthly"],
            ["store": "amazon", "purchaseToken": "token-1"],
            ["store": "unknown", "userIdAmazon": "a", "purchaseToken": "token-1"],
            ["productId": "cards.pro.monthly", "expirationDateIOS": 1, "purchaseToken": "token-1"]
        )
        #expect(
            Device.items(answer) == [
                "refused wrong-package", "refused no-purchase-token", "refused store-not-served",
                "refused store-not-served", "refused not-compact-jws",
            ]
        )
        #expect(play.questions.isEmpty)
        await server.close()
    }

    // MARK: Kinds

    @Test(arguments: ["cards.lifetime", "cards.unknown", nil])
    func `a one-time purchase is found for each stated product`(product: String?) async throws {
        let play = TestPlay()
        let server = try server(play)
        play.answer("token-2") { Response(status: 404) }
        play.answerProduct("token-2", TestPlay.lifetime)
        var purchase: JSONObject = ["store": "google", "purchaseToken": "token-2"]
        purchase["productId"] = product.map { .string($0) }
        let answer = try await present(server, TestServer.anna, purchase)
        #expect(Device.items(answer) == ["accepted held"])
        #expect(state(answer, "forever") == "active")
        let isKnown = product == "cards.lifetime"
        #expect(play.questions.count == (isKnown ? 1 : 2))
        await server.close()
    }

    @Test(arguments: [404, 410, 400])
    func `a token that the store does not know is rejected, and nothing is stored`(
        status: Int
    ) async throws {
        let play = TestPlay()
        let server = try server(play)
        play.answer("token-1", status: status)
        let answer = try await present(server, "u_42", Self.plain)
        #expect(Device.items(answer) == ["refused unknown-purchase"])
        #expect(answer["entitlements"]?["premium"]?["confidence"]?.string == "unknown")
        let kept = try server.storage.lineages(
            in: AppScope("cards", .sandbox),
            after: nil,
            limit: 9
        )
        #expect(kept.isEmpty)
        await server.close()
    }

    @Test func `the purchases in one request are committed together`() async throws {
        let play = TestPlay()
        let server = try server(play)
        var purchases: [JSONObject] = []
        for number in 1...4 {
            let token = "token-\(number)"
            play.answer(
                token,
                TestPlay.subscription("ACTIVE", until: "2026-06-0\(number)T10:00:00Z")
            )
            var purchase = Self.plain
            purchase["purchaseToken"] = .string(token)
            purchases.append(purchase)
        }
        let device = Device(server: server, customer: "u_2")
        let (status, answer) = try await device.present(
            ["purchases": .array(purchases.map { .object($0) })],
            environment: "sandbox"
        )
        #expect(status == 200)
        #expect(Device.items(answer) == Array(repeating: "accepted named-by-store", count: 4))
        // Each purchase changes the answer of the customer whom the store names, so four commits
        // would create four versions.
        let anna = try #require(CustomerID(TestServer.anna))
        let key = CustomerKey(app: "cards", environment: .sandbox, customer: anna)
        #expect(try server.storage.row(of: key)?.version == 1)
        #expect(try server.storage.lineages(of: key, now: server.now)?.lineageRecords.count == 4)
        await server.close()
    }

    @Test func `later answers leave out consumed purchases`() async throws {
        let play = TestPlay()
        var products = TestPlay.catalogue.products
        products["cards.coins"] = Product(entitlements: [], kind: .consumable)
        let server = try server(play, catalogue: Catalogue(products: products))
        var purchases: [JSONObject] = []
        for number in 1...6 {
            var coins = TestPlay.lifetime
            coins["orderId"] = .string("GPA.\(number)")
            coins["acknowledgementState"] = "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED"
            let consumption =
                number < 6
                ? "CONSUMPTION_STATE_CONSUMED" : "CONSUMPTION_STATE_YET_TO_BE_CONSUMED"
            coins["productLineItem"] = [
                [
                    "productId": "cards.coins",
                    "productOfferDetails": ["consumptionState": .string(consumption)],
                ]
            ]
            play.answerProduct("token-\(number)", coins)
            purchases.append([
                "store": "googlePlay", "productId": "cards.coins",
                "purchaseToken": .string("token-\(number)"),
            ])
        }
        let device = Device(server: server, customer: TestServer.anna)
        let (status, _) = try await device.present(
            ["purchases": .array(purchases.map { .object($0) })],
            environment: "sandbox"
        )
        #expect(status == 200)
        server.set(server.now + .days(4))
        let bought = Message.purchase(signed: server.now)
        #expect(try await server.post(try bought.body(server.store)).status == 200)
        #expect(try await server.premium() == "active paid access")
        let anna = try #require(CustomerID(TestServer.anna))
        let key = CustomerKey(app: "cards", environment: .sandbox, customer: anna)
        server.set(server.now + .minutes(1))
        let lineages = try #require(try await server.derivationInput(of: key))
        // The subscription, the unconsumed purchase, the first one of the store, and the first one
        // of those that may be left out.
        #expect(lineages.lineageRecords.count == 4)
        #expect(lineages.leftOut?.count == 3)
        await server.close()
    }

    // MARK: Failures of the store

    @Test(arguments: [503, 429, 403])
    func `a purchase that cannot be requested is marked and can be sent again`(
        status: Int
    ) async throws {
        let play = TestPlay()
        let server = try server(play)
        play.answer("token-1", status: status)
        play.answer("token-3", Self.nobodys)
        var second = Self.plain
        second["purchaseToken"] = "token-3"
        let first = try await present(server, "u_42", second, Self.plain)
        #expect(Device.items(first)[0] == "accepted claimed")
        #expect(Device.items(first)[1].hasPrefix("unasked "))
        #expect(first["items"]?.array?[1]["detail"]?.string?.contains("again") == true)
        #expect(state(first) == "active")
        play.answer("token-1", Self.nobodys)
        server.set(server.now + .minutes(2))
        play.set(server.now)
        let again = try await present(server, "u_42", Self.plain)
        #expect(Device.items(again) == ["accepted claimed"])
        await server.close()
    }

    /// The store with no service account to query it.
    private static var unasked: PlayTrust {
        PlayTrust(
            identity: PlayIdentity(
                packageName: "com.example.cards",
                environments: [.sandbox, .simulated]
            ),
            expectation: nil,
            keys: PushKeys(clock: { .distantPast }, handler: { _ in Response(status: 503) }),
            api: nil
        )
    }

    @Test(arguments: ["cards.lifetime", "cards.pro.monthly"], [true, false])
    func `a purchase presented before there was a service account is read once there is one`(
        product: String,
        isNamedAgain: Bool
    ) async throws {
        let play = TestPlay()
        var purchase: JSONObject = [
            "store": "google", "purchaseToken": "token-2", "productId": .string(product),
        ]
        let first = try TestServer(catalogue: TestPlay.catalogue, googlePlay: Self.unasked)
        let unasked = try await present(first, TestServer.anna, purchase)
        #expect(Device.items(unasked) == ["unasked claimed"])
        await first.storage.close()
        let path = product == "cards.lifetime" ? "productsv2" : "subscriptionsv2"
        let bought =
            product == "cards.lifetime"
            ? TestPlay.lifetime : TestPlay.subscription("ACTIVE", until: Self.end)
        play.answer("\(path)/tokens/token-2") {
            Response(body: JSONValue.object(bought).encoded())
        }
        play.answer("token-2", status: 400)
        let server = try TestServer(
            catalogue: TestPlay.catalogue,
            folder: first.folder,
            store: first.store,
            googlePlay: play.trust()
        )
        if !isNamedAgain { purchase["productId"] = nil }
        let answer = try await present(server, TestServer.anna, purchase)
        #expect(Device.items(answer) == ["accepted held"])
        let entitlement = product == "cards.lifetime" ? "forever" : "premium"
        #expect(state(answer, entitlement) == "active")
        let confidence = answer["entitlements"]?[entitlement]?["confidence"]
        #expect(confidence?.string == "confirmed")
        await server.close()
    }

    // MARK: Ownership

    @Test
    func `the first customer owns a purchase unless the store names an account`() async throws {
        let play = TestPlay()
        let server = try server(play)
        play.answer("token-1", Self.nobodys)
        #expect(Device.items(try await present(server, "u_1", Self.plain)) == ["accepted claimed"])
        #expect(
            Device.items(try await present(server, "u_2", Self.plain)) == [
                "accepted held-by-another"
            ]
        )
        play.answer("token-3", TestPlay.subscription("ACTIVE", until: Self.end))
        var annas = Self.plain
        annas["purchaseToken"] = "token-3"
        #expect(
            Device.items(try await present(server, "u_2", annas)) == ["accepted named-by-store"]
        )
        let hers = try await present(server, TestServer.anna, annas)
        #expect(Device.items(hers) == ["accepted held"])
        #expect(state(hers) == "active")
        await server.close()
    }

    @Test func `a token repeated within a minute is not requested again`() async throws {
        let play = TestPlay()
        let server = try server(play)
        play.answer("token-1", Self.nobodys)
        _ = try await present(server, "u_42", Self.plain)
        server.set(server.now + .seconds(59))
        play.set(server.now)
        let again = try await present(server, "u_42", Self.plain)
        #expect(Device.items(again) == ["accepted held"])
        #expect(again["items"]?.array?.first?["isKnown"]?.bool == true)
        #expect(play.questions.count == 1)
        server.set(server.now + .seconds(2))
        play.set(server.now)
        _ = try await present(server, "u_42", Self.plain)
        #expect(play.questions.count == 2)
        await server.close()
    }

    /// Returns the stored facts of all purchases.
    private func facts(_ server: TestServer) throws -> [Fact] {
        let scope = AppScope("cards", .sandbox)
        return try server.storage.lineages(in: scope, after: nil, limit: 9).flatMap(\.facts)
    }

    private func wait(_ server: TestServer, _ play: TestPlay, _ seconds: Int64) {
        server.set(server.now + .seconds(seconds))
        play.set(server.now)
    }

    @Test func `an unchanged answer about a presented purchase adds no fact`() async throws {
        let play = TestPlay()
        let server = try server(play)
        play.answer("token-1", Self.nobodys)
        _ = try await present(server, "u_42", Self.plain)
        for _ in 1...3 {
            wait(server, play, 63)
            let again = try await present(server, "u_42", Self.plain)
            #expect(Device.items(again) == ["accepted held"])
            #expect(state(again) == "active")
        }
        #expect(play.questions.count == 4)
        #expect(try facts(server).count == 1)
        // The unchanged answer is valid for further requests too.
        wait(server, play, 59)
        _ = try await present(server, "u_42", Self.plain)
        #expect(play.questions.count == 4)
        play.answer("token-1", TestPlay.subscription("EXPIRED", until: "2026-04-30T10:00:00Z"))
        wait(server, play, 2)
        #expect(state(try await present(server, "u_42", Self.plain)) != "active")
        #expect(try facts(server).count == 2)
        await server.close()
    }

    @Test func `an unchanged answer about a token says nothing about the token that replaced it`()
        async throws
    {
        let play = TestPlay()
        let server = try server(play)
        var next = Self.plain
        next["purchaseToken"] = "token-2"
        play.answer("token-1", Self.nobodys)
        _ = try await present(server, "u_42", Self.plain)
        var replacing = Self.nobodys
        replacing["linkedPurchaseToken"] = "token-1"
        play.answer("token-2", replacing)
        wait(server, play, 63)
        _ = try await present(server, "u_42", next)
        wait(server, play, 63)
        _ = try await present(server, "u_42", Self.plain)
        let facts = try facts(server).count
        _ = try await present(server, "u_42", next)
        #expect(
            play.questions.map { $0.suffix(7) } == ["token-1", "token-2", "token-1", "token-2"]
        )
        #expect(try self.facts(server).count == facts)
        await server.close()
    }

    @Test func `a failed query about a stored purchase is repeated after a minute at the earliest`()
        async throws
    {
        let play = TestPlay()
        let server = try server(play)
        play.answer("token-1", Self.nobodys)
        _ = try await present(server, "u_42", Self.plain)
        play.answer("token-1", status: 500)
        wait(server, play, 61)
        let failed = try await present(server, "u_42", Self.plain)
        #expect(Device.items(failed) == ["unasked http-500"])
        wait(server, play, 59)
        let again = try await present(server, "u_42", Self.plain)
        #expect(Device.items(again) == ["unasked failed-recently"])
        #expect(again["items"]?.array?[0]["detail"]?.string?.contains("in a minute") == true)
        #expect(state(again) == "active")
        #expect(play.questions.count == 2)
        #expect(try facts(server).count == 2)
        play.answer("token-1", Self.nobodys)
        wait(server, play, 2)
        #expect(Device.items(try await present(server, "u_42", Self.plain)) == ["accepted held"])
        await server.close()
    }

    // MARK: Limits

    @Test func `one request can contain at most sixteen purchases of Google Play`() async throws {
        let play = TestPlay()
        let server = try server(play)
        let purchases = (0...DeviceEvidence.mostQuestions).map { number -> JSONValue in
            ["store": "google", "purchaseToken": .string("t-\(number)")]
        }
        let (status, problem) = try await Device(server: server)
            .present(["purchases": .array(purchases)])
        #expect(status == 413)
        #expect(problem["most"]?.int64 == 16)
        #expect(play.questions.isEmpty)
        await server.close()
    }

    // MARK: Storage

    @Test func `a replay of the stored evidence adds no facts, and no token reaches the log`()
        async throws
    {
        let play = TestPlay()
        let server = try server(play)
        play.answer("token-1", Self.nobodys)
        _ = try await present(server, "u_42", Self.plain)
        let report = try await server.service.replayed()
        #expect(report["evidence"]?.int64 == 1)
        #expect(report["facts"]?.int64 == 1)
        #expect(report["added"]?["count"]?.int64 ?? 0 == 0)
        #expect(report["unread"]?["count"]?.int64 ?? 0 == 0)
        for line in server.logged { #expect(!line.contains("token-1")) }
        await server.close()
    }
}
