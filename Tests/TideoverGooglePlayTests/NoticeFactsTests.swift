import Testing
import TideoverCore
import TideoverGooglePlay
import TideoverJSON

/// Tests the store queries that notifications prompt, and the facts presumed without a query.
struct NoticeFactsTests {
    private func read(
        _ member: String,
        _ content: JSONObject,
        chains: PlayChains = PlayChains()
    ) throws -> PlayNotification {
        try FakeStore.reader.read(FakeStore.notification(member, content), chains: chains)
    }

    private func assertions(_ notification: PlayNotification) -> [Assertion] {
        FakeStore.facts(notification.presumed, at: FakeStore.start).map(\.assertion)
    }

    /// Every number up to 30, documented by Google or not.
    static let kinds: [(Int64, PlayNotice.Kind?)] = [
        (0, nil), (1, .recovered), (2, .renewed), (3, .cancelled), (4, .purchased), (5, .onHold),
        (6, .inGrace), (7, .restarted), (8, .priceChanged), (9, .deferred), (10, .paused),
        (11, .pauseScheduled), (12, .revoked), (13, .expired), (14, nil), (15, nil), (16, nil),
        (17, .itemsChanged), (18, .cancellationScheduled), (19, .priceChanged),
        (20, .pendingCancelled), (21, nil), (22, .priceChanged), (23, nil), (30, nil),
    ]

    @Test(arguments: kinds)
    func `each type has its kind, and an unknown type has none`(
        number: Int64,
        kind: PlayNotice.Kind?
    ) throws {
        let notification = try read(
            "subscriptionNotification",
            [
                "notificationType": .integer(number), "purchaseToken": "token",
                "subscriptionId": "play",
            ]
        )
        let token = PlayToken("#token")
        let facts = FakeStore.facts(notification.presumed, at: FakeStore.end)
        guard let kind else {
            let word = Unrecognised(
                field: "subscriptionNotification.notificationType",
                value: "\(number)"
            )
            #expect(facts.map(\.assertion) == [.unrecognised(word)])
            #expect(notification.questions == [.subscription(token: "token")])
            return
        }
        let notice = PlayNotice(token: token, kind: kind, productId: "play")
        let refund = PlayVoidedOrder(token: token, date: FakeStore.start)
        let more: [Assertion] = kind == .revoked ? [.playVoidedOrder(refund)] : []
        #expect(facts.map(\.assertion) == [.playNotice(notice)] + more)
        #expect(facts.allSatisfy { $0.rank == .inferred && $0.source == .playNotification })
        #expect(facts.allSatisfy { $0.assertedAt == FakeStore.start })
        #expect(facts.allSatisfy { $0.lineage == FakeStore.lineage })
        #expect(notification.questions == [.subscription(token: "token")])
    }

    @Test(
        arguments: [(1, .oneTimePurchased), (2, .oneTimeCancelled), (3, nil)]
            as [(
                Int64, PlayNotice.Kind?
            )]
    )
    func `each type of one-time purchase has its kind`(
        number: Int64,
        kind: PlayNotice.Kind?
    ) throws {
        let notification = try read(
            "oneTimeProductNotification",
            ["notificationType": .integer(number), "purchaseToken": "token", "sku": "lifetime"]
        )
        #expect(notification.questions == [.product(token: "token")])
        let notice = kind.map {
            PlayNotice(token: PlayToken("#token"), kind: $0, productId: "lifetime")
        }
        let known = assertions(notification).compactMap { assertion in
            if case .playNotice(let notice) = assertion { notice } else { nil }
        }
        #expect(known == [notice].compactMap(\.self))
    }

    @Test func `a voided purchase is looked up by its product type`() throws {
        func voided(_ product: Int64, _ refund: Int64) throws -> PlayNotification {
            try read(
                "voidedPurchaseNotification",
                [
                    "purchaseToken": "token", "orderId": "GPA.1",
                    "productType": .integer(product), "refundType": .integer(refund),
                ]
            )
        }
        #expect(try voided(1, 1).questions == [.subscription(token: "token")])
        #expect(try voided(2, 1).questions == [.product(token: "token")])
        #expect(
            try voided(3, 1).questions == [.subscription(token: "token"), .product(token: "token")]
        )
        var order = PlayVoidedOrder(
            token: PlayToken("#token"),
            orderId: "GPA.1",
            date: FakeStore.start
        )
        #expect(assertions(try voided(2, 1)) == [.playVoidedOrder(order)])
        order.isPartial = true
        #expect(assertions(try voided(2, 2)) == [.playVoidedOrder(order)])
        let word = Unrecognised(field: "voidedPurchaseNotification.refundType", value: "9")
        #expect(assertions(try voided(2, 9)) == [.unrecognised(word)])
    }

    @Test func `tests, reviews and unknown kinds cause no lookup and no facts`() throws {
        let others: [(String, JSONObject)] = [
            ("testNotification", ["version": "1.0"]),
            ("pendingRefundReviewNotification", ["orderId": "GPA.1", "refundReason": 7]),
            ("barterNotification", ["purchaseToken": "token"]),
        ]
        for (member, content) in others {
            let notification = try read(member, content)
            #expect(notification.questions.isEmpty, "\(member)")
            #expect(assertions(notification).isEmpty, "\(member)")
            #expect(notification.isTest == (member == "testNotification"))
        }
    }

    @Test func `a notification for another app, or without a date or subject, is refused`() throws {
        let other = try FakeStore.notification("testNotification", [:], package: "x.y")
        #expect(throws: PlayRefusal.wrongPackage(expected: "com.example.cards", found: "x.y")) {
            try FakeStore.reader.read(other)
        }
        #expect(throws: PlayRefusal.missingMember("notification.purchaseToken")) {
            try read("subscriptionNotification", ["notificationType": 4])
        }
        let undated = #"{"packageName":"com.example.cards","testNotification":{}}"#
        let notification = try DeveloperNotification(
            payload: JSONDocument(Array(undated.utf8)).root
        )
        #expect(throws: PlayRefusal.missingMember("notification.eventTimeMillis")) {
            try FakeStore.reader.read(notification)
        }
    }

    @Test func `all deliveries of a message have one key, and two notifications never do`() throws {
        let bought: JSONObject = ["notificationType": 4, "purchaseToken": "token"]
        let one = try read("subscriptionNotification", bought)
        #expect(one.dedupeKey(messageId: "5") == "pubsub:5")
        let other = try read(
            "subscriptionNotification",
            ["notificationType": 4, "purchaseToken": "other"]
        )
        #expect(one.dedupeKey(messageId: nil) != other.dedupeKey(messageId: nil))
        #expect(!one.dedupeKey(messageId: nil).isEmpty)
    }

    @Test func `an app without production records a sandbox or simulated purchase`() throws {
        let bought: JSONObject = ["notificationType": 4, "purchaseToken": "token"]
        let notification = try FakeStore.notification("subscriptionNotification", bought)
        let sandbox = FakeStore.reader(in: [.sandbox])
        #expect(try sandbox.read(notification).presumed.environment == .sandbox)
        let simulated = FakeStore.reader(in: [.simulated], isSimulated: true)
        #expect(try simulated.read(notification).presumed.environment == .simulated)
        #expect(try FakeStore.reader.read(notification).presumed.environment == .production)
    }

    @Test func `a notification is recorded under the lineage of its token`() throws {
        let lineage = Lineage(store: .googlePlay, environment: .sandbox, id: "#oldest")
        let notification = try read(
            "subscriptionNotification",
            ["notificationType": 2, "purchaseToken": "token"],
            chains: PlayChains([PlayToken("#token"): lineage])
        )
        #expect(notification.presumed.lineages == [lineage])
        #expect(notification.presumed.environment == .sandbox)
    }
}
