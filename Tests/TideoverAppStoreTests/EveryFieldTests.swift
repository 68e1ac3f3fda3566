import Testing
import TideoverAppStore
import TideoverCore
import TideoverHTTP
import TideoverJSON

/// Payloads and responses with every field that Apple documents, each with a value of its own.
@Suite struct EveryFieldTests {
    // MARK: Payloads

    struct Payload: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let fields: JSONObject
        let read: @Sendable (JSONNode) throws -> any Sendable

        init(
            _ name: String,
            _ fields: JSONObject,
            _ read: @escaping @Sendable (JSONNode) throws -> any Sendable
        ) {
            (testDescription, self.fields, self.read) = (name, fields, read)
        }
    }

    private static let transaction = FakeStore.transaction([
        "previousOriginalTransactionId": "2000000000000000", "appTransactionId": "71234",
        "revocationDate": 1_777_000_500_000, "isUpgraded": true, "offerType": 3,
        "offerIdentifier": "SPRING", "offerDiscountType": "PAY_UP_FRONT", "offerPeriod": "P3M",
        "revocationReason": 1, "revocationType": "REFUND_PRORATED", "revocationPercentage": 50_000,
        "billingPlanType": "MONTHLY", "advancedCommerceInfo": ["items": [["SKU": "a"], nil]],
        "commitmentInfo": [
            "billingPeriodNumber": 2, "totalBillingPeriods": 12,
            "commitmentExpiresDate": 1_777_000_600_000, "commitmentPrice": 119_880,
        ],
    ])

    private static let renewalInfo = FakeStore.renewalInfo([
        "expirationIntent": 2, "isInBillingRetryPeriod": true,
        "gracePeriodExpiresDate": 1_777_000_700_000, "priceIncreaseStatus": 0,
        "recentSubscriptionStartDate": 1_777_000_800_000, "offerType": 4,
        "offerIdentifier": "RETURN", "offerDiscountType": "FREE_TRIAL", "offerPeriod": "P1W",
        "eligibleWinBackOfferIds": ["RETURN", "AGAIN"], "appTransactionId": "71234",
        "appAccountToken": "7e3fb20b-4cdb-47cc-936d-99d65f608138",
        "advancedCommerceInfo": ["requestReferenceId": "b"],
        "renewalBillingPlanType": "BILLED_UPFRONT",
        "commitmentInfo": [
            "commitmentAutoRenewProductId": "cards.pro.yearly", "commitmentAutoRenewStatus": 1,
            "commitmentRenewalBillingPlanType": "MONTHLY",
            "commitmentRenewalDate": 1_777_000_900_000, "commitmentRenewalPrice": 109_880,
        ],
    ])

    private static let appTransaction: JSONObject = [
        "receiptType": "Sandbox", "appAppleId": 1_234_567_890, "bundleId": "com.example.cards",
        "applicationVersion": "320", "versionExternalIdentifier": 8_001,
        "receiptCreationDate": 1_777_000_000_000, "originalPurchaseDate": 1_677_000_000_000,
        "originalApplicationVersion": "212", "deviceVerification": "AA==",
        "deviceVerificationNonce": "48ccfa42-7431-4f22-9908-7e88983e105a",
        "preorderDate": 1_667_000_000_000, "appTransactionId": "71234", "originalPlatform": "iOS",
    ]

    private static let data = FakeStore.notification(
        "CONSUMPTION_REQUEST",
        "INITIAL_BUY",
        data: ["consumptionRequestReason": "LEGAL"]
    )

    private static func about(_ name: String, _ content: JSONObject) -> JSONObject {
        data.changed(by: ["data": nil, name: .object(content)])
    }

    private static let summary = about(
        "summary",
        [
            "requestIdentifier": "efb27071-45a4-4aca-9854-2a1e9146f265",
            "environment": "Production", "appAppleId": 1_234_567_890,
            "bundleId": "com.example.cards", "productId": "cards.pro.monthly",
            "storefrontCountryCodes": ["NLD", "DEU"], "succeededCount": 5, "failedCount": 2,
        ]
    )

    private static let externalPurchase = about(
        "externalPurchaseToken",
        [
            "externalPurchaseId": "SANDBOX_b2158121-7af9-49d4-9561-1f588205523e",
            "tokenCreationDate": 1_777_000_000_000, "appAppleId": 1_234_567_890,
            "bundleId": "com.example.cards", "tokenType": "SERVICES",
            "tokenExpirationDate": 1_778_000_000_000,
        ]
    )

    private static let appData = about(
        "appData",
        [
            "appAppleId": 1_234_567_890, "bundleId": "com.example.cards",
            "environment": "Sandbox",
            "signedAppTransactionInfo": .string(FakeStore.seal(appTransaction)),
        ]
    )

    static let payloads =
        [
            ("data", data), ("summary", summary), ("external purchase token", externalPurchase),
            ("app data", appData),
        ].map { name, fields in
            Payload("notification with \(name)", fields) {
                try AppStoreNotification(payload: $0)
            }
        } + [
            Payload("transaction", transaction) {
                try AppStoreTransaction(payload: $0)
            },
            Payload("renewal info", renewalInfo) {
                try AppStoreRenewalInfo(payload: $0)
            },
            Payload("app transaction", appTransaction) {
                try AppStoreAppTransaction(payload: $0)
            },
        ]

    /// Reads a payload and writes it again.
    private func pass(_ payload: Payload, _ fields: JSONObject) throws -> JSONObject {
        let document = try JSONDocument(JSONValue.object(fields).encoded())
        return wireForm(of: try payload.read(document.root))
    }

    @Test(arguments: payloads)
    func `a payload is read without loss`(payload: Payload) throws {
        #expect(try pass(payload, payload.fields) == payload.fields)
    }

    @Test(arguments: payloads)
    func `each field may be absent or null alone`(payload: Payload) throws {
        for member in payload.fields {
            let rest = payload.fields.changed(by: [member.key: nil])
            #expect(try pass(payload, rest) == rest, "\(member.key)")
            var null = payload.fields
            null[member.key] = .some(.null)
            #expect(try pass(payload, null) == rest, "\(member.key)")
        }
    }

    @Test(arguments: payloads)
    func `a value of the wrong type is refused by its field's name`(payload: Payload) {
        for (path, changed) in Self.spoiled(payload.fields) {
            #expect(throws: AppStoreRefusal.malformed(field: path)) {
                try pass(payload, changed)
            }
        }
    }

    /// Returns copies of an object, each with one value replaced by one of another type, and the
    /// value's path. The content of `advancedCommerceInfo` is read as it is.
    private static func spoiled(_ fields: JSONObject) -> [(path: String, changed: JSONObject)] {
        fields.flatMap { member -> [(String, JSONObject)] in
            var copies = [(member.key, fields.changed(by: [member.key: wrong(member.value)]))]
            guard let inner = member.value.object, member.key != "advancedCommerceInfo" else {
                return copies
            }
            for (path, changed) in spoiled(inner) {
                let copy = fields.changed(by: [member.key: .object(changed)])
                copies.append(("\(member.key).\(path)", copy))
            }
            return copies
        }
    }

    private static func wrong(_ value: JSONValue) -> JSONValue {
        value.string != nil ? 7 : "text"
    }

    // MARK: Responses

    private static let signed: [JSONValue] = [
        .string(FakeStore.seal(transaction)), .string(FakeStore.seal(["transactionId": "7"])),
    ]

    private static let history: JSONObject = [
        "environment": "Sandbox", "bundleId": "com.example.cards", "appAppleId": 1_234_567_890,
        "revision": "r1", "hasMore": false, "signedTransactions": .array(signed),
    ]

    private static let sent: JSONObject = [
        "signedPayload": .string(FakeStore.seal(data)),
        "sendAttempts": .array(
            (SentNotification.Result.allCases.map(\.rawValue) + ["LOST"]).enumerated().map {
                [
                    "attemptDate": .integer(FakeStore.start + Int64($0)),
                    "sendAttemptResult": .string($1),
                ]
            }
        ),
    ]

    /// Our own responses to the requests of ``APIVectorTests``, by their names there.
    private static let responses: [String: JSONObject] = [
        "getAllSubscriptionStatusesResponse": [
            "environment": "LocalTesting", "bundleId": "com.example.cards",
            "appAppleId": 1_234_567_890,
            "data": [
                [
                    "subscriptionGroupIdentifier": "20000001",
                    "lastTransactions": [
                        .object(APIAnswerTests.status(1)), .object(APIAnswerTests.status(7)),
                    ],
                ],
                ["subscriptionGroupIdentifier": "20000002", "lastTransactions": []],
            ],
        ],
        "transactionHistoryResponse": history,
        "transactionHistoryResponseWithMalformedEnvironment":
            history.changed(by: ["environment": "Moon"]),
        "getRefundHistoryResponse": [
            "revision": "r2", "hasMore": false, "signedTransactions": .array(signed),
        ],
        "getNotificationHistoryResponse": [
            "paginationToken": "p1", "hasMore": false,
            "notificationHistory": [.object(sent), .object(sent)],
        ],
        "requestTestNotificationResponse": ["testNotificationToken": "ce3af791_1777000000000"],
        "getTestNotificationStatusResponse": sent,
        "transactionInfoResponse": ["signedTransactionInfo": signed[0]],
        "appTransactionInfoResponse": [
            "signedAppTransactionInfo": .string(FakeStore.seal(appTransaction))
        ],
        "lookupOrderIdResponse": ["status": 1, "signedTransactions": .array(signed)],
        "extendSubscriptionRenewalDateResponse": [
            "originalTransactionId": "2000000000000001", "webOrderLineItemId": "3000000000000002",
            "success": true, "effectiveDate": .integer(FakeStore.end),
        ],
        "extendRenewalDateForAllActiveSubscribersResponse": [
            "requestIdentifier": "efb27071-45a4-4aca-9854-2a1e9146f265"
        ],
        "getStatusOfSubscriptionRenewalDateExtensionsResponse": [
            "requestIdentifier": "efb27071-45a4-4aca-9854-2a1e9146f265", "complete": true,
            "completeDate": .integer(FakeStore.end), "succeededCount": 30, "failedCount": 2,
        ],
    ]

    @Test(arguments: APIVectorTests.cases)
    func `a response is read without loss`(example: APIVectorTests.Case) async throws {
        let response = try #require(Self.responses[example.name])
        let answer = try await example.ask(FakeAPI(.answer(response)).api())
        #expect(wireForm(of: answer) == response)
    }

    @Test(arguments: APIVectorTests.cases)
    func `a field of the wrong type makes a response malformed`(
        example: APIVectorTests.Case
    ) async throws {
        let response = try #require(Self.responses[example.name])
        // Delivery attempts state nothing about a purchase, so one of another form is left out.
        for member in response where member.key != "sendAttempts" {
            let changed = response.changed(by: [member.key: Self.wrong(member.value)])
            let failed = await failure {
                _ = try await example.ask(FakeAPI(.answer(changed)).api())
            }
            guard case .malformed(.malformed(field: "answer.\(member.key)"))? = failed?.reason
            else {
                Issue.record("\(member.key): \(String(describing: failed?.reason))")
                continue
            }
        }
    }
}
