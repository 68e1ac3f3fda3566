import Testing
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverRevenueCat
import TideoverServer
import TideoverSignatures

@testable import TideoverTestServer

/// Webhooks in RevenueCat's form, read by the reader of RevenueCat's own.
@Suite struct RevenueCatWebhookTests {
    /// Receives the messages, and answers each with the next status of a script, then 200.
    private final class Receiver: Sendable {
        private let state = Locked<(script: [Int], requests: [Request])>(([], []))

        var requests: [Request] { state.withLock { $0.requests } }

        func script(_ statuses: Int...) { state.withLock { $0.script = statuses } }

        func receive(_ request: Request) -> WebhookResult {
            state.withLock { state in
                state.requests.append(request)
                let status = state.script.isEmpty ? 200 : state.script.removeFirst()
                return .response(status: status)
            }
        }

        func events() throws -> [RevenueCatEvent] {
            let reader = RevenueCatReader(
                environments: [.sandbox],
                catalogue: TestServer.catalogue
            )
            return try requests.map { try reader.event(body: $0.body).event }
        }

        /// The types with their reasons.
        func types() throws -> [String] {
            try events().map { event in
                let reason = event.cancelReason ?? event.expirationReason
                return [event.type.known?.rawValue, reason?.known?.rawValue]
                    .compactMap(\.self).joined(separator: " ")
            }
        }
    }

    private static let secret = WebhookSecret { 3 }
    private static let authorization = "Bearer of the dashboard"

    private func server(
        _ receiver: Receiver,
        _ play: TestPlay? = nil,
        _ revenueCat: TestRevenueCat? = nil,
        catalogue: Catalogue = TestServer.catalogue,
        policy: Policy = Policy()
    ) async throws -> TestServer {
        let endpoint = WebhookEndpoint(
            app: "cards",
            id: "hooks",
            url: "https://example.com/rc",
            events: .all,
            allowNetworks: [],
            signer: WebhookSigner(secrets: [Self.secret]),
            format: .revenueCat,
            authorization: Self.authorization
        )
        let server = try TestServer(
            catalogue: catalogue,
            policy: policy,
            googlePlay: play?.trust(),
            revenueCat: revenueCat?.trust(),
            revenueCatSDK: RevenueCatSDK(appStoreKeys: ["appl_test"]),
            webhooks: { clock in
                WebhookSetup(
                    configured: [endpoint],
                    sending: WebhookSending(clock: { clock.now }) { _, _, request in
                        receiver.receive(request)
                    }
                )
            }
        )
        await server.service.synchroniseWebhooks()
        return server
    }

    /// Posts a notification and delivers its events.
    private func hear(_ message: Message, _ server: TestServer) async throws {
        #expect(try await server.post(message).status == 200)
        await server.service.deliverDueWebhooks()
    }

    private static func failure(_ uuid: String, grace: Instant?) -> Message {
        let end = Message.end + .days(30)
        var failed = Message.renewed(uuid, signed: end + .minutes(2))
        failed.type = "DID_FAIL_TO_RENEW"
        failed.subtype = grace == nil ? nil : "GRACE_PERIOD"
        failed.status = grace == nil ? 3 : 4
        failed.renewal?["isInBillingRetryPeriod"] = true
        failed.renewal?["gracePeriodExpiresDate"] = grace.map(\.wire)
        return failed
    }

    @Test func `a subscription's life arrives as RevenueCat reports it`() async throws {
        let receiver = Receiver()
        let server = try await server(receiver)
        try await hear(.purchase(), server)
        #expect(try receiver.types() == ["INITIAL_PURCHASE"])
        server.set(Message.end + .minutes(5))
        try await hear(.renewed(), server)
        #expect(try receiver.types().dropFirst() == ["RENEWAL"])

        let secondEnd = Message.end + .days(30)
        server.set(secondEnd + .minutes(5))
        try await hear(Self.failure("n-3", grace: secondEnd + .days(16)), server)
        #expect(
            try receiver.types().dropFirst(2) == ["BILLING_ISSUE", "CANCELLATION BILLING_ERROR"]
        )
        let issue = try receiver.events()[2]
        #expect(issue.gracePeriodExpiresAt == secondEnd + .days(16))

        server.set(secondEnd + .days(17))
        #expect(await server.service.meetDueDeadlines())
        await server.service.deliverDueWebhooks()
        #expect(try receiver.types().dropFirst(4) == ["EXPIRATION BILLING_ERROR"])
        #expect(try receiver.events()[4].expiresAt ?? .distantFuture <= server.now)
        await server.close()
    }

    @Test func `an event without a message says nothing about its receiver`() async throws {
        let receiver = Receiver()
        receiver.script(500, 500, 500)
        let server = try await server(receiver)
        try await hear(.purchase(), server)
        func list(_ path: String, _ member: String) async throws -> [JSONNode] {
            let response = try await server.send("GET", "/v1/apps/cards/webhooks\(path)")
            return try JSONDocument(response.body).root[member]?.elements.map(\.self) ?? []
        }
        let webhook = try #require(try await list("", "webhooks").first)
        #expect(webhook["failingSince"]?.string != nil)
        #expect(webhook["waiting"]?.int64 == 1)
        let attempts = try await list("/hooks/attempts", "attempts")
        #expect(attempts.map { $0["status"]?.int64 } == [500])
        await server.close()
    }

    @Test func `a failed payment without grace ends access at once`() async throws {
        let receiver = Receiver()
        let server = try await server(receiver)
        try await hear(.purchase(), server)
        server.set(Message.end + .minutes(5))
        try await hear(.renewed(), server)
        server.set(Message.end + .days(30) + .minutes(5))
        try await hear(Self.failure("n-3", grace: nil), server)
        #expect(
            try receiver.types().dropFirst(2) == [
                "BILLING_ISSUE", "CANCELLATION BILLING_ERROR", "EXPIRATION BILLING_ERROR",
            ]
        )
        await server.close()
    }

    @Test func `a refund is a cancellation and an expiration`() async throws {
        let receiver = Receiver()
        let server = try await server(receiver)
        try await hear(.purchase(), server)
        let refund = Message.start + .days(5)
        server.set(refund + .minutes(1))
        var refunded = Message.purchase()
        refunded.uuid = "n-2"
        refunded.refund(at: refund)
        try await hear(refunded, server)
        #expect(
            try receiver.types().dropFirst() == [
                "CANCELLATION CUSTOMER_SUPPORT", "EXPIRATION CUSTOMER_SUPPORT",
            ]
        )
        #expect(try receiver.events()[1].price?.milliunits ?? -1 < 0)
        await server.close()
    }

    /// Returns a message about the first purchase, signed at an instant.
    private static func message(
        _ uuid: String,
        _ type: String,
        _ subtype: String? = nil,
        at instant: Instant
    ) -> Message {
        var message = Message.purchase(uuid)
        message.type = type
        message.subtype = subtype
        message.sign(at: instant)
        return message
    }

    @Test func `a renewal that is turned off and on again arrives as both`() async throws {
        let receiver = Receiver()
        let server = try await server(receiver)
        try await hear(.purchase(), server)
        for (day, turn) in [(1, "DISABLED"), (2, "ENABLED")] {
            let instant = Message.start + .days(Int64(day))
            server.set(instant + .minutes(1))
            var change = Self.message(
                "n-\(turn)",
                "DID_CHANGE_RENEWAL_STATUS",
                "AUTO_RENEW_\(turn)",
                at: instant
            )
            change.renewal?["autoRenewStatus"] = turn == "ENABLED" ? 1 : 0
            try await hear(change, server)
        }
        let changes = try receiver.types().dropFirst()
        #expect(changes == ["CANCELLATION UNSUBSCRIBE", "UNCANCELLATION"])
        await server.close()
    }

    @Test func `a refund that the store takes back is reported reversed`() async throws {
        let receiver = Receiver()
        let server = try await server(receiver)
        try await hear(.purchase(), server)
        let refund = Message.start + .days(3)
        server.set(refund + .minutes(1))
        var refunded = Self.message("n-2", "REFUND", at: refund)
        refunded.status = 5
        refunded.transaction?["revocationDate"] = refund.wire
        refunded.transaction?["revocationReason"] = 0
        try await hear(refunded, server)
        server.set(refund + .days(1) + .minutes(1))
        try await hear(Self.message("n-3", "REFUND_REVERSED", at: refund + .days(1)), server)
        #expect(try receiver.types().last == "REFUND_REVERSED")
        await server.close()
    }

    @Test func `a trial that becomes paid is a renewal that says so`() async throws {
        let receiver = Receiver()
        let server = try await server(receiver)
        try await hear(Self.trial(), server)
        server.set(Message.end + .minutes(5))
        try await hear(.renewed(), server)
        #expect(try receiver.types() == ["INITIAL_PURCHASE", "RENEWAL"])
        #expect(try receiver.events().map(\.periodType?.known) == [.trial, .normal])
        #expect(try receiver.events().last?.isTrialConversion == true)
        await server.close()
    }

    @Test func `the first payment after a trial is one renewal, also if it failed before`()
        async throws
    {
        let receiver = Receiver()
        let server = try await server(receiver)
        try await hear(Self.trial(), server)
        server.set(Message.end + .minutes(1))
        var failed = Self.trial()
        failed.uuid = "n-2"
        (failed.type, failed.subtype, failed.status) = ("DID_FAIL_TO_RENEW", "GRACE_PERIOD", 4)
        failed.renewal?["isInBillingRetryPeriod"] = true
        failed.renewal?["gracePeriodExpiresDate"] = (Message.end + .days(16)).wire
        failed.sign(at: Message.end + .seconds(30))
        try await hear(failed, server)
        let recovery = Message.end + .days(3)
        server.set(recovery + .minutes(1))
        var recovered = Message.renewed("n-3", signed: recovery)
        recovered.subtype = "BILLING_RECOVERY"
        recovered.transaction?["transactionReason"] = "RENEWAL"
        try await hear(recovered, server)
        #expect(
            try receiver.types() == [
                "INITIAL_PURCHASE", "BILLING_ISSUE", "CANCELLATION BILLING_ERROR", "RENEWAL",
            ]
        )
        #expect(try receiver.events().last?.isTrialConversion == true)
        await server.close()
    }

    /// RevenueCat's `offer_code` is Apple's `offerIdentifier`, of offer codes and others.
    @Test(arguments: [(2, "loyal"), (3, "spring"), (4, "back"), (1, nil)] as [(Int64, String?)])
    func `the identifier of an offer is passed on`(type: Int64, identifier: String?) async throws {
        let receiver = Receiver()
        let server = try await server(receiver)
        var purchase = Message.purchase()
        purchase.transaction?["offerType"] = .integer(type)
        purchase.transaction?["offerDiscountType"] = "PAY_AS_YOU_GO"
        purchase.transaction?["offerIdentifier"] = identifier.map(JSONValue.string)
        try await hear(purchase, server)
        #expect(try receiver.events().first?.offerCode == identifier)
        await server.close()
    }

    private static func trial() -> Message {
        var trial = Message.purchase()
        for (name, value) in ["offerType": 1, "price": 0] as JSONObject {
            trial.transaction?[name] = value
        }
        trial.transaction?["offerDiscountType"] = "FREE_TRIAL"
        return trial
    }

    private static let yearly = "cards.pro.yearly"
    private static let twoProducts = Catalogue(products: [
        "cards.pro.monthly": Product(
            entitlements: ["premium"],
            group: "pro",
            period: Period(months: 1)
        ),
        yearly: Product(entitlements: ["premium"], group: "pro", period: Period(years: 1)),
    ])

    private static func upgrade(at change: Instant) -> Message {
        var upgrade = Self.message("n-2", "DID_CHANGE_RENEWAL_PREF", "UPGRADE", at: change)
        upgrade.transaction?["transactionId"] = "2000000000000002"
        upgrade.transaction?["webOrderLineItemId"] = "900000002"
        upgrade.transaction?["productId"] = .string(yearly)
        upgrade.transaction?["purchaseDate"] = change.wire
        upgrade.transaction?["expiresDate"] = (change + .days(365)).wire
        for name in ["productId", "autoRenewProductId"] { upgrade.renewal?[name] = .string(yearly) }
        upgrade.renewal?["renewalDate"] = (change + .days(365)).wire
        return upgrade
    }

    @Test func `an upgrade from a trial is one renewal`() async throws {
        let receiver = Receiver()
        let server = try await server(receiver, catalogue: Self.twoProducts)
        try await hear(Self.trial(), server)
        let change = Message.start + .days(5)
        server.set(change + .minutes(1))
        try await hear(Self.upgrade(at: change), server)
        #expect(try receiver.types().dropFirst().sorted() == ["PRODUCT_CHANGE", "RENEWAL"])
        let renewal = try #require(try receiver.events().last { $0.type.known == .renewal })
        #expect(renewal.isTrialConversion == true)
        #expect(renewal.productId == Self.yearly)
        await server.close()
    }

    @Test func `a change of product names the new product`() async throws {
        let receiver = Receiver()
        let server = try await server(receiver, catalogue: Self.twoProducts)
        try await hear(.purchase(), server)
        let change = Message.start + .days(5)
        server.set(change + .minutes(1))
        try await hear(Self.upgrade(at: change), server)
        #expect(try receiver.types().dropFirst() == ["PRODUCT_CHANGE", "RENEWAL"])
        let event = try #require(try receiver.events().dropFirst().first)
        #expect(event.productId == "cards.pro.monthly")
        #expect(event.newProductId == Self.yearly)
        await server.close()
    }

    @Test func `a pause on Google Play names its end`() async throws {
        let receiver = Receiver()
        let play = TestPlay()
        let server = try await server(receiver, play)
        func hear(_ type: Int64, _ answer: JSONObject, at instant: Instant) async throws {
            server.set(instant)
            play.set(instant)
            play.answer("token-1", answer)
            let push = try TestPlay.push(
                TestPlay.notice(type),
                messageId: "\(type)",
                at: instant,
                claims: [:]
            )
            #expect(try await server.service.handler(push).status == 200)
            await server.service.deliverDueWebhooks()
        }
        let end = Message.end.rfc3339
        let resumes = Message.end + .days(30)
        let context: JSONObject = ["autoResumeTime": .string(resumes.rfc3339)]
        let pausing = TestPlay.subscription(
            "PAUSED",
            until: end,
            ["pausedStateContext": .object(context)]
        )
        let active = TestPlay.subscription("ACTIVE", until: end)
        try await hear(4, active, at: Message.start + .minutes(1))
        try await hear(10, pausing, at: Message.end + .minutes(5))
        let pause = ["SUBSCRIPTION_PAUSED", "EXPIRATION SUBSCRIPTION_PAUSED"]
        #expect(try receiver.types().dropFirst() == pause[...])
        #expect(try receiver.events().dropFirst().first?.autoResumesAt == resumes)
        await server.close()
    }

    @Test func `an event has the customer, the purchase and the documented members`()
        async throws
    {
        let receiver = Receiver()
        let server = try await server(receiver)
        try await hear(.purchase(), server)
        let event = try #require(try receiver.events().first)
        #expect(event.appId == "cards")
        #expect(event.appUserId == TestServer.anna)
        #expect(event.originalAppUserId == TestServer.anna)
        #expect(event.aliases == [TestServer.anna])
        #expect(event.productId == "cards.pro.monthly")
        #expect(event.entitlementIds == ["premium"])
        #expect(event.periodType?.known == .normal)
        #expect(event.store?.known == .appStore)
        #expect(event.environment?.known == .sandbox)
        #expect(event.isFamilyShare == false)
        #expect(event.purchasedAt == Message.start)
        #expect(event.expiresAt == Message.end)
        #expect(event.originalTransactionId != nil)
        let body = try #require(receiver.requests.first?.body)
        let content = try #require(try JSONDocument(body).root["event"])
        for name in [
            "event_timestamp_ms", "entitlement_id", "presented_offering_id", "transaction_id",
            "currency", "price", "price_in_purchased_currency", "tax_percentage",
            "commission_percentage", "takehome_percentage", "renewal_number", "country_code",
            "offer_code", "subscriber_attributes",
        ] {
            #expect(content[name] != nil, "\(name)")
        }
        await server.close()
    }

    @Test func `a message has RevenueCat's headers, and its own receiver accepts it`()
        async throws
    {
        let receiver = Receiver()
        let server = try await server(receiver)
        try await hear(.purchase(), server)
        let request = try #require(receiver.requests.first)
        let check = WebhookCheck(
            authorization: Self.authorization,
            mac: { HMACSHA256.code(of: $0, under: Array(Self.secret.text.utf8)) },
            isSame: ==
        )
        #expect(check.objection(to: request, at: server.now) == nil)
        var changed = request
        changed.body.append(UInt8(ascii: " "))
        #expect(check.objection(to: changed, at: server.now) == .wrongSignature)
        await server.close()
    }

    @Test func `a message that fails is repeated with those of its event, under the same ids`()
        async throws
    {
        let receiver = Receiver()
        let server = try await server(receiver)
        try await hear(.purchase(), server)
        server.set(Message.end + .minutes(5))
        try await hear(.renewed(), server)
        server.set(Message.end + .days(30) + .minutes(5))
        receiver.script(200, 500)
        try await hear(Self.failure("n-3", grace: nil), server)
        let first = try receiver.events().dropFirst(2).map(\.id)
        #expect(first.count == 2)
        server.set(server.now + .seconds(10))
        await server.service.deliverDueWebhooks()
        let all = try receiver.events().dropFirst(4).map(\.id)
        #expect(Array(all.prefix(2)) == first)
        #expect(all.count == 3)
        #expect(Set(all).count == 3)
        await server.close()
    }

    @Test func `a grant is a non-renewing promotional purchase`() async throws {
        let receiver = Receiver()
        let server = try await server(receiver)
        let grant: JSONValue = ["entitlement": "premium", "days": 7, "why": "a test"]
        let given = try await server.send(
            "POST",
            "/v1/apps/cards/customers/u_42/grants?environment=sandbox",
            body: grant.encoded()
        )
        #expect(given.status == 201)
        await server.service.deliverDueWebhooks()
        let event = try #require(try receiver.events().first)
        #expect(event.type.known == .nonRenewingPurchase)
        #expect(event.store?.known == .promotional)
        #expect(event.periodType?.known == .promotional)
        #expect(event.productId == "rc_promo_premium_custom")
        await server.close()
    }

    @Test func `a grant that RevenueCat reported is sent as promotional again`() async throws {
        let receiver = Receiver()
        let server = try await server(receiver, nil, TestRevenueCat())
        let grant = TestRevenueCat.event(
            "NON_RENEWING_PURCHASE",
            id: "E-1",
            [
                "store": "PROMOTIONAL", "period_type": "PROMOTIONAL",
                "product_id": "rc_promo_premium_monthly", "transaction_id": "promo-1",
            ]
        )
        _ = try await server.hear(grant)
        await server.service.deliverDueWebhooks()
        let event = try #require(try receiver.events().first)
        #expect(event.type.known == .nonRenewingPurchase)
        #expect(event.store?.known == .promotional)
        #expect(event.periodType?.known == .promotional)
        await server.close()
    }

    @Test func `a purchase in a store that only RevenueCat reads keeps its store`() async throws {
        let receiver = Receiver()
        let server = try await server(receiver, nil, TestRevenueCat())
        let bought = TestRevenueCat.event(
            "INITIAL_PURCHASE",
            id: "E-1",
            [
                "store": "STRIPE", "transaction_id": "sub_1", "original_transaction_id": "sub_1",
            ]
        )
        _ = try await server.hear(bought)
        await server.service.deliverDueWebhooks()
        let event = try #require(try receiver.events().first)
        #expect(event.type.known == .initialPurchase)
        #expect(event.store?.known == .stripe)
        await server.close()
    }

    // MARK: Changes without a transition

    private static func purchase(
        _ uuid: String,
        until end: Instant,
        type: String,
        signed: Instant
    ) -> Message {
        var message = Message.purchase(uuid, signed: signed)
        message.type = type
        message.subtype = nil
        message.transaction?["expiresDate"] = end.wire
        message.renewal?["renewalDate"] = end.wire
        return message
    }

    @Test func `a period that the store extends is reported once, with its new end`()
        async throws
    {
        let receiver = Receiver()
        let server = try await server(receiver)
        try await hear(.purchase(), server)
        let (later, end) = (Message.start + .days(2), Message.end + .days(10))
        server.set(later + .minutes(1))
        let extended = Self.purchase("n-2", until: end, type: "RENEWAL_EXTENDED", signed: later)
        try await hear(extended, server)
        #expect(try receiver.types() == ["INITIAL_PURCHASE", "SUBSCRIPTION_EXTENDED"])
        let event = try #require(try receiver.events().last)
        #expect(event.expiresAt == end)
        #expect(event.purchasedAt == Message.start)
        #expect(event.entitlementIds == ["premium"])
        #expect(event.appUserId == TestServer.anna)
        let next = later + .days(1)
        let other = Self.purchase("n-3", until: end, type: "PRICE_INCREASE", signed: next)
        server.set(later + .days(2))
        try await hear(other, server)
        #expect(try receiver.types().count == 2)
        await server.close()
    }

    @Test func `a purchase that moves to another customer is a transfer`() async throws {
        let receiver = Receiver()
        var policy = Policy()
        policy.transfer = .transfer(coolDown: .days(0))
        let server = try await server(receiver, policy: policy)
        var transaction = Message.transaction()
        transaction["appAccountToken"] = nil
        let receipt: JSONObject = ["fetch_token": .string(try server.store.sign(transaction))]
        for customer in ["u_42", "u_43"] {
            let app = SDKApp(server: server, key: "appl_test", customer: customer)
            #expect(try await app.post(receipt).isActive("premium"))
            await server.service.deliverDueWebhooks()
        }
        let transfers = try receiver.events().filter { $0.type.known == .transfer }
        #expect(transfers.map(\.transferredFrom) == [["u_42"]])
        #expect(transfers.map(\.transferredTo) == [["u_43"]])
        #expect(transfers.first?.store?.known == .appStore)
        #expect(transfers.first?.environment?.known == .sandbox)
        #expect(transfers.first?.appUserId == nil)
        await server.close()
    }

    @Test func `a purchase that is over moves by a transfer too`() async throws {
        let receiver = Receiver()
        let server = try await server(receiver, policy: Policy(transfer: .transferIfInactive))
        var transaction = Message.transaction()
        transaction["appAccountToken"] = nil
        let receipt: JSONObject = ["fetch_token": .string(try server.store.sign(transaction))]
        let former = SDKApp(server: server, key: "appl_test", customer: "u_42")
        #expect(try await former.post(receipt).isActive("premium"))
        server.set(Message.end + .days(90))
        await server.service.deliverDueWebhooks()
        let new = SDKApp(server: server, key: "appl_test", customer: "u_43")
        for _ in 0..<2 {
            #expect(try await !new.post(receipt).isActive("premium"))
            await server.service.deliverDueWebhooks()
        }
        let transfers = try receiver.events().filter { $0.type.known == .transfer }
        #expect(transfers.map(\.transferredFrom) == [["u_42"]])
        #expect(transfers.map(\.transferredTo) == [["u_43"]])
        await server.close()
    }

    @Test func `an event has what the app's SDK states about the customer`() async throws {
        let receiver = Receiver()
        let server = try await server(receiver)
        let app = SDKApp(server: server, key: "appl_test")
        let mail: JSONValue = [
            "attributes": ["$email": ["value": "anna@example.com", "updated_at_ms": 5]]
        ]
        let path = "/v1/subscribers/\(TestServer.anna)/attributes"
        #expect(try await app.ask("POST", path, mail).status == 200)
        try await hear(.purchase(), server)
        let body = try #require(receiver.requests.first?.body)
        let content = try #require(try JSONDocument(body).root["event"])
        #expect(content["subscriber_attributes"].map { JSONValue($0) } == mail["attributes"])
        await server.close()
    }

    @Test func `only an amount in dollars, or none, has a price`() async throws {
        let receiver = Receiver()
        let server = try await server(receiver)
        var euros = Message.purchase()
        euros.transaction?["currency"] = "EUR"
        euros.transaction?["storefront"] = "NLD"
        try await hear(euros, server)
        server.set(Message.end + .minutes(5))
        var free = Message.renewed()
        free.transaction?["currency"] = "EUR"
        free.transaction?["price"] = 0
        try await hear(free, server)
        let contents = try receiver.requests.map {
            JSONValue(try JSONDocument($0.body).root)["event"] ?? .null
        }
        #expect(contents.map { $0["price"]?.double } == [nil, 0])
        #expect(contents.map { $0["price_in_purchased_currency"]?.double } == [9.99, 0])
        #expect(contents.map { $0["currency"] } == ["EUR", "EUR"])
        #expect(contents.map { $0["country_code"] } == ["NL", "US"])
        await server.close()
    }

    // MARK: Adding one

    @Test func `a receiver in RevenueCat's form is added by a request, and tested`() async throws {
        let receiver = Receiver()
        let server = try TestServer(
            webhooks: { clock in
                WebhookSetup(
                    sending: WebhookSending(clock: { clock.now }) { _, _, request in
                        receiver.receive(request)
                    }
                )
            }
        )
        let wish: JSONValue = [
            "url": "https://example.com/rc", "format": "revenuecat", "authorization": "Bearer x",
        ]
        let path = "/v1/apps/cards/webhooks"
        let added = try await server.send("POST", path, body: wish.encoded())
        #expect(added.status == 201)
        let root = try JSONDocument(added.body).root
        #expect(root["format"]?.string == "revenuecat")
        #expect(root["authorization"] == nil)
        let id = try #require(root["id"]?.string)
        _ = try await server.send("POST", "\(path)/\(id)/test")
        #expect(try receiver.types() == ["TEST"])
        _ = try await server.post(.purchase())
        await server.service.deliverDueWebhooks()
        #expect(try receiver.types() == ["TEST", "INITIAL_PURCHASE"])
        #expect(receiver.requests.allSatisfy { $0.headers["Authorization"] == "Bearer x" })
        await server.close()
    }

    @Test(
        arguments: [
            ["url": "https://example.com/rc", "format": "stripe"],
            ["url": "https://example.com/rc", "authorization": "a\nb"],
            ["url": "https://example.com/rc", "authorization": ""],
        ] as [JSONValue]
    )
    func `an unknown format and a malformed header are rejected`(wish: JSONValue) async throws {
        let server = try TestServer()
        let path = "/v1/apps/cards/webhooks"
        let added = try await server.send("POST", path, body: wish.encoded())
        #expect(added.status == 400)
        await server.close()
    }
}
