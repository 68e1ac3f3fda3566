import Testing
import TideoverCore
import TideoverGooglePlay
import TideoverJSON

struct SubscriptionFactsTests {
    private func subscription(
        _ changes: JSONObject = [:],
        item: JSONObject = [:]
    ) throws -> PlaySubscription {
        let reading = try FakeStore.read(FakeStore.subscription(changes, item: item))
        let facts = FakeStore.facts(reading, at: FakeStore.start + .days(2))
        guard case .playSubscription(let read)? = facts.first?.assertion else {
            throw PlayRefusal.missingMember("fact")
        }
        return read
    }

    private func item(_ changes: JSONObject) throws -> PlayItem {
        try #require(try subscription(item: changes).items.first)
    }

    @Test func `a read contains every field of the answer`() throws {
        let asked = FakeStore.start + .days(1)
        let reading = try FakeStore.read(FakeStore.subscription())
        let learned = FakeStore.start + .days(2)
        let facts = FakeStore.facts(reading, at: learned)
        let expected = PlaySubscription(
            token: PlayToken("#token"),
            askedAt: asked,
            state: .active,
            items: [
                PlayItem(
                    productId: "play",
                    basePlan: "monthly",
                    expiresAt: FakeStore.end,
                    plan: .autoRenewing(isOn: true),
                    phase: .base,
                    orderId: "GPA.1",
                    price: Money(milliunits: 9990, currency: "USD")
                )
            ],
            startedAt: FakeStore.start,
            isAcknowledged: true,
            region: "DE"
        )
        #expect(
            facts == [
                Fact(
                    lineage: FakeStore.lineage,
                    assertion: .playSubscription(expected),
                    effectiveAt: asked,
                    assertedAt: asked,
                    learnedAt: learned,
                    source: .playAPI,
                    evidence: EvidenceID(hex: learned.rfc3339)
                )
            ]
        )
    }

    @Test(
        arguments: [
            ("PENDING", .pending), ("ACTIVE", .active), ("PAUSED", .paused),
            ("IN_GRACE_PERIOD", .inGrace), ("ON_HOLD", .onHold), ("CANCELED", .cancelled),
            ("EXPIRED", .expired), ("PENDING_PURCHASE_CANCELED", .pendingCancelled),
            ("UNSPECIFIED", .unrecognised("SUBSCRIPTION_STATE_UNSPECIFIED")),
            ("ASLEEP", .unrecognised("SUBSCRIPTION_STATE_ASLEEP")),
        ] as [(String, PlaySubscription.State)]
    )
    func `every state is known`(word: String, expected: PlaySubscription.State) throws {
        let changes: JSONObject = ["subscriptionState": .string("SUBSCRIPTION_STATE_\(word)")]
        #expect(try subscription(changes).state == expected)
        let reading = try FakeStore.read(FakeStore.subscription(changes))
        let isKnown = expected.word != nil
        #expect(reading.unrecognised.isEmpty == isKnown)
    }

    @Test func `an answer without a state is refused`() {
        #expect(throws: PlayRefusal.missingMember("subscriptionState")) {
            try FakeStore.read(FakeStore.subscription(["subscriptionState": nil]))
        }
    }

    @Test(
        arguments: [
            (["autoRenewingPlan": ["autoRenewEnabled": true]], .autoRenewing(isOn: true)),
            // The store omits false values.
            (["autoRenewingPlan": [:]], .autoRenewing(isOn: false)),
            (["autoRenewingPlan": nil], .unstated),
            (["autoRenewingPlan": nil, "prepaidPlan": [:]], .prepaid(extendableFrom: nil)),
            (
                [
                    "autoRenewingPlan": nil,
                    "prepaidPlan": ["allowExtendAfterTime": "2026-05-20T00:00:00Z"],
                ],
                .prepaid(extendableFrom: FakeStore.at("2026-05-20T00:00:00Z"))
            ),
        ] as [(JSONObject, PlayItem.Plan)]
    )
    func `each kind of plan is distinguished`(changes: JSONObject, plan: PlayItem.Plan) throws {
        #expect(try item(changes).plan == plan)
    }

    @Test func `a product of two plans is refused`() {
        let members = ["autoRenewingPlan", "prepaidPlan"]
        #expect(throws: PlayRefusal.ambiguousContent(members: members)) {
            try item(["prepaidPlan": [:]])
        }
    }

    @Test func `instalments contain the payments left and whether they end`() throws {
        let committed = try item([
            "autoRenewingPlan": [
                "autoRenewEnabled": true,
                "installmentDetails": [
                    "initialCommittedPaymentsCount": 12, "remainingCommittedPaymentsCount": 7,
                    "pendingCancellation": [:],
                ],
            ]
        ])
        #expect(
            committed.installments
                == PlayItem.Installments(remainingPayments: 7, isCancellationPending: true)
        )
    }

    @Test(
        arguments: [
            (["basePrice": [:]], .base), (["freeTrial": [:]], .freeTrial),
            (["introductoryPrice": [:]], .introductory),
            (["prorationPeriod": ["originalOfferPhaseType": "FREE_TRIAL"]], .proration),
            (["loyalty": [:]], .unrecognised("loyalty")), ([:], nil),
        ] as [(JSONObject, PlayItem.Phase?)]
    )
    func `each phase of an offer is distinguished`(
        phase: JSONObject,
        expected: PlayItem.Phase?
    ) throws {
        #expect(try item(["offerPhase": .object(phase)]).phase == expected)
    }

    @Test(
        arguments: [
            (["oneTimeCode": [:]], .some(.init())),
            (["vanityCode": ["promotionCode": "SPRING"]], .some(.init(text: "SPRING"))),
            (["vanityCode": ["promotionCode": "a\0b"]], .some(.init())),
            (["raffle": [:]], nil), ([:], nil),
        ] as [(JSONObject, PlayItem.PromotionCode?)]
    )
    func `a promotion code of the signup is read`(
        promotion: JSONObject,
        expected: PlayItem.PromotionCode?
    ) throws {
        let changes: JSONObject = ["signupPromotion": .object(promotion)]
        #expect(try item(changes).promotionCode == expected)
        let words = try FakeStore.read(FakeStore.subscription(item: changes)).unrecognised
        let isUnknown = promotion["raffle"] != nil
        #expect(words == (isUnknown ? [.init(field: "signupPromotion", value: "raffle")] : []))
    }

    @Test(
        arguments: [
            (["userInitiatedCancellation": ["cancelTime": "2026-05-10T00:00:00Z"]], .customer),
            (["systemInitiatedCancellation": [:]], .system),
            (["developerInitiatedCancellation": [:]], .developer),
            (["replacementCancellation": [:]], .replacement),
            (["regulatoryCancellation": [:]], .unrecognised("regulatoryCancellation")),
        ] as [(JSONObject, PlaySubscription.Cancellation)]
    )
    func `a cancellation names who cancelled`(
        context: JSONObject,
        expected: PlaySubscription.Cancellation
    ) throws {
        let read = try subscription([
            "subscriptionState": "SUBSCRIPTION_STATE_CANCELED",
            "canceledStateContext": .object(context),
        ])
        #expect(read.cancellation == expected)
        let day = FakeStore.at("2026-05-10T00:00:00Z")
        #expect(read.cancelledAt == (expected == .customer ? day : nil))
    }

    @Test(
        arguments: [
            ("PRICE_INCREASE", "OUTSTANDING", .awaitsConsent),
            ("OPT_OUT_PRICE_INCREASE", "OUTSTANDING", .announced),
            ("PRICE_DECREASE", "OUTSTANDING", .announced),
            ("PRICE_INCREASE", "CONFIRMED", .confirmed), ("PRICE_INCREASE", "APPLIED", .applied),
            ("PRICE_INCREASE", "CANCELED", .cancelled),
            ("PRICE_INCREASE", "MOOT", .unrecognised("MOOT")),
            ("BARTER", "OUTSTANDING", .unrecognised("BARTER")),
        ] as [(String, String, PlayItem.PriceChange.State)]
    )
    func `only an increase that needs consent waits for the customer`(
        mode: String,
        state: String,
        expected: PlayItem.PriceChange.State
    ) throws {
        let change: JSONValue = [
            "newPrice": ["currencyCode": "JPY", "units": "1200"],
            "priceChangeMode": .string(mode), "priceChangeState": .string(state),
            "expectedNewPriceChargeTime": "2026-07-01T00:00:00Z",
        ]
        let plan: JSONValue = ["autoRenewEnabled": true, "priceChangeDetails": change]
        #expect(
            try item(["autoRenewingPlan": plan]).priceChange
                == PlayItem.PriceChange(
                    state: expected,
                    price: Money(milliunits: 1_200_000, currency: "JPY"),
                    chargedFrom: FakeStore.at("2026-07-01T00:00:00Z")
                )
        )
    }

    @Test(
        arguments: [
            ("PENDING", .awaitsConsent), ("CONFIRMED", .confirmed), ("COMPLETED", .applied),
            ("MOOT", .unrecognised("MOOT")),
        ] as [(String, PlayItem.PriceChange.State)]
    )
    func `a price step-up waits for consent until its deadline`(
        state: String,
        expected: PlayItem.PriceChange.State
    ) throws {
        let consent: JSONValue = [
            "state": .string(state), "consentDeadlineTime": "2026-06-30T00:00:00Z",
        ]
        let plan: JSONValue = ["autoRenewEnabled": true, "priceStepUpConsentDetails": consent]
        let change = try item(["autoRenewingPlan": plan]).priceChange
        #expect(change?.state == expected)
        #expect(change?.consentBy == FakeStore.at("2026-06-30T00:00:00Z"))
    }

    @Test func `a pause, a deferred replacement and a removal are read`() throws {
        let paused = try subscription([
            "subscriptionState": "SUBSCRIPTION_STATE_PAUSED",
            "pausedStateContext": ["autoResumeTime": "2026-07-01T00:00:00Z"],
        ])
        #expect(paused.resumesAt == FakeStore.at("2026-07-01T00:00:00Z"))
        #expect(
            try item(["deferredItemReplacement": ["productId": "basic"]]).replacement == "basic"
        )
        #expect(try item(["deferredItemRemoval": [:]]).isRemovedAtExpiry)
        #expect(try item(["deferredItemRemoval": nil]).isRemovedAtExpiry == false)
    }

    @Test func `the older order field counts for one product without the newer field`() throws {
        let changes: JSONObject = ["latestOrderId": "GPA.7"]
        let older = try subscription(changes, item: ["latestSuccessfulOrderId": nil])
        #expect(older.items.first?.orderId == "GPA.7")
        #expect(try subscription(changes).items.first?.orderId == "GPA.1")
    }

    /// Google: "success, pending, or declined order".
    @Test(arguments: [
        ("ACTIVE", "GPA.7"), ("PAUSED", "GPA.7"), ("IN_GRACE_PERIOD", nil), ("ON_HOLD", nil),
        ("CANCELED", nil), ("EXPIRED", nil),
    ])
    func `the older order field is ignored where its order may be declined`(
        state: String,
        order: String?
    ) throws {
        let read = try subscription(
            [
                "latestOrderId": "GPA.7",
                "subscriptionState": .string("SUBSCRIPTION_STATE_\(state)"),
            ],
            item: ["latestSuccessfulOrderId": nil]
        )
        #expect(read.items.first?.orderId == order)
    }

    // MARK: Owner

    @Test func `the account id that the app set is the owner`() throws {
        let named = try subscription([
            "externalAccountIdentifiers": [
                "externalAccountId": "google", "obfuscatedExternalAccountId": "u_42",
                "obfuscatedExternalProfileId": "profile",
            ]
        ])
        #expect(named.accountId == CustomerID("u_42"))
        #expect(try subscription().accountId == nil)
    }

    @Test(arguments: ["", "a\0b", String(repeating: "a", count: 257)])
    func `an account id that nothing can be stored under is none`(id: String) throws {
        let named = try subscription([
            "externalAccountIdentifiers": ["obfuscatedExternalAccountId": .string(id)]
        ])
        #expect(named.accountId == nil)
    }

    @Test(arguments: ["null", "(null)", "<null>", "nil", "undefined", "NaN", "[object Object]"])
    func `the text of a missing value is no account id`(id: String) throws {
        let named = try subscription([
            "externalAccountIdentifiers": ["obfuscatedExternalAccountId": .string(id)]
        ])
        #expect(named.accountId == nil)
    }

    @Test func `a purchase outside of the app keeps the previous owner`() throws {
        let returned = try subscription([
            "outOfAppPurchaseContext": [
                "expiredPurchaseToken": "old",
                "expiredExternalAccountIdentifiers": ["obfuscatedExternalAccountId": "u_42"],
            ]
        ])
        #expect(returned.accountId == CustomerID("u_42"))
        #expect(returned.replaces == nil)
        #expect(returned.follows == PlayToken("#old"))
        #expect(try subscription().follows == nil)
    }

    // MARK: Environments

    @Test func `a tester's purchase is sandbox, and a simulated store's is simulated`() throws {
        let test = FakeStore.subscription(["testPurchase": [:]])
        #expect(try FakeStore.read(test).environment == .sandbox)
        #expect(try FakeStore.read(FakeStore.subscription()).environment == .production)
        let simulated = FakeStore.reader(in: [.simulated], isSimulated: true)
        for answer in [test, FakeStore.subscription()] {
            #expect(try FakeStore.read(answer, by: simulated).environment == .simulated)
        }
        let expected = PlayRefusal.wrongEnvironment(accepted: [.production], found: .sandbox)
        #expect(throws: expected) {
            try FakeStore.read(test, by: FakeStore.reader(in: [.production]))
        }
    }

    @Test func `a token joins the lineage of the token it replaces`() throws {
        let answer = FakeStore.subscription(["linkedPurchaseToken": "old"])
        let unknown = try FakeStore.read(answer)
        #expect(unknown.lineages.map(\.id) == ["#old"])
        let root = Lineage(store: .googlePlay, environment: .production, id: "#oldest")
        let chains = PlayChains([PlayToken("#old"): root])
        #expect(try FakeStore.read(answer, chains: chains).lineages == [root])
        let facts = FakeStore.facts(try FakeStore.read(answer), at: FakeStore.start)
        guard case .playSubscription(let read)? = facts.first?.assertion else { return }
        #expect(read.replaces == PlayToken("#old"))
        #expect(facts.count == 1)
    }

    @Test(arguments: [
        ("ACTIVE", true), ("EXPIRED", true), ("PENDING", false),
        ("PENDING_PURCHASE_CANCELED", false), ("ASLEEP", false),
    ])
    func `a replaced token in another lineage is ended once the new one is paid`(
        state: String,
        isTold: Bool
    ) throws {
        let own = Lineage(store: .googlePlay, environment: .production, id: "#new")
        let other = Lineage(store: .googlePlay, environment: .production, id: "#oldest")
        let chains = PlayChains([PlayToken("#new"): own, PlayToken("#old"): other])
        let answer = FakeStore.subscription([
            "linkedPurchaseToken": "old",
            "subscriptionState": .string("SUBSCRIPTION_STATE_\(state)"),
        ])
        let reading = try FakeStore.read(answer, of: "new", chains: chains)
        let told = FakeStore.facts(reading, at: FakeStore.end).filter { $0.lineage == other }
        let replacement = PlayReplacement(
            token: PlayToken("#old"),
            by: PlayToken("#new"),
            from: FakeStore.start
        )
        #expect(told.map(\.assertion) == (isTold ? [.playReplacement(replacement)] : []))
    }

    // MARK: Stored form

    @Test func `stored evidence is read again to the same facts`() async throws {
        let body = JSONValue.object(FakeStore.subscription()).encoded()
        let fake = FakePlay(.json(String(decoding: body, as: UTF8.self)))
        let answer = try await fake.api().subscription("token")
        let read = PlayRead(.subscription, of: "token", in: "com.example.cards", answer)
        let again = try PlayRead(read.bytes)
        #expect(again == read)
        let (first, second) = (
            try FakeStore.reader.read(read), try FakeStore.reader.read(again)
        )
        #expect(
            FakeStore.facts(first, at: FakePlay.now) == FakeStore.facts(second, at: FakePlay.now)
        )
    }

    @Test func `stored evidence of another app is refused`() throws {
        let text =
            #"{"googlePlay":"subscription","packageName":"x.y","purchaseToken":"t","#
            + #""askedAt":"2026-05-01T00:00:00Z","answeredAt":"2026-05-01T00:00:00Z","answer":{}}"#
        let read = try PlayRead(Array(text.utf8))
        #expect(throws: PlayRefusal.wrongPackage(expected: "com.example.cards", found: "x.y")) {
            try FakeStore.reader.read(read)
        }
    }
}

extension PlaySubscription.State {
    /// Nil for an unknown state.
    fileprivate var word: Bool? {
        if case .unrecognised = self { nil } else { true }
    }
}
