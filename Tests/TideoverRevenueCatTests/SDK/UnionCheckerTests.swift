import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverUnionChecker

/// Tests the checker against conclusions that the decoders of the SDKs themselves reached.
@Suite struct UnionCheckerTests {
    /// A signature has an exchange without the header fields of an answer.
    private static let answers = RecordedExchange.names.filter { $0 != "41-signature-vector.json" }

    @Test(.enabled(if: RecordedExchange.present))
    func `it accepts every recorded answer, and refuses every recorded fault`() throws {
        #expect(Self.answers.count == 40)
        for name in Self.answers {
            let recorded = try RecordedExchange(name)
            let refusals = recorded.exchange.refusals
            #expect(refusals.isEmpty == !recorded.isWrong, "\(name): \(refusals)")
        }
    }

    @Test(.enabled(if: RecordedExchange.present))
    func `it concludes what both decoders concluded`() throws {
        var count = 0
        for name in Self.answers {
            let recorded = try RecordedExchange(name)
            for (platform, seen) in recorded.observed {
                let checker = try recorded.exchange.customerInfo()
                #expect(checker.conclusions(on: platform) == seen, "\(name)")
                count += 1
            }
        }
        #expect(count == 44)
    }

    @Test(
        .enabled(if: RecordedExchange.present),
        arguments: [
            ("16-receipt-ios-subscription", .finished), ("17-receipt-ios-consumable", .finished),
            ("18-receipt-ios-app-transaction-only", .finished),
            ("19-receipt-android-subscription", .finished),
            ("22-receipt-store-unreachable", .kept), ("23-receipt-invalid", .finished),
            ("26-offerings", nil),
        ] as [(String, UnionChecker.ReceiptOutcome?)]
    )
    func `an error of the server keeps a purchase, and any other finishes it`(
        name: String,
        outcome: UnionChecker.ReceiptOutcome?
    ) throws {
        #expect(try RecordedExchange("\(name).json").exchange.receiptOutcome == outcome)
    }

    @Test(.enabled(if: RecordedExchange.present))
    func `a purchase whose answer does not list it is posted again by iOS`() throws {
        let recorded = try RecordedExchange("17-receipt-ios-consumable.json").exchange
        var request = recorded.request
        var body = try JSONValue(JSONDocument(request.body).root).object
        body?["transaction_id"] = "1"
        request.body = JSONValue.object(try #require(body)).encoded()
        let other = UnionChecker.Exchange(request, recorded.response)
        #expect(other.receiptOutcome == .kept)
        #expect(other.refusals.map(\.place) == ["non_subscriptions.cards.coins.100"])
    }

    @Test(.enabled(if: RecordedExchange.present))
    func `offerings and mapping are read as the SDKs use them`() throws {
        func body(_ name: String) throws -> [UInt8] {
            try RecordedExchange(name).exchange.response.body
        }
        let offerings = try UnionChecker.Offerings(body("26-offerings.json"))
        #expect(offerings.current == "default")
        let packages = offerings.offerings.flatMap(\.packages)
        #expect(packages.map(\.product) == ["cards.pro.monthly", "cards.pro.yearly"])
        #expect(try UnionChecker.Offerings(body("27-offerings-none.json")).offerings == [])
        let mapping = try UnionChecker.Mapping(body("30-product-entitlement-mapping.json"))
        #expect(mapping.entitlements(of: "cards_pro", on: .android) == ["premium"])
        #expect(mapping.entitlements(of: "cards_pro", plan: "yearly", on: .ios) == ["premium"])
        #expect(mapping.entitlements(of: "cards_pro", on: .ios) == nil)
        #expect(mapping.entitlements(of: "coins_100", on: .android) == nil)
    }

    @Test(.enabled(if: Vectors.present))
    func `the mapping in the tests of an SDK is accepted`() throws {
        let mapping = try UnionChecker.Mapping(Vectors.bytes("ProductsEntitlements.json"))
        let found = mapping.entitlements(of: "com.revenuecat.foo_2", on: .android)
        #expect(found == ["pro_1", "pro_2"])
    }

    @Test(
        .enabled(if: Vectors.present),
        arguments: [
            "CustomerInfoWithDuplicateMappedProductKeys.json",
            "CustomerInfoWithInvalidSubscription.json",
        ]
    )
    func `it refuses what a decoder refuses`(name: String) throws {
        #expect(throws: UnionChecker.Refusal.self) {
            try UnionChecker(Vectors.bytes(name))
        }
    }

    /// A body with one member of its subscription or entitlement replaced.
    private static func body(
        _ path: [String],
        _ value: JSONValue?
    ) -> [UInt8] {
        let whole = JSONValue.object(SDKBody.whole)
        return (SDKBody.replacing(path[...], of: whole, with: value) ?? .null).encoded()
    }

    @Test func `the body that the traps change is accepted`() throws {
        let checker = try UnionChecker(JSONValue.object(SDKBody.whole).encoded())
        #expect(checker.isActive("premium", on: .ios))
        #expect(checker.isActive("premium", on: .android))
        #expect(checker.isActive("premium", on: .web))
    }

    private static let subscription = ["subscriber", "subscriptions", "pro"]
    private static let entitlement = ["subscriber", "entitlements", "premium"]
    private static let purchase = ["subscriber", "non_subscriptions", "coins", "0"]

    @Test(
        arguments: [
            (["request_date"], nil), (["request_date"], "2031-05-06 10:00:00Z"),
            (["request_date"], 12), (["request_date"], "2031-05-06"), (["request_date"], ""),
            (["subscriber"], nil), (["subscriber", "original_app_user_id"], .null),
            (["subscriber", "first_seen"], .null), (["subscriber", "subscriptions"], nil),
            (["subscriber", "non_subscriptions"], .null),
            (subscription + ["purchase_date"], nil),
            (subscription + ["original_purchase_date"], nil),
            (subscription + ["store"], nil), (subscription + ["is_sandbox"], .null),
            (subscription + ["period_type"], "promotional"),
            (subscription + ["ownership_type"], .null),
            (subscription + ["ownership_type"], "UNKNOWN"),
            (subscription + ["product_plan_identifier"], .null),
            (subscription + ["store_transaction_id"], 7), (subscription + ["expires_date"], ""),
            (subscription + ["price"], ["amount": "4.99", "currency": "EUR"]),
            (entitlement + ["product_identifier"], "other"), (entitlement + ["purchase_date"], nil),
            (entitlement + ["product_plan_identifier"], .null),
            (purchase + ["id"], nil), (purchase + ["store_transaction_id"], .null),
            (purchase + ["is_sandbox"], nil), (purchase + ["display_name"], .null),
            (purchase + ["original_purchase_date"], .null),
        ] as [([String], JSONValue?)]
    )
    func `it refuses a trap of either platform`(path: [String], value: JSONValue?) {
        #expect(throws: UnionChecker.Refusal.self, "\(path)") {
            try UnionChecker(Self.body(path, value))
        }
    }

    @Test func `a duplicate key is refused`() {
        let text = #"{"request_date":"2031-05-06T10:00:00Z","request_date":"2031-05-06T10:00:00Z"}"#
        #expect(throws: UnionChecker.Refusal.self) { try UnionChecker(Array(text.utf8)) }
    }

    @Test func `after three days the clock of the device decides`() throws {
        let checker = try UnionChecker(JSONValue.object(SDKBody.whole).encoded())
        let asked = checker.requestDate
        let later = asked + .days(3)
        for platform in [UnionChecker.Platform.ios, .android] {
            #expect(checker.reference(on: platform, deviceNow: later) == asked)
            #expect(
                checker.reference(on: platform, deviceNow: later + .seconds(1))
                    == later + .seconds(1)
            )
        }
        #expect(!checker.isActive("premium", on: .ios, deviceNow: asked + .days(30)))
    }
}

/// A customer info with a subscription, a one-time purchase and an entitlement.
enum SDKBody {
    static let whole: JSONObject = [
        "request_date": "2031-05-06T10:00:00Z", "request_date_ms": 1_935_828_000_000,
        "subscriber": [
            "original_app_user_id": "u_42", "first_seen": "2031-01-17T09:58:00Z",
            "subscriptions": [
                "pro": [
                    "purchase_date": "2031-04-17T10:00:00Z",
                    "original_purchase_date": "2031-01-17T10:00:00Z",
                    "expires_date": "2031-05-17T10:00:00Z", "store": "play_store",
                    "is_sandbox": false, "period_type": "normal", "ownership_type": "PURCHASED",
                    "product_plan_identifier": "monthly",
                ]
            ],
            "non_subscriptions": [
                "coins": [
                    [
                        "id": "1", "store_transaction_id": "2",
                        "purchase_date": "2031-04-17T10:00:00Z",
                        "original_purchase_date": "2031-04-17T10:00:00Z", "store": "play_store",
                        "is_sandbox": false,
                    ]
                ]
            ],
            "entitlements": [
                "premium": [
                    "product_identifier": "pro", "purchase_date": "2031-04-17T10:00:00Z",
                    "expires_date": "2031-05-17T10:00:00Z", "product_plan_identifier": "monthly",
                ]
            ],
        ],
    ]

    /// Returns a value with the member at a path replaced, or removed for nil.
    static func replacing(
        _ path: ArraySlice<String>,
        of value: JSONValue,
        with replacement: JSONValue?
    ) -> JSONValue? {
        guard let name = path.first else { return replacement }
        if let list = value.array, let first = list.first {
            return .array([replacing(path.dropFirst(), of: first, with: replacement) ?? .null])
        }
        guard var object = value.object else { return value }
        object[name] = replacing(path.dropFirst(), of: object[name] ?? .null, with: replacement)
        return .object(object)
    }
}
