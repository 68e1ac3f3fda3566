import Foundation
import Testing
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer
import TideoverSignatures
import TideoverUnionChecker

@testable import TideoverTestServer

/// Replays the requests of the exchanges that were recorded for RevenueCat's SDKs, each to a server
/// with the history that its notes describe. Compares every member of the answers, and what the
/// SDKs' own decoders concluded from them.
@Suite(.enabled(if: RecordedExchange.present, "the vectors are not beside the project"))
struct SDKFixtureTests {
    /// Exchanges that the server answers otherwise on purpose, each with the reason.
    private static let others: [String: String] = [
        "05-customer-grace-period-end-form.json": "the form of 04 is sent",
        "06-customer-grace-WRONG.json": "a fault",
        "10-customer-refunded-WRONG.json": "a fault",
        "40-not-modified.json": "the answer to a device that has one, in a test of its own",
        "41-signature-vector.json": "the signature of a body, in a test of its own",
    ]

    /// One test for all, because each explanation has to be needed by one of them.
    @Test func `a recorded request is answered as recorded`() async throws {
        var needed: Set<String> = []
        for name in RecordedExchange.names where Self.others[name] == nil {
            let recorded = try RecordedExchange(name)
            let stage = try SDKStage(name)
            let exchange = try await stage.replay(recorded)
            let (answer, old) = (exchange.response, recorded.exchange.response)
            let body = JSONValue(try JSONDocument(answer.body).root)
            var comparison = SDKComparison(name: name, body: body)
            let statuses = (own: Int64(answer.status), recorded: Int64(old.status))
            comparison.compare(
                .integer(statuses.own),
                with: .integer(statuses.recorded),
                ["status"]
            )
            comparison.compare(answer.headers.form, with: old.headers.form, ["headers"])
            comparison.compare(body, with: recorded.body)
            #expect(exchange.receiptOutcome == recorded.exchange.receiptOutcome, "\(name)")
            for (platform, seen) in recorded.observed {
                let checker = try UnionChecker(answer.body, requestTime: stage.requestTime)
                comparison.compare(checker.conclusions(on: platform), with: seen)
            }
            #expect(comparison.unexplained == [], "\(name)")
            needed.formUnion(comparison.reasons)
            await stage.server.close()
        }
        #expect(SDKDifference.all.map(\.reason).filter { !needed.contains($0) } == [])
    }

    @Test func `grace is answered in the form that keeps the subscription active`() async throws {
        let name = "05-customer-grace-period-end-form.json"
        let stage = try SDKStage(name)
        let answer = try await stage.replay(RecordedExchange(name)).response
        let sent = try RecordedExchange("04-customer-grace.json")
        let body = JSONValue(try JSONDocument(answer.body).root)
        var comparison = SDKComparison(name: name, body: body)
        comparison.compare(body, with: sent.body)
        #expect(comparison.unexplained == [])
        await stage.server.close()
    }

    @Test func `a device that has an answer is told so as recorded`() async throws {
        let name = "40-not-modified.json"
        let recorded = try RecordedExchange(name)
        let stage = try SDKStage(name)
        // The recorded tag is of another server, and is unknown here.
        let fresh = try await stage.replay(recorded).response
        #expect(fresh.status == 200)
        var request = recorded.exchange.request
        let tag: String = try #require(fresh.headers["X-RevenueCat-ETag"])
        request.headers["X-RevenueCat-ETag"] = tag
        // The checker requires the tag and the time, and no body.
        let again = try await stage.server.service.checkedAnswer(to: request)
        #expect(again.status == recorded.exchange.response.status)
        #expect(again.headers["X-RevenueCat-Request-Time"] == stage.requestTime)
        request.headers["X-RevenueCat-ETag"] = ""
        let empty = try await stage.server.service.checkedAnswer(to: request)
        #expect(empty.status == 200)
        await stage.server.close()
    }

    @Test(arguments: ["06-customer-grace-WRONG.json", "10-customer-refunded-WRONG.json"])
    func `a recorded fault is refused, and not answered`(name: String) async throws {
        let recorded = try RecordedExchange(name)
        let stage = try SDKStage(name)
        let own = try await stage.replay(recorded).customerInfo()
        let wrong = try recorded.exchange.customerInfo()
        #expect(wrong.traps() != [])
        #expect(recorded.observed.count == 2)
        for (platform, seen) in recorded.observed {
            #expect(wrong.conclusions(on: platform) == seen)
            let isActive = wrong.isActive("premium", on: platform)
            #expect(own.isActive("premium", on: platform) == !isActive)
        }
        await stage.server.close()
    }

    @Test func `each exchange is replayed, or has the reason why not`() {
        #expect(RecordedExchange.names.count == 41)
        #expect(Set(Self.others.keys).isSubset(of: RecordedExchange.names))
    }
}

/// A kind of difference between a recorded answer and the server's, with its reason. Nothing else
/// may differ.
struct SDKDifference: Sendable {
    let reason: String
    /// The names of the members that may differ so.
    let members: Set<String>
    /// The numbers of the exchanges; nil for all.
    var exchanges: Set<String>?
    /// Whether the server's value is the recorded one, changed for this reason.
    let explains: @Sendable (_ pair: Pair, _ answer: JSONValue) -> Bool

    /// The recorded value and the server's own; nil if it is absent.
    struct Pair: Sendable {
        let recorded: JSONValue?
        let own: JSONValue?
    }

    static let all = ids + instants + forms + content

    private static let ids = [
        SDKDifference(
            reason: "an entry's id is the server's own",
            members: ["id"]
        ) { pair, answer in
            let ids = answer["subscriber"]?["non_subscriptions"]?.object?.flatMap { product in
                product.value.array?.compactMap { $0["id"]?.string } ?? []
            }
            return pair.own?.string?.isEmpty == false && Set(ids ?? []).count == ids?.count
        },
        SDKDifference(
            reason: "a grant has the server's own id",
            members: ["store_transaction_id"],
            exchanges: ["14"]
        ) { pair, _ in pair.own?.string?.isEmpty == false },
        SDKDifference(
            reason: "after a log-in the customer's id is the new one",
            members: ["original_app_user_id"],
            exchanges: ["24"]
        ) { pair, _ in pair.own == "u_42" },
        SDKDifference(
            reason: "each offer has a new nonce and signature, of the test's key",
            members: ["nonce", "signature", "key_id"],
            exchanges: ["33"]
        ) { pair, _ in
            guard let text = pair.own?.string else { return false }
            let signature = Base64.decode(text.utf8, .standard)
            return UUID(uuidString: text) != nil || text == "key" || signature?.first == 0x30
        },
    ]

    private static let instants = [
        SDKDifference(
            reason: "the first contact is the first purchase, or the request",
            members: ["first_seen"]
        ) { pair, answer in
            let subscriber = answer["subscriber"]
            let one = subscriber?["non_subscriptions"]?.object?.flatMap { $0.value.array ?? [] }
            let listed = (subscriber?["subscriptions"]?.object?.map(\.value) ?? []) + (one ?? [])
            let dates = listed.compactMap { $0["original_purchase_date"]?.string }
            return pair.own?.string == dates.min() ?? answer["request_date"]?.string
        },
        SDKDifference(
            reason: "the end includes the time for which the App Store's renewal is awaited",
            members: ["expires_date", "expirationDate"],
            exchanges: ["02", "13", "24"]
        ) { pair, _ in pair.isLater(by: .days(1)) },
        SDKDifference(
            reason: "the renewal of a week is awaited for a 31st of it, in whole seconds",
            members: ["expires_date", "expirationDate"],
            exchanges: ["16"]
        ) { pair, _ in pair.isLater(by: .seconds(19_510)) },
        SDKDifference(
            reason: "the first contact is a purchase that was refunded and is not listed",
            members: ["first_seen"],
            exchanges: ["12"]
        ) { pair, _ in pair.own == "2031-02-03T08:30:00Z" },
        SDKDifference(
            reason: "the end includes the time for which Google Play's renewal is awaited",
            members: ["expires_date", "expirationDate"],
            exchanges: ["19"]
        ) { pair, _ in pair.isLater(by: .days(2)) },
    ]

    private static let forms = [
        SDKDifference(
            reason: "the test's stores sign for their sandbox",
            members: ["is_sandbox"]
        ) { pair, _ in pair.recorded == false && pair.own == true },
        SDKDifference(
            reason: "an error has words of its own",
            members: ["message"]
        ) { pair, _ in pair.own?.string?.isEmpty == false },
        SDKDifference(
            reason: "the SDKs do not read when to repeat a receipt after a 5xx",
            members: ["Retry-After"],
            exchanges: ["22"]
        ) { pair, _ in pair.own == nil },
        SDKDifference(
            reason: "a customer that is asked for is not created",
            members: ["status"],
            exchanges: ["01"]
        ) { pair, _ in pair.recorded == 201 && pair.own == 200 },
        SDKDifference(
            reason: "a read has a tag for the next one",
            members: ["X-RevenueCat-ETag"]
        ) { pair, _ in pair.recorded == nil && pair.own?.string?.utf8.count == 16 },
        SDKDifference(
            reason: "Google Play's page is that of the subscription",
            members: ["management_url"],
            exchanges: ["08", "19"]
        ) { pair, _ in
            let page = pair.recorded?.string
            return pair.own?.string == page.map { $0 + pageOfSubscription }
        },
        SDKDifference(
            reason: "a customer whose only subscription was refunded has none to manage",
            members: ["management_url"],
            exchanges: ["09"]
        ) { pair, _ in pair.own == .null },
    ]

    private static let pageOfSubscription = "?sku=cards_pro&package=com.example.cards"

    private static let content = [
        SDKDifference(
            reason: "no request grants for ever",
            members: ["archive", "rc_promo_archive_lifetime"],
            exchanges: ["14"]
        ) { pair, _ in pair.own == nil },
        SDKDifference(
            reason: "the list lacks the grant for ever",
            members: ["activeSubscriptions", "subscriptionInfos"],
            exchanges: ["14"]
        ) { pair, _ in
            let kept = pair.recorded?.array?.filter { $0.string?.contains("archive") == false }
            return kept?.count == 1 && pair.own?.array == kept
        },
    ]
}

extension SDKDifference.Pair {
    fileprivate func isLater(by duration: Milliseconds) -> Bool {
        guard let recorded = recorded?.string.flatMap({ Instant(rfc3339: $0) }),
            let own = own?.string.flatMap({ Instant(rfc3339: $0) })
        else { return false }
        return own == recorded + duration
    }
}

/// Compares an answer with a recorded one, member by member.
struct SDKComparison {
    let name: String
    /// The server's whole answer.
    let body: JSONValue
    /// Each unexplained difference with its place.
    private(set) var unexplained: [String] = []
    /// The reasons of the explained ones.
    private(set) var reasons: Set<String> = []

    init(name: String, body: JSONValue) {
        self.name = name
        self.body = body
    }

    mutating func compare(_ own: JSONValue?, with recorded: JSONValue?, _ path: [String] = []) {
        if let own = own?.object, let recorded = recorded?.object {
            for key in Set(own.map(\.key) + recorded.map(\.key)).sorted() {
                compare(own[key], with: recorded[key], path + [key])
            }
        } else if let own = own?.array, let recorded = recorded?.array,
            own.count == recorded.count
        {
            for (own, recorded) in zip(own, recorded) { compare(own, with: recorded, path) }
        } else if own != recorded {
            explain(SDKDifference.Pair(recorded: recorded, own: own), path)
        }
    }

    private mutating func explain(_ pair: SDKDifference.Pair, _ path: [String]) {
        let number = String(name.prefix(2))
        let found = SDKDifference.all.first { difference in
            difference.members.contains(path.last ?? "")
                && difference.exchanges?.contains(number) ?? true
                && difference.explains(pair, body)
        }
        if let found {
            reasons.insert(found.reason)
        } else {
            let place = path.joined(separator: ".")
            unexplained.append("\(place): \(Self.text(pair.own)) for \(Self.text(pair.recorded))")
        }
    }

    private static func text(_ value: JSONValue?) -> String {
        value.map { String(decoding: $0.encoded(), as: UTF8.self) } ?? "nothing"
    }
}

extension Headers {
    /// The fields of an answer that the recorded ones have.
    fileprivate var form: JSONValue {
        var form: JSONObject = [:]
        let names = [
            "Content-Type", "X-RevenueCat-Request-Time", "X-RevenueCat-ETag", "Retry-After",
        ]
        for name in names {
            form[name] = self[name].map(JSONValue.string)
        }
        return .object(form)
    }
}

/// A server at the instant of the recorded exchanges, and the histories of their customers.
struct SDKStage {
    static let now: Instant = "2031-05-06T10:00:00Z"
    private static let keys = (
        appStore: "appl_tideoverExampleKeyAAAA", googlePlay: "goog_tideoverExampleKeyBBBB"
    )
    let server: TestServer
    let requestTime = String(now.millisecondsSince1970)
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
    func replay(_ recorded: RecordedExchange) async throws -> UnionChecker.Exchange {
        try await live()
        set(Self.now)
        var body = recorded.requestBody
        if let evidence = try evidence() { body?["fetch_token"] = .string(evidence) }
        if number == "18" { body?["app_transaction"] = .string(try appTransaction()) }
        var request = recorded.exchange.request
        request.body = body.map { JSONValue.object($0).encoded() } ?? []
        let response = try await server.service.checkedAnswer(to: request)
        return UnionChecker.Exchange(request, response)
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
        case "04", "05", "06": try await fail("u_44", grace: "2031-05-17T10:00:00Z")
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
        case "20":
            let coins = purchase("coins_100", Self.bought, "4444-5555-66666")
            play.answerProduct(Self.inApp("BO-J1Oz"), coins)
        case "21":
            let token = Self.inApp("CO-J1Oq")
            let date: Instant = "2031-02-03T08:30:00Z"
            play.answerProduct(token, purchase("pro_lifetime", date, "7777-8888-99999"))
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
        case "17":
            try sign(oneTime("cards.coins.100", "Consumable", Self.bought, "740000900003333"))
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

    private func oneTime(
        _ product: String,
        _ type: String,
        _ date: Instant,
        _ id: String
    ) -> JSONObject {
        var purchase = transaction(id, product, signed: date)
        purchase["originalTransactionId"] = .string(id)
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
        var lifetime = oneTime("cards.pro.lifetime", "Non-Consumable", date, "740000900002222")
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

    private func purchase(_ product: String, _ date: Instant, _ order: String) -> JSONObject {
        var purchase = TestPlay.lifetime
        purchase["obfuscatedExternalAccountId"] = nil
        purchase["purchaseCompletionTime"] = .string(date.rfc3339)
        purchase["orderId"] = .string("GPA.3300-\(order)")
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
