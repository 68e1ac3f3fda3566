import Testing
import TideoverCore
import TideoverGooglePlay
import TideoverJSON

/// Resources with every field that Google documents beside the others. Each field that is read is
/// refused by its name if its value has the wrong type; all others are listed.
@Suite struct EveryFieldTests {
    struct Resource: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let fields: JSONObject
        /// The paths of the fields that are not read.
        let unread: Set<String>
        let read: @Sendable (JSONNode) throws(PlayRefusal) -> Void

        init(
            _ name: String,
            _ fields: JSONObject,
            unread: Set<String>,
            _ read: @escaping @Sendable (JSONNode) throws(PlayRefusal) -> Void
        ) {
            (testDescription, self.fields) = (name, fields)
            (self.unread, self.read) = (unread, read)
        }
    }

    private static let price: JSONValue = [
        "currencyCode": "EUR", "units": "9", "nanos": 990_000_000,
    ]
    private static let buyer: JSONValue = [
        "externalAccountId": "e", "obfuscatedExternalAccountId": "u_42",
        "obfuscatedExternalProfileId": "p",
    ]
    private static let date: JSONValue = "2026-05-01T10:00:00.123456789Z"

    // MARK: Purchases

    private static let renewing: JSONValue = [
        "autoRenewEnabled": true, "recurringPrice": price,
        "priceChangeDetails": [
            "newPrice": price, "priceChangeMode": "PRICE_INCREASE",
            "priceChangeState": "OUTSTANDING", "expectedNewPriceChargeTime": date,
        ],
        "installmentDetails": [
            "initialCommittedPaymentsCount": 12, "subsequentCommittedPaymentsCount": 1,
            "remainingCommittedPaymentsCount": 7, "pendingCancellation": [:],
        ],
        "priceStepUpConsentDetails": [
            "state": "PENDING", "consentDeadlineTime": date, "newPrice": price,
        ],
    ]

    private static let subscription: JSONObject = [
        "kind": "androidpublisher#subscriptionPurchaseV2", "regionCode": "NL", "startTime": date,
        "subscriptionState": "SUBSCRIPTION_STATE_CANCELED", "latestOrderId": "GPA.1",
        "linkedPurchaseToken": "older", "etag": "tag", "testPurchase": [:],
        "acknowledgementState": "ACKNOWLEDGEMENT_STATE_PENDING",
        "externalAccountIdentifiers": buyer,
        "canceledStateContext": [
            "userInitiatedCancellation": [
                "cancelTime": date,
                "cancelSurveyResult": [
                    "reason": "CANCEL_SURVEY_REASON_OTHERS", "reasonUserInput": "too few cards",
                ],
            ]
        ],
        "pausedStateContext": ["autoResumeTime": date],
        "outOfAppPurchaseContext": [
            "expiredPurchaseToken": "expired", "expiredExternalAccountIdentifiers": buyer,
        ],
        "lineItems": [
            [
                "productId": "play", "expiryTime": date, "latestSuccessfulOrderId": "GPA.1..0",
                "autoRenewingPlan": renewing,
                "offerDetails": [
                    "basePlanId": "monthly", "offerId": "spring", "offerTags": ["a", "b"],
                ],
                "offerPhase": ["basePrice": [:]],
                "deferredItemReplacement": ["productId": "other"], "deferredItemRemoval": [:],
                "signupPromotion": ["vanityCode": ["promotionCode": "SPRING"]],
            ]
        ],
    ]

    private static let prepaid: JSONObject = [
        "subscriptionState": "SUBSCRIPTION_STATE_ACTIVE",
        "lineItems": [
            [
                "productId": "play", "prepaidPlan": ["allowExtendAfterTime": date],
                "offerPhase": ["prorationPeriod": ["originalOfferPhaseType": "FREE_TRIAL"]],
            ]
        ],
    ]

    private static let product: JSONObject = [
        "kind": "androidpublisher#productPurchaseV2", "orderId": "GPA.9", "regionCode": "NL",
        "purchaseStateContext": ["purchaseState": "PURCHASED"], "purchaseCompletionTime": date,
        "acknowledgementState": "ACKNOWLEDGEMENT_STATE_PENDING",
        "obfuscatedExternalAccountId": "u_42", "obfuscatedExternalProfileId": "p",
        "testPurchaseContext": ["fopType": "TEST"],
        "productLineItem": [
            [
                "productId": "coins",
                "productOfferDetails": [
                    "offerId": "spring", "offerToken": "t", "offerTags": ["a"],
                    "purchaseOptionId": "buy", "quantity": 3, "refundableQuantity": 2,
                    "consumptionState": "CONSUMPTION_STATE_CONSUMED",
                ],
            ]
        ],
    ]

    private static let voided: JSONObject = [
        "kind": "androidpublisher#voidedPurchase", "purchaseToken": "token", "orderId": "GPA.9",
        "purchaseTimeMillis": "1777593600000", "voidedTimeMillis": "1778061600000",
        "voidedSource": 1, "voidedReason": 7, "voidedQuantity": 2,
    ]

    private static let order: JSONObject = [
        "orderId": "GPA.1..0", "purchaseToken": "token", "state": "PARTIALLY_REFUNDED",
        "createTime": date, "lastEventTime": date, "total": price, "tax": price,
        "developerRevenueInBuyerCurrency": price, "buyerAddress": ["buyerCountry": "NL"],
        "lineItems": [
            [
                "productId": "play", "productTitle": "Play", "total": price, "tax": price,
                "listingPrice": price, "oneTimePurchaseDetails": ["quantity": 1],
                "subscriptionDetails": [
                    "basePlanId": "monthly", "offerId": "spring", "offerPhase": "INTRODUCTORY",
                    "servicePeriodStartTime": date, "servicePeriodEndTime": date,
                ],
            ]
        ],
        "orderHistory": [
            "processedEvent": ["eventTime": date], "cancellationEvent": ["eventTime": date],
            "refundEvent": ["eventTime": date, "refundReason": "CHARGEBACK"],
            "partialRefundEvents": [
                ["createTime": date, "processTime": date, "state": "PROCESSED_SUCCESSFULLY"]
            ],
        ],
    ]

    // MARK: Products

    private static func onSale(_ kind: String, _ plan: JSONValue) -> JSONObject {
        [
            "packageName": "com.example.cards", "productId": "play",
            "basePlans": [["basePlanId": "monthly", "state": "ACTIVE", kind: plan]],
        ]
    }

    private static let renewingPlan: JSONValue = [
        "billingPeriodDuration": "P1M", "gracePeriodDuration": "P7D",
        "accountHoldDuration": "P53D", "resubscribeState": "RESUBSCRIBE_STATE_ACTIVE",
    ]

    static let resources =
        [
            Resource(
                "subscription",
                subscription,
                unread: [
                    "kind",
                    "canceledStateContext.userInitiatedCancellation.cancelSurveyResult"
                        + ".reasonUserInput",
                ],
                { node throws(PlayRefusal) in _ = try SubscriptionPurchaseV2(wire: node) }
            ),
            Resource(
                "prepaid subscription",
                prepaid,
                unread: [],
                { node throws(PlayRefusal) in _ = try SubscriptionPurchaseV2(wire: node) }
            ),
            Resource(
                "one-time purchase",
                product,
                unread: [
                    "kind", "testPurchaseContext.fopType",
                    "productLineItem.productOfferDetails.offerToken",
                    "productLineItem.productOfferDetails.offerTags",
                ],
                { node throws(PlayRefusal) in _ = try ProductPurchaseV2(wire: node) }
            ),
            Resource(
                "voided purchase",
                voided,
                unread: ["kind"],
                { node throws(PlayRefusal) in _ = try VoidedPurchase(wire: node) }
            ),
            Resource(
                "order",
                order,
                unread: ["buyerAddress", "lineItems.productTitle"],
                { node throws(PlayRefusal) in _ = try PlayOrder(wire: node) }
            ),
        ]
        + [
            ("autoRenewingBasePlanType", renewingPlan),
            ("installmentsBasePlanType", renewingPlan),
            (
                "prepaidBasePlanType",
                ["billingPeriodDuration": "P1M", "timeExtension": "TIME_EXTENSION_ACTIVE"]
            ),
        ].map { kind, plan in
            Resource(
                kind,
                onSale(kind, plan),
                unread: ["packageName"],
                { node throws(PlayRefusal) in _ = try SubscriptionOnSale(wire: node) }
            )
        }

    private func node(_ object: JSONObject) throws -> JSONNode {
        try JSONDocument(JSONValue.object(object).encoded()).root
    }

    @Test(arguments: resources)
    func `a field of the wrong type is refused by its name, or it is not read`(
        resource: Resource
    ) throws {
        try resource.read(node(resource.fields))
        var unread: Set<String> = []
        for field in Self.spoiled(.object(resource.fields))
        where !unread.contains(where: { field.path.hasPrefix($0 + ".") }) {
            let changed = try node(resource.fields.setting(field.keys, to: field.wrong))
            do throws(PlayRefusal) {
                try resource.read(changed)
                unread.insert(field.path)
            } catch {
                #expect(error == .malformed(field: field.path))
            }
        }
        #expect(unread == resource.unread)
    }

    private struct Field {
        let keys: [String]
        let wrong: JSONValue
        var path: String { keys.joined(separator: ".") }
    }

    /// Returns all fields in a value, outer ones first, each with a value of the wrong type.
    private static func spoiled(_ value: JSONValue, at keys: [String] = []) -> [Field] {
        guard let object = (value.array?.first ?? value).object else { return [] }
        return object.flatMap { member -> [Field] in
            let path = keys + [member.key]
            return [Field(keys: path, wrong: wrong(member.value))] + spoiled(member.value, at: path)
        }
    }

    private static func wrong(_ value: JSONValue) -> JSONValue {
        if value.array?.first?.string != nil { return [7] }
        guard let text = value.string else { return "text" }
        let isRead = Instant(rfc3339: text) != nil || Int64(text) != nil
        return isRead ? "yesterday" : 7
    }

    @Test(arguments: [
        ("subscription", "lineItems.productId"), ("one-time purchase", "productLineItem.productId"),
        ("voided purchase", "purchaseToken"), ("voided purchase", "voidedTimeMillis"),
        ("autoRenewingBasePlanType", "productId"),
        ("autoRenewingBasePlanType", "basePlans.basePlanId"),
    ])
    func `a resource without what identifies it is refused`(name: String, path: String) throws {
        let resource = try #require(Self.resources.first { $0.testDescription == name })
        let keys = path.split(separator: ".").map(String.init)
        let changed = try node(resource.fields.setting(keys, to: .null))
        #expect(throws: PlayRefusal.missingMember(path)) { try resource.read(changed) }
    }

    // MARK: Values

    private func words<Known>(_ type: Known.Type, prefix: String = "") -> Set<String>
    where Known: CaseIterable & RawRepresentable, Known.RawValue == String {
        Set(type.allCases.map { $0.rawValue.replacing(prefix, with: "") })
    }

    @Test func `the known values are those that Google documents`() {
        typealias Subscription = SubscriptionPurchaseV2
        #expect(
            words(Subscription.State.self, prefix: "SUBSCRIPTION_STATE_") == [
                "PENDING", "ACTIVE", "PAUSED", "IN_GRACE_PERIOD", "ON_HOLD", "CANCELED", "EXPIRED",
                "PENDING_PURCHASE_CANCELED",
            ]
        )
        #expect(
            words(AcknowledgementState.self, prefix: "ACKNOWLEDGEMENT_STATE_") == [
                "PENDING", "ACKNOWLEDGED",
            ]
        )
        #expect(
            words(Subscription.PriceChangeMode.self) == [
                "PRICE_DECREASE", "PRICE_INCREASE", "OPT_OUT_PRICE_INCREASE",
            ]
        )
        #expect(
            words(Subscription.PriceChangeState.self) == [
                "OUTSTANDING", "CONFIRMED", "APPLIED", "CANCELED",
            ]
        )
        #expect(words(Subscription.ConsentState.self) == ["PENDING", "CONFIRMED", "COMPLETED"])
        #expect(words(ProductPurchaseV2.State.self) == ["PURCHASED", "CANCELLED", "PENDING"])
        #expect(VoidedPurchase.Source.allCases.map(\.rawValue) == Array(0...2))
        #expect(VoidedPurchase.Reason.allCases.map(\.rawValue) == Array(0...8))
    }
}
