import Testing
import TideoverAppStore
import TideoverCore
import TideoverJSON

@Suite struct AppStoreFactsTests {
    // MARK: Every notification

    struct Announcement: Sendable, CustomTestStringConvertible {
        let type: String
        let subtype: String?
        let kinds: [String]
        var notice: Condition.Notice?
        var lapse: Outlook.Lapse?
        var transaction: JSONObject? = FakeStore.transaction()
        var renewalInfo: JSONObject? = FakeStore.renewalInfo()
        var outer: JSONObject = [:]

        var testDescription: String { type + (subtype.map { "/" + $0 } ?? "") }

        var payload: JSONObject {
            FakeStore.notification(
                type,
                subtype,
                transaction: transaction,
                renewalInfo: renewalInfo,
                outer: outer
            )
        }
    }

    static let subscription = ["term", "outlook", "condition"]

    /// Types whose facts come only from the signed parts inside, with their subtypes.
    static let plain: [Announcement] = [
        ("SUBSCRIBED", ["INITIAL_BUY", "RESUBSCRIBE"]), ("DID_RENEW", [nil, "BILLING_RECOVERY"]),
        ("DID_CHANGE_RENEWAL_PREF", ["UPGRADE", "DOWNGRADE", nil]),
        ("DID_CHANGE_RENEWAL_STATUS", ["AUTO_RENEW_ENABLED", "AUTO_RENEW_DISABLED"]),
        ("OFFER_REDEEMED", [nil, "UPGRADE", "DOWNGRADE"]),
        ("PRICE_INCREASE", ["PENDING", "ACCEPTED"]), ("REFUND_DECLINED", [nil]),
        ("CONSUMPTION_REQUEST", [nil]), ("RENEWAL_EXTENDED", [nil]),
        ("RENEWAL_EXTENSION", ["FAILURE"]), ("METADATA_UPDATE", [nil]), ("MIGRATION", [nil]),
        ("PRICE_CHANGE", [nil]),
        // The type announces a revocation, but the transaction has none.
        ("REFUND", [nil]), ("REVOKE", [nil]),
    ].flatMap { type, subtypes in
        subtypes.map { Announcement(type: type, subtype: $0, kinds: subscription) }
    }

    static let failures: [Announcement] = [
        ("DID_FAIL_TO_RENEW", "GRACE_PERIOD", .failedToRenewInGrace, nil),
        ("DID_FAIL_TO_RENEW", nil, .failedToRenew, nil),
        ("GRACE_PERIOD_EXPIRED", nil, .graceExpired, nil),
        ("EXPIRED", "VOLUNTARY", .expired, .cancelled),
        ("EXPIRED", "BILLING_RETRY", .expired, .billingError),
        ("EXPIRED", "PRICE_INCREASE", .expired, .priceIncrease),
        ("EXPIRED", "PRODUCT_NOT_FOR_SALE", .expired, .productUnavailable),
        ("EXPIRED", nil, .expired, nil),
    ].map { Announcement(type: $0, subtype: $1, kinds: subscription, notice: $2, lapse: $3) }

    static let takenBack = FakeStore.transaction(["revocationDate": .integer(FakeStore.start + 500)]
    )

    static let others: [Announcement] = [
        Announcement(
            type: "REFUND",
            subtype: nil,
            kinds: ["term", "revocation", "outlook", "condition"],
            transaction: takenBack
        ),
        Announcement(
            type: "REVOKE",
            subtype: nil,
            kinds: ["term", "revocation", "outlook", "condition"],
            transaction: takenBack
        ),
        Announcement(
            type: "REFUND_REVERSED",
            subtype: nil,
            kinds: ["term", "reversal", "outlook", "condition"]
        ),
        Announcement(
            type: "ONE_TIME_CHARGE",
            subtype: nil,
            kinds: ["term", "condition"],
            transaction: FakeStore.transaction(["type": "Non-Consumable", "expiresDate": nil]),
            renewalInfo: nil
        ),
        Announcement(type: "TEST", subtype: nil, kinds: [], transaction: nil, renewalInfo: nil),
        Announcement(
            type: "RENEWAL_EXTENSION",
            subtype: "SUMMARY",
            kinds: [],
            outer: [
                "data": nil,
                "summary": [
                    "bundleId": .string(FakeStore.bundleId), "environment": "Production",
                    "appAppleId": .integer(FakeStore.appAppleId), "succeededCount": 5,
                    "failedCount": 2,
                ],
            ]
        ),
        Announcement(
            type: "RESCIND_CONSENT",
            subtype: nil,
            kinds: [],
            outer: [
                "data": nil,
                "appData": [
                    "bundleId": .string(FakeStore.bundleId), "environment": "Production",
                    "appAppleId": .integer(FakeStore.appAppleId),
                ],
            ]
        ),
    ]

    static let tokens: [Announcement] = ["UNREPORTED", "CREATED", "ACTIVE_TOKEN_REMINDER"].map {
        Announcement(
            type: "EXTERNAL_PURCHASE_TOKEN",
            subtype: $0,
            kinds: [],
            outer: ["data": nil, "externalPurchaseToken": token("b2158121")]
        )
    }

    static func token(_ id: String) -> JSONValue {
        [
            "externalPurchaseId": .string(id), "tokenCreationDate": .integer(FakeStore.start),
            "bundleId": .string(FakeStore.bundleId), "appAppleId": .integer(FakeStore.appAppleId),
        ]
    }

    @Test(arguments: plain + failures + others + tokens)
    func `a notification produces facts from its signed parts`(announcement: Announcement) throws {
        let reading = try FakeStore.read(announcement.payload)
        #expect(reading.unrecognised.isEmpty)
        let facts = try FakeStore.facts(announcement.payload)
        #expect(facts.kinds == announcement.kinds)
        if announcement.kinds.contains("condition") {
            let end = Instant(millisecondsSince1970: FakeStore.end)
            let expected = Condition(
                status: .active,
                notice: announcement.notice,
                lapse: announcement.lapse,
                renewalDate: announcement.renewalInfo == nil ? nil : end
            )
            #expect(facts.conditions == [expected])
        }
    }

    @Test func `the table above contains every type of Apple's list`() {
        let all = Self.plain + Self.failures + Self.others + Self.tokens
        let missing = Set(AppStoreNotification.NotificationType.allCases.map(\.rawValue))
            .subtracting(all.map(\.type))
        #expect(missing.isEmpty)
        let subtypes = Set(AppStoreNotification.Subtype.allCases.map(\.rawValue))
            .subtracting(all.compactMap(\.subtype))
        #expect(subtypes.isEmpty)
    }

    // MARK: Dates and stamps

    @Test func `facts have the dates of the parts that contain them`() throws {
        let facts = try FakeStore.facts(
            FakeStore.notification("DID_RENEW", transaction: Self.takenBack)
        )
        let start = FakeStore.start
        #expect(facts.kinds == ["term", "revocation", "outlook", "condition"])
        #expect(
            facts.map(\.assertedAt.millisecondsSince1970)
                == [start + 1000, start + 1000, start + 2000, start + 2000]
        )
        #expect(
            facts.map(\.effectiveAt.millisecondsSince1970)
                == [start, start + 500, start + 2000, start + 2000]
        )
        for fact in facts {
            #expect(fact.envelopeSignedAt.millisecondsSince1970 == start + 3000)
            #expect(fact.learnedAt.millisecondsSince1970 == start + 9000)
            #expect(fact.rank == .store)
            #expect(fact.source == .appStoreNotification)
            #expect(fact.evidence == EvidenceID(hex: "00"))
            #expect(
                fact.lineage
                    == Lineage(
                        store: .appStore,
                        environment: .production,
                        id: "2000000000000001"
                    )
            )
        }
    }

    @Test func `a bare transaction is its own envelope`() throws {
        let facts = try FakeStore.facts(FakeStore.transaction())
        #expect(facts.kinds == ["term"])
        #expect(facts.map(\.envelopeSignedAt) == facts.map(\.assertedAt))
    }

    @Test func `a condition without a renewal info has the outer date`() throws {
        let payload = FakeStore.notification("EXPIRED", renewalInfo: nil, data: ["status": 2])
        let facts = try FakeStore.facts(payload)
        #expect(facts.kinds == ["term", "condition"])
        #expect(facts.conditions == [Condition(status: .expired, notice: .expired)])
        #expect(facts.last?.assertedAt.millisecondsSince1970 == FakeStore.start + 3000)
    }

    @Test func `a reversal is dated by the envelope, not by the older transaction`() throws {
        let old = FakeStore.transaction(["signedDate": .integer(FakeStore.start + 10)])
        let facts = try FakeStore.facts(FakeStore.notification("REFUND_REVERSED", transaction: old))
        let reversal = try #require(facts.first { $0.assertion.word == "reversal" })
        #expect(reversal.assertedAt.millisecondsSince1970 == FakeStore.start + 3000)
        #expect(
            reversal.assertion == .reversal(Reversal(term: TermKey("w:3000000000000002")))
        )
    }

    // MARK: Terms

    @Test func `a term contains every field of the transaction`() throws {
        let facts = try FakeStore.facts(
            FakeStore.transaction([
                "offerType": 1, "offerDiscountType": "FREE_TRIAL", "offerIdentifier": "spring",
                "offerPeriod": "P3D",
            ])
        )
        let expected = Term(
            transactionId: "2000000000000002",
            webOrderLineItemId: "3000000000000002",
            productId: "cards.pro.monthly",
            plan: .autoRenewable,
            start: Instant(millisecondsSince1970: FakeStore.start),
            end: Instant(millisecondsSince1970: FakeStore.end),
            offer: Offer(
                kind: .introductory,
                discount: .freeTrial,
                identifier: "spring",
                period: Period(days: 3)
            ),
            price: Money(milliunits: 9990, currency: "USD"),
            origin: .renewal,
            group: "20000001",
            storefront: "USA",
            accountToken: CustomerID("7e3fb20b-4cdb-47cc-936d-99d65f608138")
        )
        #expect(facts.terms == [expected])
    }

    @Test func `a payment of a commitment has its number and the next payment`() throws {
        let price = Money(milliunits: 119_880, currency: "USD")
        let transaction = FakeStore.transaction([
            "billingPlanType": "MONTHLY",
            "commitmentInfo": [
                "billingPeriodNumber": 2, "totalBillingPeriods": 12,
                "commitmentExpiresDate": .integer(FakeStore.end * 2), "commitmentPrice": 119_880,
            ],
        ])
        let renewalInfo = FakeStore.renewalInfo([
            "renewalBillingPlanType": "MONTHLY",
            "commitmentInfo": [
                "commitmentAutoRenewStatus": 0,
                "commitmentAutoRenewProductId": "cards.pro.yearly",
                "commitmentRenewalBillingPlanType": "BILLED_UPFRONT",
                "commitmentRenewalDate": .integer(FakeStore.end * 2),
                "commitmentRenewalPrice": 119_880,
            ],
        ])
        let facts = try FakeStore.facts(
            FakeStore.notification("DID_RENEW", transaction: transaction, renewalInfo: renewalInfo)
        )
        let end = Instant(millisecondsSince1970: FakeStore.end * 2)
        let term = try #require(facts.terms.first)
        #expect(term.billing == .monthly)
        #expect(
            term.commitment == Term.Commitment(payment: 2, payments: 12, end: end, price: price)
        )
        let outlook = try #require(facts.outlooks.first)
        #expect(outlook.billing == .monthly)
        #expect(outlook.willRenew == true)
        #expect(
            outlook.commitment
                == Outlook.Commitment(
                    willRenew: false,
                    renewsInto: "cards.pro.yearly",
                    billing: .upfront,
                    date: end,
                    price: price
                )
        )
    }

    @Test(
        arguments: [
            ("Auto-Renewable Subscription", .autoRenewable), ("Non-Consumable", .nonConsumable),
            ("Consumable", .consumable), ("Non-Renewing Subscription", .nonRenewing),
            ("Bundle", .unrecognised("Bundle")),
        ] as [(String, Term.Plan)]
    )
    func `the product type becomes the plan`(type: String, plan: Term.Plan) throws {
        let facts = try FakeStore.facts(FakeStore.transaction(["type": .string(type)]))
        #expect(facts.terms.map(\.plan) == [plan])
    }

    @Test(
        arguments: [
            (["offerType": 2, "offerDiscountType": "PAY_AS_YOU_GO"], .promotional, .payAsYouGo),
            (["offerType": 3, "offerDiscountType": "PAY_UP_FRONT"], .code, .payUpFront),
            (["offerType": 4, "offerDiscountType": "ONE_TIME"], .winBack, .oneTime),
            (["offerType": 1], .introductory, nil),
            (
                ["offerType": 7, "offerDiscountType": "HALF"], .unrecognised("7"),
                .unrecognised("HALF")
            ),
            (["offerIdentifier": "x"], nil, nil),
        ] as [(JSONObject, Offer.Kind?, Offer.Discount?)]
    )
    func `offers are read for the term and for the next one`(
        changes: JSONObject,
        kind: Offer.Kind?,
        discount: Offer.Discount?
    ) throws {
        let facts = try FakeStore.facts(
            FakeStore.notification(
                "OFFER_REDEEMED",
                transaction: FakeStore.transaction(changes),
                renewalInfo: FakeStore.renewalInfo(changes)
            )
        )
        for offer in facts.terms.map(\.offer) + facts.outlooks.map(\.offer) {
            #expect(offer?.kind == kind)
            #expect(offer?.discount == discount)
        }
    }

    @Test func `Xcode's period id is ignored, so the transaction id names the term`() throws {
        let payload = FakeStore.transaction(["webOrderLineItemId": "0"])
        #expect(try FakeStore.facts(payload).terms.map(\.key) == [TermKey("t:2000000000000002")])
    }

    @Test(arguments: ["00000000-0000-0000-0000-000000000000", ""])
    func `an account token of zeros is ignored`(token: String) throws {
        let payload = FakeStore.transaction(["appAccountToken": .string(token)])
        #expect(try FakeStore.facts(payload).terms.map(\.accountToken) == [nil])
    }

    @Test func `a price needs its currency`() throws {
        #expect(
            try FakeStore.facts(FakeStore.transaction(["currency": nil])).terms.map(\.price) == [
                nil
            ]
        )
    }

    @Test(arguments: [
        "originalTransactionId", "transactionId", "productId", "type", "purchaseDate",
    ])
    func `a transaction without a required field produces no facts`(member: String) throws {
        let payload = FakeStore.notification(
            "DID_RENEW",
            transaction: FakeStore.transaction([member: nil])
        )
        #expect(try FakeStore.facts(payload).isEmpty)
        #expect(try FakeStore.read(payload).notes == [.incompleteTransaction(missing: [member])])
    }

    @Test func `a part without a date produces no facts`() throws {
        let undated = FakeStore.transaction(["signedDate": nil])
        let payload = FakeStore.notification("DID_RENEW", transaction: undated)
        #expect(try FakeStore.facts(payload).isEmpty)
        let renewal = FakeStore.notification(
            "DID_RENEW",
            renewalInfo: FakeStore.renewalInfo(["signedDate": nil])
        )
        #expect(try FakeStore.facts(renewal).kinds == ["term", "condition"])
        #expect(
            try FakeStore.read(renewal).notes == [.incompleteRenewalInfo(missing: ["signedDate"])]
        )
    }

    // MARK: Family

    @Test func `facts of a family member have an ownership of their own`() throws {
        let payload = FakeStore.notification(
            "DID_RENEW",
            transaction: FakeStore.transaction(["inAppOwnershipType": "FAMILY_SHARED"])
        )
        let facts = try FakeStore.facts(payload)
        #expect(facts.kinds == ["term", "outlook", "condition"])
        #expect(facts.allSatisfy { $0.lineage.ownership == .familyShared })
        #expect(try FakeStore.read(payload).notes == [.familyShared])
    }

    @Test func `an assigned seat counts as shared`() throws {
        let payload = FakeStore.notification(
            "DID_RENEW",
            transaction: FakeStore.transaction(["inAppOwnershipType": "ASSIGNED"])
        )
        let facts = try FakeStore.facts(payload)
        #expect(facts.kinds == ["term", "outlook", "condition"])
        #expect(facts.allSatisfy { $0.lineage.ownership == .familyShared })
        #expect(try FakeStore.read(payload).notes == [.assigned])
    }

    @Test func `an unknown ownership sets no owner`() throws {
        let payload = FakeStore.notification(
            "DID_RENEW",
            transaction: FakeStore.transaction(["inAppOwnershipType": "BORROWED"])
        )
        let facts = try FakeStore.facts(payload)
        #expect(facts.kinds == ["unrecognised"])
        #expect(try FakeStore.read(payload).notes == [.unknownOwnership("BORROWED")])
    }

    // MARK: Revocations

    @Test(
        arguments: [
            (["revocationType": "REFUND_FULL"], "REFUND", .refund),
            (["revocationType": "REFUND_PRORATED"], "REFUND", .proratedRefund),
            (["revocationType": "FAMILY_REVOKE"], "REVOKE", .familyAccessRemoved),
            (["revocationType": "ASSIGNMENT_REVOKE"], "REVOKE", .assignmentRemoved),
            (["revocationType": "OTHER"], "REFUND", .unrecognised("OTHER")),
            (["revocationReason": 1], "REFUND", .refund),
            (["revocationReason": 0], "REFUND", .refund),
            (["revocationReason": 0], "REVOKE", .familyAccessRemoved),
            (["inAppOwnershipType": "FAMILY_SHARED"], "REFUND", .familyAccessRemoved),
            (["inAppOwnershipType": "ASSIGNED"], "REVOKE", .assignmentRemoved),
            ([:], "DID_RENEW", .refund),
        ] as [(JSONObject, String, Revocation.Cause)]
    )
    func `the revocation reason is the store's or follows from the ownership`(
        changes: JSONObject,
        type: String,
        cause: Revocation.Cause
    ) throws {
        let facts = try FakeStore.facts(
            FakeStore.notification(type, transaction: Self.takenBack.changed(by: changes))
        )
        let expected = Revocation(
            term: TermKey("w:3000000000000002"),
            date: Instant(millisecondsSince1970: FakeStore.start + 500),
            cause: cause
        )
        #expect(facts.revocations == [expected])
        #expect(facts.terms.map(\.isRevoked) == [true])
    }

    @Test func `a prorated refund contains its share`() throws {
        let payload = Self.takenBack.changed(by: [
            "revocationType": "REFUND_PRORATED", "revocationPercentage": 50_000,
        ])
        #expect(try FakeStore.facts(payload).revocations.map(\.percentage) == [50_000])
    }

    @Test func `the revocation date of an upgrade revokes nothing`() throws {
        let payload = Self.takenBack.changed(by: ["isUpgraded": true])
        let facts = try FakeStore.facts(payload)
        #expect(facts.kinds == ["term"])
        #expect(facts.terms.map(\.isUpgraded) == [true])
        #expect(facts.terms.map(\.isRevoked) == [false])
        #expect(try FakeStore.read(payload).notes == [.upgradedAway])
    }

    @Test(arguments: ["REFUND", "REVOKE"])
    func `a refund type without a revocation date revokes nothing`(type: String) throws {
        let payload = FakeStore.notification(type)
        #expect(try FakeStore.facts(payload).revocations.isEmpty)
        #expect(try FakeStore.read(payload).notes == [.nothingTakenBack(type)])
    }

    // MARK: Outlooks

    @Test func `an outlook contains every field of the renewal info`() throws {
        let facts = try FakeStore.facts(
            FakeStore.renewalInfo([
                "autoRenewProductId": "cards.basic.monthly", "isInBillingRetryPeriod": true,
                "gracePeriodExpiresDate": .integer(FakeStore.end + 5), "expirationIntent": 2,
                "priceIncreaseStatus": 0, "offerType": 4, "offerPeriod": "P1Y",
            ])
        )
        let expected = Outlook(
            renewalDate: Instant(millisecondsSince1970: FakeStore.end),
            productId: "cards.pro.monthly",
            renewsInto: "cards.basic.monthly",
            willRenew: true,
            isRetrying: true,
            graceEnd: Instant(millisecondsSince1970: FakeStore.end + 5),
            lapse: .billingError,
            priceIncreasePending: true,
            renewalPrice: Money(milliunits: 9990, currency: "USD"),
            offer: Offer(kind: .winBack, period: Period(years: 1))
        )
        #expect(facts.outlooks == [expected])
        #expect(try FakeStore.read(FakeStore.renewalInfo()).notes == [.renewalInfoAlone])
    }

    @Test(
        arguments: [
            (1, .cancelled), (2, .billingError), (3, .priceIncrease), (4, .productUnavailable),
            (5, .other), (9, .unrecognised("9")), (nil, nil),
        ] as [(Int64?, Outlook.Lapse?)]
    )
    func `the expiration intent gives the reason for the lapse`(
        intent: Int64?,
        lapse: Outlook.Lapse?
    ) throws {
        let value: JSONValue = intent.map { .integer($0) } ?? .null
        let facts = try FakeStore.facts(FakeStore.renewalInfo(["expirationIntent": value]))
        #expect(facts.outlooks.map(\.lapse) == [lapse])
    }

    @Test(arguments: [(0, false), (1, true), (2, nil), (nil, nil)] as [(Int64?, Bool?)])
    func `the renewal status gives whether it renews`(status: Int64?, renews: Bool?) throws {
        let value: JSONValue = status.map { .integer($0) } ?? .null
        let facts = try FakeStore.facts(FakeStore.renewalInfo(["autoRenewStatus": value]))
        #expect(facts.outlooks.map(\.willRenew) == [renews])
    }

    @Test func `a renewal info without a subscription produces no facts`() throws {
        let nameless = FakeStore.renewalInfo(["originalTransactionId": nil])
        #expect(try FakeStore.facts(nameless).isEmpty)
        let payload = FakeStore.notification("EXPIRED", renewalInfo: nameless)
        let facts = try FakeStore.facts(payload)
        #expect(facts.kinds == ["term", "condition"])
        #expect(facts.conditions.map(\.renewalDate) == [nil])
    }

    // MARK: Conditions

    @Test(
        arguments: [
            (1, .active), (2, .expired), (3, .retry), (4, .grace), (5, .revoked),
        ] as [(Int64, Condition.Status)]
    )
    func `the status becomes the condition`(status: Int64, condition: Condition.Status) throws {
        let payload = FakeStore.notification("DID_RENEW", data: ["status": .integer(status)])
        #expect(try FakeStore.facts(payload).conditions.map(\.status) == [condition])
    }

    @Test func `an unknown status replaces no known one`() throws {
        let payload = FakeStore.notification("DID_RENEW", data: ["status": 9])
        let facts = try FakeStore.facts(payload)
        #expect(facts.kinds == ["term", "outlook", "unrecognised"])
        let failing = FakeStore.notification("GRACE_PERIOD_EXPIRED", data: ["status": 9])
        #expect(
            try FakeStore.facts(failing).conditions == [
                Condition(
                    notice: .graceExpired,
                    renewalDate: Instant(millisecondsSince1970: FakeStore.end)
                )
            ]
        )
    }

    // MARK: Unknown values

    @Test func `an unknown type changes nothing, whatever its content`() throws {
        let payload = FakeStore.notification("NEW_THING", transaction: Self.takenBack)
        let word = Unrecognised(field: "notificationType", value: "NEW_THING")
        let facts = try FakeStore.facts(payload)
        #expect(facts.map(\.assertion) == [.unrecognised(word)])
        #expect(facts.map(\.lineage.id) == ["2000000000000001"])
        let reading = try FakeStore.read(payload)
        #expect(reading.unrecognised == [word])
        #expect(reading.notes == [.unknownType("NEW_THING")])
    }

    @Test(arguments: ["NEW_THING", "DID_RENEW"])
    func `a notification about an unknown object is read without facts`(type: String) throws {
        let payload = FakeStore.notification(
            type,
            outer: ["data": nil, "flags": ["a": 1], "newData": Self.newObject()]
        )
        let reading = try FakeStore.read(payload)
        #expect(reading.environment == .production)
        #expect(reading.unrecognised.contains(Unrecognised(field: "content", value: "newData")))
        #expect(reading.notes.contains(.unknownContent("newData")))
        #expect(try FakeStore.facts(payload).isEmpty)
    }

    @Test func `an unknown object must be of this app and of a certified environment`() {
        func refusal(_ changes: JSONObject) -> String? {
            let outer: JSONObject = ["data": nil, "newData": Self.newObject(changes)]
            let payload = FakeStore.notification("NEW_THING", outer: outer)
            do {
                _ = try FakeStore.read(payload)
                return nil
            } catch {
                return (error as? AppStoreRefusal)?.code
            }
        }
        #expect(refusal([:]) == nil)
        #expect(refusal(["bundleId": "com.example.other"]) == "wrong-bundle")
        #expect(refusal(["bundleId": nil]) == "missing-member")
        #expect(refusal(["bundleId": 5]) == "missing-member")
        #expect(refusal(["appAppleId": 5]) == "wrong-app")
        #expect(refusal(["environment": "Xcode"]) == "environment-not-vouched-for")
        #expect(refusal(["environment": nil]) == "environment-not-vouched-for")
    }

    @Test func `an unknown object beside a known one changes nothing`() throws {
        let known = FakeStore.notification("DID_RENEW")
        let both = known.changed(by: ["newData": Self.newObject()])
        #expect(try FakeStore.facts(both) == FakeStore.facts(known))
        #expect(try FakeStore.read(both).unrecognised.isEmpty)
    }

    private static func newObject(_ changes: JSONObject = [:]) -> JSONValue {
        let usual: JSONObject = [
            "bundleId": .string(FakeStore.bundleId), "environment": "Production",
            "appAppleId": .integer(FakeStore.appAppleId), "news": ["a": [1, 2]],
        ]
        return .object(usual.changed(by: changes))
    }

    @Test func `an unknown subtype keeps the signed facts`() throws {
        let payload = FakeStore.notification("DID_FAIL_TO_RENEW", "NEW_WAY")
        let facts = try FakeStore.facts(payload)
        #expect(facts.kinds == ["term", "outlook", "condition", "unrecognised"])
        #expect(facts.conditions.map(\.notice) == [.failedToRenew])
        #expect(facts.unrecognised == [Unrecognised(field: "subtype", value: "NEW_WAY")])
    }

    @Test func `unknown values are counted once each and stored with the lineage`() throws {
        let payload = FakeStore.notification(
            "CONSUMPTION_REQUEST",
            transaction: FakeStore.transaction([
                "type": "Bundle", "offerType": 7, "offerPeriod": "soon", "revocationReason": 9,
                "transactionReason": "GIFT", "billingPlanType": "WEEKLY",
            ]),
            renewalInfo: FakeStore.renewalInfo([
                "offerType": 7, "expirationIntent": 9, "priceIncreaseStatus": 4,
                "autoRenewStatus": 3,
                "commitmentInfo": ["commitmentRenewalBillingPlanType": "WEEKLY"],
            ]),
            data: ["status": 9, "consumptionRequestReason": "BORED"]
        )
        let expected: [String] = [
            "status=9", "consumptionRequestReason=BORED", "type=Bundle", "offerType=7",
            "offerPeriod=soon", "revocationReason=9", "transactionReason=GIFT",
            "billingPlanType=WEEKLY", "autoRenewStatus=3", "expirationIntent=9",
            "priceIncreaseStatus=4", "commitmentRenewalBillingPlanType=WEEKLY",
        ]
        let words = try FakeStore.read(payload).unrecognised
        #expect(words.map { "\($0.field)=\($0.value)" } == expected)
        let facts = try FakeStore.facts(payload)
        #expect(facts.unrecognised == words)
        #expect(facts.kinds.prefix(3) == ["term", "outlook", "unrecognised"])
    }

    // MARK: Messages without a purchase

    @Test func `a test notification is read as a test`() throws {
        let payload = FakeStore.notification("TEST", transaction: nil, renewalInfo: nil)
        let reading = try FakeStore.read(payload)
        #expect(reading.isTest)
        #expect(reading.notes == [.test])
    }

    @Test(
        arguments: [("SANDBOX_b2158121", .sandbox), ("b2158121", .production)]
            as [(String, Environment)]
    )
    func `the id of an external purchase token gives its environment`(
        id: String,
        environment: Environment
    ) throws {
        let reading = try FakeStore.read(
            FakeStore.notification(
                "EXTERNAL_PURCHASE_TOKEN",
                "UNREPORTED",
                outer: ["data": nil, "externalPurchaseToken": Self.token(id)]
            )
        )
        #expect(reading.environment == environment)
        #expect(reading.notes == [.externalPurchaseToken])
    }

    @Test func `a summary contains its counts`() throws {
        let summary = try #require(Self.others.first { $0.subtype == "SUMMARY" })
        let reading = try FakeStore.read(summary.payload)
        #expect(reading.notes == [.extensionSummary(succeeded: 5, failed: 2)])
    }
}
