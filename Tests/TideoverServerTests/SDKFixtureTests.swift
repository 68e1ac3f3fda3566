import Foundation
import Testing
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer
import TideoverSignatures

/// Replays the requests of the exchanges that were recorded for RevenueCat's SDKs, each to a server
/// with the history that its notes describe, and compares the answers.
@Suite(.enabled(if: SDKFixture.present, "the vectors are not beside the project"))
struct SDKFixtureTests {
    /// Exchanges that the server answers otherwise on purpose.
    private static let others: [String: String] = [
        "05-customer-grace-period-end-form.json": "the form of 04 is sent",
        "06-customer-grace-WRONG.json": "a fault",
        "10-customer-refunded-WRONG.json": "a fault",
        "40-not-modified.json": "the answer to a device that has one, in a test of its own",
        "41-signature-vector.json": "the signature of a body, in a test of its own",
    ]

    @Test(arguments: SDKFixture.names.filter { others[$0] == nil })
    func `a recorded request is answered as recorded`(name: String) async throws {
        let fixture = try SDKFixture(name)
        let stage = try SDKStage(name)
        let answer = try await stage.answer(to: fixture)
        // The SDKs read 200 and 201 of customer info as the same.
        let status = fixture.method == "GET" && fixture.status == 201 ? 200 : fixture.status
        #expect(answer.status == status)
        #expect(answer.headers["Content-Type"]?.hasPrefix("application/json") == true)
        let time = SDKStage.now.millisecondsSince1970
        #expect(answer.headers["X-RevenueCat-Request-Time"] == "\(time)")
        let body = JSONValue(try JSONDocument(answer.body).root)
        #expect(body.withoutNames == fixture.body.withoutNames)
        let own = SDKApp.Answer(response: answer, content: answer.body)
        let recorded = SDKApp.Answer(response: answer, content: fixture.body.encoded())
        #expect(own.isActive("premium") == recorded.isActive("premium"))
        await stage.server.close()
    }

    @Test func `a device that has an answer is told so as recorded`() async throws {
        let name = "40-not-modified.json"
        let fixture = try SDKFixture(name)
        let stage = try SDKStage(name)
        // The recorded tag is of another server, and is unknown here.
        let fresh = try await stage.answer(to: fixture)
        #expect(fresh.status == 200)
        var headers = fixture.headers
        let tag: String = try #require(fresh.headers["X-RevenueCat-ETag"])
        headers["X-RevenueCat-ETag"] = tag
        let path = fixture.path
        let again = try await stage.server.ask(fixture.method, path, headers: headers)
        #expect(again.status == fixture.status)
        #expect(again.body.isEmpty)
        #expect(again.headers["X-RevenueCat-ETag"] == headers["X-RevenueCat-ETag"])
        let time = SDKStage.now.millisecondsSince1970
        #expect(again.headers["X-RevenueCat-Request-Time"] == "\(time)")
        headers["X-RevenueCat-ETag"] = ""
        let empty = try await stage.server.ask(fixture.method, path, headers: headers)
        #expect(empty.status == 200)
        await stage.server.close()
    }

    @Test(arguments: ["06-customer-grace-WRONG.json", "10-customer-refunded-WRONG.json"])
    func `a recorded fault is not answered`(name: String) async throws {
        let fixture = try SDKFixture(name)
        let stage = try SDKStage(name)
        let answer = try await stage.answer(to: fixture)
        let own = SDKApp.Answer(response: answer, content: answer.body)
        let wrong = SDKApp.Answer(response: answer, content: fixture.body.encoded())
        #expect(own.isActive("premium") != wrong.isActive("premium"))
        await stage.server.close()
    }

    @Test func `each exchange is replayed, or has the reason why not`() {
        #expect(SDKFixture.names.count == 41)
        #expect(Set(Self.others.keys).isSubset(of: SDKFixture.names))
    }
}

/// One recorded exchange.
struct SDKFixture {
    let method: String
    let path: String
    let headers: Headers
    let request: JSONObject?
    let status: Int
    let body: JSONValue

    private static let folder = Vectors.folder.appending(path: "revenuecat-sdk")
    static let present = FileManager.default.fileExists(atPath: folder.path)

    static let names: [String] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasSuffix(".json") }.sorted()
    }()

    static func document(_ name: String) throws -> JSONNode {
        let bytes = Array(try Data(contentsOf: folder.appending(path: name)))
        return try JSONDocument(bytes, limits: .local).root
    }

    /// Reads an exchange.
    ///
    /// - Throws: an error if the file is no recorded exchange.
    init(_ name: String) throws {
        let root = JSONValue(try Self.document(name))
        let request = try #require(root["request"])
        method = try #require(request["method"]?.string)
        path = try #require(request["path"]?.string)
        self.request = request["body"]?.object
        status = Int(try #require(root["response"]?["status"]?.int64))
        body = root["response"]?["body"] ?? .null
        headers = (request["headers"]?.object ?? [:]).reduce(into: [:]) { headers, field in
            headers[field.key] = field.value.string
        }
    }
}

extension JSONValue {
    /// Members with the server's own ids, texts and links, and what depends on the test's
    /// environment.
    private static let names: Set<String> = [
        "id", "store_transaction_id", "original_app_user_id", "first_seen", "is_sandbox",
        "message", "nonce", "signature", "timestamp", "key_id", "management_url",
        // A grant for ever, which no request gives.
        "archive", "rc_promo_archive_lifetime",
    ]

    fileprivate var withoutNames: JSONValue {
        if let array { return .array(array.map(\.withoutNames)) }
        guard let object else { return self }
        return .object(
            object.reduce(into: JSONObject()) { kept, member in
                guard !Self.names.contains(member.key) else { return }
                let isEnd = member.key == "expires_date"
                kept[member.key] = isEnd ? member.value.withoutLeeway : member.value.withoutNames
            }
        )
    }

    /// An end without its instant while it is ahead. The server adds how long it awaits a renewal.
    private var withoutLeeway: JSONValue {
        guard let end = self.string.flatMap({ Instant(rfc3339: $0) }), end > SDKStage.now else {
            return self
        }
        return "ahead"
    }
}

/// A server at the instant of the recorded exchanges, and the histories of their customers.
struct SDKStage {
    static let now: Instant = "2031-05-06T10:00:00Z"
    private static let keys = (
        appStore: "appl_tideoverExampleKeyAAAA", googlePlay: "goog_tideoverExampleKeyBBBB"
    )
    let server: TestServer
    private let play = TestPlay()
    private let number: String

    /// Prepares the server for an exchange.
    ///
    /// - Throws: an error if the server does not start.
    init(_ name: String) throws {
        number = String(name.prefix(2))
        server = try TestServer(
            catalogue: Self.catalogue,
            googlePlay: play.trust(),
            revenueCatSDK: Self.sdk(number),
            now: "2031-01-17T10:00:00Z"
        )
    }

    private static func sdk(_ number: String) -> RevenueCatSDK {
        let packages = [
            ("$rc_monthly", "cards.pro.monthly"), ("$rc_annual", "cards.pro.yearly"),
        ]
        return RevenueCatSDK(
            appStoreKeys: number == "25" ? [] : [keys.appStore],
            googlePlayKeys: [keys.googlePlay],
            currentOffering: number == "27" ? nil : "default",
            offerings: number == "27"
                ? []
                : [
                    RevenueCatSDK.Offering(
                        identifier: "default",
                        description: "Standard",
                        packages: packages.map {
                            RevenueCatSDK.Package(identifier: $0.0, products: [$0.1])
                        }
                    )
                ],
            promotionalOffers: number == "33" ? ["winback50"] : [],
            supportEmail: ["36", "40"].contains(number) ? "help@example.org" : nil
        )
    }

    private static let catalogue: Catalogue = {
        func subscription(months: Int64, in store: Store) -> Product {
            Product(
                entitlements: ["premium"],
                group: "pro",
                period: Period(months: months),
                grace: Period(days: 16),
                store: store
            )
        }
        return Catalogue(products: [
            "cards.pro.monthly": subscription(months: 1, in: .appStore),
            "cards.pro.yearly": subscription(months: 12, in: .appStore),
            "cards_pro:monthly": subscription(months: 1, in: .googlePlay),
            "cards_pro:yearly": subscription(months: 12, in: .googlePlay),
            "cards.pro.lifetime": Product(
                entitlements: ["premium"],
                kind: .nonConsumable,
                store: .appStore
            ),
            "pro_lifetime": Product(
                entitlements: ["premium"],
                kind: .nonConsumable,
                store: .googlePlay
            ),
            "cards.coins.100": Product(entitlements: [], kind: .consumable, store: .appStore),
            "coins_100": Product(entitlements: [], kind: .consumable, store: .googlePlay),
        ])
    }()

    /// Plays the history of an exchange, and returns the server's answer to its request.
    func answer(to fixture: SDKFixture) async throws -> Response {
        try await live()
        set(Self.now)
        var request = fixture.request
        if let evidence = try evidence() { request?["fetch_token"] = .string(evidence) }
        if number == "18" { request?["app_transaction"] = .string(try appTransaction()) }
        return try await server.ask(
            fixture.method,
            fixture.path,
            headers: fixture.headers,
            body: request.map { JSONValue.object($0).encoded() } ?? []
        )
    }

    private func set(_ instant: Instant) {
        server.set(instant)
        play.set(instant)
    }

    // MARK: Histories

    private func live() async throws {
        switch number {
        case "02", "24":
            let user = number == "02" ? "u_42" : "$RCAnonymousID:0f1e2d3c4b5a69788796a5b4c3d2e1f0"
            try await subscribe(user, from: "2031-04-17T10:00:00Z", until: "2031-05-17T10:00:00Z")
        case "03": try await cancelTrial()
        case "04", "06": try await fail("u_44", grace: "2031-05-17T10:00:00Z")
        case "07": try await fail("u_45", grace: nil)
        case "08": try await pause()
        case "09", "10": try await refund()
        case "11", "12": try await buyLifetime(isRefunded: number == "12")
        case "13": try await share()
        case "14": try await grant()
        case "15":
            try await subscribe(
                "u_51",
                from: "2031-04-06T09:00:00Z",
                until: "2031-05-06T09:00:00Z"
            )
        case "19":
            let trial = subscription("ACTIVE", Self.trialItem, from: Self.bought)
            play.answer(Self.token("AO-J1Oy"), trial)
        case "20": play.answerProduct(Self.inApp("BO-J1Oz"), purchase("coins_100", Self.bought))
        case "21":
            let token = Self.inApp("CO-J1Oq")
            play.answerProduct(token, purchase("pro_lifetime", "2031-02-03T08:30:00Z"))
        case "22": play.answer(Self.token("AO-J1Oy"), status: 503)
        default: break
        }
    }

    private static func token(_ end: String) -> String { "example-play-purchase-token.\(end)" }
    private static func inApp(_ end: String) -> String { "example-play-inapp-token.\(end)" }
    private static let bought: Instant = "2031-05-06T09:59:50Z"
    private static let first: Instant = "2031-01-17T10:00:00Z"
    private static let transactionId = "740000900001111"

    // MARK: The App Store

    /// What a device presents in the request; nil for what was recorded.
    private func evidence() throws -> String? {
        switch number {
        case "16":
            try sign(trial(from: Self.bought, signed: Self.bought))
        case "17": try sign(oneTime("cards.coins.100", "Consumable", Self.bought))
        default: nil
        }
    }

    private func sign(_ transaction: JSONObject) throws -> String {
        try server.store.sign(transaction)
    }

    private func appTransaction() throws -> String {
        try sign([
            "receiptType": "Sandbox", "bundleId": "com.example.cards",
            "applicationVersion": "320", "versionExternalIdentifier": 0,
            "receiptCreationDate": Self.now.wire, "originalApplicationVersion": "212",
            "originalPurchaseDate": ("2029-11-02T00:00:00Z" as Instant).wire,
            "deviceVerification": "AA==",
            "deviceVerificationNonce": "00000000-0000-4000-8000-000000000000",
        ])
    }

    private func transaction(_ id: String, _ product: String, signed: Instant) -> JSONObject {
        var transaction = Message.transaction(signed: signed, product: product)
        transaction["appAccountToken"] = nil
        transaction["transactionId"] = .string(id)
        transaction["originalTransactionId"] = .string(Self.transactionId)
        return transaction
    }

    private func term(
        _ id: String,
        from: Instant,
        until: Instant,
        product: String = "cards.pro.monthly",
        signed: Instant? = nil
    ) -> JSONObject {
        var term = transaction(id, product, signed: signed ?? from)
        term["webOrderLineItemId"] = .string("9\(from.millisecondsSince1970)")
        term["purchaseDate"] = from.wire
        term["originalPurchaseDate"] = min(from, Self.first).wire
        term["expiresDate"] = until.wire
        return term
    }

    private func trial(from start: Instant, signed: Instant) -> JSONObject {
        var trial = term(Self.transactionId, from: start, until: start + .days(7), signed: signed)
        trial["originalPurchaseDate"] = start.wire
        trial["offerType"] = 1
        trial["offerDiscountType"] = "FREE_TRIAL"
        trial["price"] = 0
        return trial
    }

    private func oneTime(_ product: String, _ type: String, _ date: Instant) -> JSONObject {
        var purchase = transaction("740000900002222", product, signed: date)
        purchase["originalTransactionId"] = "740000900002222"
        for name in ["webOrderLineItemId", "expiresDate", "subscriptionGroupIdentifier"] {
            purchase[name] = nil
        }
        purchase["type"] = .string(type)
        purchase["purchaseDate"] = date.wire
        purchase["originalPurchaseDate"] = date.wire
        return purchase
    }

    /// Posts a transaction as the customer's device, at its signature's time.
    private func post(_ user: String, _ transaction: JSONObject) async throws {
        set(Instant(millisecondsSince1970: transaction["signedDate"]?.int64 ?? 0))
        let app = SDKApp(server: server, key: Self.keys.appStore, customer: user)
        let answer = try await app.post(["fetch_token": .string(try sign(transaction))])
        #expect(answer.status == 200)
    }

    /// Posts a notification of the store about a transaction.
    private func hear(
        _ type: String,
        _ subtype: String? = nil,
        at instant: Instant,
        _ transaction: JSONObject,
        _ renewal: JSONObject? = [:],
        status: Int64 = 1
    ) async throws {
        set(instant)
        var message = Message("n-\(type)", signed: instant)
        message.type = type
        message.subtype = subtype
        message.status = renewal == nil ? nil : status
        message.transaction = transaction
        message.transaction?["signedDate"] = instant.wire
        message.renewal = renewal.map { changes in
            var renewal = Message.renewal(signed: instant)
            renewal["originalTransactionId"] = .string(Self.transactionId)
            renewal["renewalDate"] = transaction["expiresDate"]
            for change in changes { renewal[change.key] = change.value }
            return renewal
        }
        let answer = try await server.post(message)
        #expect(answer.status == 200)
    }

    /// A first month in January, and the period of the exchange.
    private func subscribe(_ user: String, from: Instant, until: Instant) async throws {
        let january = term("740000900001000", from: Self.first, until: "2031-02-17T10:00:00Z")
        try await post(user, january)
        let current = term(Self.transactionId, from: from, until: until)
        try await hear("DID_RENEW", at: from, current)
    }

    private func cancelTrial() async throws {
        let start: Instant = "2031-05-03T10:00:00Z"
        try await post("u_43", trial(from: start, signed: start))
        let off: Instant = "2031-05-04T07:00:00Z"
        let type = "DID_CHANGE_RENEWAL_STATUS"
        let trial = trial(from: start, signed: off)
        try await hear(type, "AUTO_RENEW_DISABLED", at: off, trial, ["autoRenewStatus": 0])
    }

    private func fail(_ user: String, grace: Instant?) async throws {
        let (from, until) = ("2031-04-01T10:00:00Z", "2031-05-01T10:00:00Z") as (Instant, Instant)
        try await subscribe(user, from: from, until: until)
        var renewal: JSONObject = ["isInBillingRetryPeriod": true]
        renewal["gracePeriodExpiresDate"] = grace?.wire
        try await hear(
            "DID_FAIL_TO_RENEW",
            grace == nil ? nil : "GRACE_PERIOD",
            at: until + .minutes(2),
            term(Self.transactionId, from: from, until: until),
            renewal,
            status: grace == nil ? 3 : 4
        )
    }

    private func refund() async throws {
        let (from, until) = ("2031-04-17T10:00:00Z", "2031-05-17T10:00:00Z") as (Instant, Instant)
        try await subscribe("u_47", from: from, until: until)
        let date: Instant = "2031-05-02T09:00:00Z"
        var refunded = term(Self.transactionId, from: from, until: until)
        refunded["revocationDate"] = date.wire
        refunded["revocationReason"] = 0
        try await hear("REFUND", at: date, refunded, status: 5)
    }

    private func buyLifetime(isRefunded: Bool) async throws {
        let date: Instant = "2031-02-03T08:30:00Z"
        var lifetime = oneTime("cards.pro.lifetime", "Non-Consumable", date)
        try await post("u_48", lifetime)
        guard isRefunded else { return }
        let refund = date + .days(9)
        lifetime["revocationDate"] = refund.wire
        lifetime["revocationReason"] = 0
        try await hear("REFUND", at: refund, lifetime, nil)
    }

    private func share() async throws {
        var year = term(
            Self.transactionId,
            from: Self.first,
            until: "2032-01-17T10:00:00Z",
            product: "cards.pro.yearly"
        )
        year["inAppOwnershipType"] = "FAMILY_SHARED"
        try await post("u_49", year)
    }

    // MARK: Google Play

    private static let trialItem: JSONObject = [
        "expiryTime": "2031-05-13T09:59:50Z",
        "latestSuccessfulOrderId": "GPA.3300-1111-2222-33333",
        "offerDetails": ["basePlanId": "monthly", "offerId": "trial7"],
        "offerPhase": ["freeTrial": [:]],
    ]

    private func subscription(
        _ state: String,
        _ item: JSONObject,
        from start: Instant,
        _ changes: JSONObject = [:]
    ) -> JSONObject {
        var line: JSONObject = [
            "productId": "cards_pro", "autoRenewingPlan": ["autoRenewEnabled": true],
        ]
        for (name, value) in item { line[name] = value }
        var subscription: JSONObject = [
            "startTime": .string(start.rfc3339), "regionCode": "NL", "testPurchase": [:],
            "subscriptionState": .string("SUBSCRIPTION_STATE_\(state)"),
            "acknowledgementState": "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED",
            "lineItems": [.object(line)],
        ]
        for (name, value) in changes { subscription[name] = value }
        return subscription
    }

    private func purchase(_ product: String, _ date: Instant) -> JSONObject {
        var purchase = TestPlay.lifetime
        purchase["obfuscatedExternalAccountId"] = nil
        purchase["purchaseCompletionTime"] = .string(date.rfc3339)
        purchase["orderId"] = "GPA.3300-4444-5555-66666"
        purchase["productLineItem"] = [["productId": .string(product)]]
        return purchase
    }

    private func pause() async throws {
        let steps: [(at: Instant, state: String, until: Instant, order: String)] = [
            (Self.first, "ACTIVE", "2031-02-17T10:00:00Z", ""),
            ("2031-03-20T10:00:00Z", "ACTIVE", "2031-04-20T10:00:00Z", "..2"),
            ("2031-04-20T10:00:00Z", "PAUSED", "2031-04-20T10:00:00Z", "..2"),
        ]
        for step in steps {
            set(step.at + .seconds(10))
            let item: JSONObject = [
                "expiryTime": .string(step.until.rfc3339),
                "latestSuccessfulOrderId": .string("GPA.3300-1111-2222-33333\(step.order)"),
                "offerDetails": ["basePlanId": "monthly"],
            ]
            let resume: JSONValue = ["autoResumeTime": "2031-06-20T10:00:00Z"]
            let paused: JSONObject = ["pausedStateContext": resume]
            let isPaused = step.state == "PAUSED"
            let changes = isPaused ? paused : [:]
            play.answer("token-8", subscription(step.state, item, from: Self.first, changes))
            let app = SDKApp(server: server, key: Self.keys.googlePlay, customer: "u_46")
            let answer = try await app.post([
                "fetch_token": "token-8", "product_ids": ["cards_pro"],
                "platform_product_ids": [
                    ["product_id": "cards_pro", "base_plan_id": "monthly"]
                ],
            ])
            #expect(answer.status == 200)
        }
    }

    // MARK: Grants

    private func grant() async throws {
        set("2031-05-01T00:00:00Z")
        let wish: JSONValue = ["entitlement": "premium", "days": 30, "why": "a test"]
        let path = "/v1/apps/cards/customers/u_50/grants?environment=sandbox"
        let answer = try await server.send("POST", path, body: wish.encoded())
        #expect(answer.status == 201)
    }
}
