import Testing
import TideoverHTTP
import TideoverJSON
import TideoverUnionChecker

/// Tests each rule of the checker with exchanges written from the protocol of the SDKs.
@Suite struct UnionCheckerRuleTests {
    private static let whole = JSONValue.object(SDKBody.whole)

    private static func body(_ path: [String], _ value: JSONValue?) -> JSONValue {
        SDKBody.replacing(path[...], of: whole, with: value) ?? .null
    }

    /// Returns a request and its answer, which states the request time of ``SDKBody``.
    private static func exchange(
        _ target: String = "GET /v1/subscribers/u_42",
        sent: JSONValue? = nil,
        with requestHeaders: Headers = ["Authorization": "Bearer appl_example"],
        status: Int = 200,
        headers: [(name: String, value: String?)] = [],
        _ answer: JSONValue? = whole
    ) -> UnionChecker.Exchange {
        let parts = target.split(separator: " ").map(String.init)
        var answered: Headers = [
            "Content-Type": "application/json", "X-RevenueCat-Request-Time": "1935828000000",
        ]
        for header in headers { answered[header.name] = header.value }
        return UnionChecker.Exchange(
            Request(
                method: parts[0],
                path: parts[1],
                headers: requestHeaders,
                body: sent?.encoded() ?? []
            ),
            Response(status: status, headers: answered, body: answer?.encoded() ?? [])
        )
    }

    // MARK: Header fields

    private static let tag = "X-RevenueCat-ETag"
    private static let signature = "X-Signature"

    /// Returns the base64 of a signature's bytes, with the expiry of its intermediate key.
    private static func signatureText(expiry: UInt8 = 1, count: Int = 180) -> String {
        var bytes = [UInt8](repeating: 0, count: count)
        bytes[35] = expiry
        return Base64.encodeString(bytes, .standard)
    }

    private static let headerCases: [(UnionChecker.Exchange, [String])] = [
        (exchange(), []),
        (exchange(headers: [(signature, signatureText())]), []),
        (exchange(headers: [(tag, "abc")]), []),
        (exchange(headers: [("Content-Type", nil)]), ["Content-Type"]),
        (exchange(headers: [("Content-Type", "text/html")]), ["Content-Type"]),
        (
            exchange(headers: [("X-RevenueCat-Request-Time", nil)]),
            ["X-RevenueCat-Request-Time"]
        ),
        (
            exchange(headers: [("X-RevenueCat-Request-Time", "1935828000.5")]),
            ["X-RevenueCat-Request-Time"]
        ),
        (
            exchange(headers: [("X-RevenueCat-Request-Time", "1935828001000")]),
            ["X-RevenueCat-Request-Time"]
        ),
        (exchange(headers: [(signature, "***")]), [signature]),
        (exchange(headers: [(signature, signatureText(count: 179))]), [signature]),
        (exchange(headers: [(signature, signatureText(expiry: 0))]), [signature]),
        (exchange("POST /v1/subscribers/identify", headers: [(tag, "abc")]), [tag]),
    ]

    @Test(arguments: headerCases)
    func `header fields that an SDK fails on are refused`(
        exchange: UnionChecker.Exchange,
        places: [String]
    ) {
        #expect(exchange.refusals.map(\.place) == places)
    }

    @Test func `a 304 repeats the tag that was sent, and has no body`() {
        func places(_ sent: String?, _ answered: String?, _ body: JSONValue? = nil) -> [String] {
            var request: Headers = [:]
            request[Self.tag] = sent
            let headers = [(name: Self.tag, value: answered)]
            return Self.exchange(with: request, status: 304, headers: headers, body)
                .refusals.map(\.place)
        }
        #expect(places("abc", "abc") == [])
        #expect(places("abc", nil) == [Self.tag])
        #expect(places("abc", "abd") == [Self.tag])
        #expect(places(nil, "abc") == [Self.tag])
        #expect(places("abc", "abc", Self.whole) == ["body"])
    }

    // MARK: Errors

    private static func failure(_ code: JSONValue, _ message: JSONValue = "No.") -> JSONValue {
        ["code": code, "message": message]
    }

    private static let errorCases: [(String, Int, JSONValue, [String])] = [
        ("GET /v1/subscribers/u_42", 404, failure(7259), []),
        ("GET /v1/subscribers/u_42", 302, failure(7259), ["status"]),
        ("GET /v1/subscribers/u_42", 404, failure("7259"), ["code"]),
        ("GET /v1/subscribers/u_42", 404, failure(7259, nil), ["message"]),
        ("GET /v1/subscribers/u_42", 404, ["message": "No."], ["code"]),
        ("GET /v1/subscribers/u_42", 404, [], ["body"]),
        (
            "POST /v1/subscribers/u_42/attributes", 400,
            ["code": 7263, "message": "No.", "attribute_errors": [["key_name": "$email"]]],
            ["attribute_errors[0].message"]
        ),
        // A device finishes its purchase after any 4xx.
        ("POST /v1/receipts", 400, failure(7103), []),
        ("POST /v1/receipts", 400, failure(7110), ["status"]),
        ("POST /v1/receipts", 429, failure(7103), ["status"]),
        ("POST /v1/receipts", 503, failure(7110), []),
    ]

    @Test(arguments: errorCases)
    func `an error has a number, a message, and the right status`(
        target: String,
        status: Int,
        body: JSONValue,
        places: [String]
    ) {
        let found = Self.exchange(target, status: status, body).refusals
        #expect(found.map(\.place) == places)
    }

    @Test func `an error on a request names the attributes that were not stored`() throws {
        let one: JSONValue = [["key_name": "$email", "message": "malformed"]]
        let body: JSONValue = [
            "code": 7263, "message": "No.", "attribute_errors": one,
            "attributes_error_response": [
                "attribute_errors": [["key_name": "age", "message": "too long"]]
            ],
        ]
        let failure = try UnionChecker.Failure(body.encoded())
        #expect(failure.code == 7263)
        #expect(failure.attributeErrors == ["$email": "malformed", "age": "too long"])
    }

    @Test func `an error has no signature`() {
        let headers = [(name: Self.signature, value: Self.signatureText() as String?)]
        let answer = Self.exchange(status: 404, headers: headers, Self.failure(7259))
        #expect(answer.refusals.map(\.place) == [Self.signature])
    }

    // MARK: Receipts

    private static let android: Headers = ["Authorization": "Bearer goog_example"]

    private static func receipt(
        _ sent: JSONObject,
        with headers: Headers = ["Authorization": "Bearer appl_example"],
        status: Int = 200,
        consumes: [String] = [],
        _ answer: JSONValue = whole
    ) -> UnionChecker.Exchange {
        var answer = answer
        if var object = answer.object, !consumes.isEmpty {
            var products = JSONObject()
            for product in consumes { products[product] = ["should_consume": true] }
            object["purchased_products"] = .object(products)
            answer = .object(object)
        }
        return exchange(
            "POST /v1/receipts",
            sent: .object(sent),
            with: headers,
            status: status,
            answer
        )
    }

    private static let outcomes:
        [(UnionChecker.Exchange, UnionChecker.ReceiptOutcome?, places: [String])] = [
            (exchange(), nil, []),
            // iOS finds a one-time purchase by its transaction, Android by its product.
            (
                receipt(["product_id": "coins", "transaction_id": "2"], consumes: ["coins"]),
                .finished, []
            ),
            (
                receipt(["product_id": "coins", "transaction_id": "3"], consumes: ["coins"]),
                .kept, ["non_subscriptions.coins"]
            ),
            (
                receipt(["product_id": "pro", "transaction_id": "3"], consumes: ["pro"]),
                .finished, []
            ),
            (
                receipt(["product_ids": ["coins"]], with: android, consumes: ["coins"]),
                .finished, []
            ),
            (
                receipt(["product_ids": ["coins"]], with: android), .finished,
                ["purchased_products.coins.should_consume"]
            ),
            (
                receipt(["product_ids": ["gems"]], with: android, consumes: ["gems"]), .finished,
                ["non_subscriptions.gems"]
            ),
            (receipt(["product_id": "coins"], ["request_date": "today"]), .kept, ["request_date"]),
            // Only a 5xx keeps a purchase, or on Android the number of an unserved store.
            (receipt([:], status: 400, failure(7103)), .finished, []),
            (receipt([:], status: 400, failure(7662)), .finished, []),
            (receipt([:], with: android, status: 400, failure(7662)), .kept, []),
            (receipt([:], with: android, status: 400, failure(7103)), .finished, []),
            (receipt([:], status: 503, failure(7110)), .kept, []),
        ]

    @Test(arguments: outcomes)
    func `the answer to a receipt decides whether its purchase is posted again`(
        exchange: UnionChecker.Exchange,
        outcome: UnionChecker.ReceiptOutcome?,
        places: [String]
    ) {
        #expect(exchange.receiptOutcome == outcome)
        #expect(exchange.refusals.map(\.place) == places)
    }

    @Test func `the platform comes from its header field, else from the key`() {
        func platform(_ headers: Headers) -> UnionChecker.Platform {
            Self.exchange(with: headers).platform
        }
        #expect(platform(Self.android) == .android)
        #expect(platform(["Authorization": "Bearer amzn_example"]) == .android)
        #expect(platform(["Authorization": "Bearer appl_example"]) == .ios)
        #expect(platform(["X-Platform": "iOS", "Authorization": "Bearer goog_example"]) == .ios)
        #expect(platform(["X-Platform": "android"]) == .android)
        #expect(platform(["X-Platform": "web"]) == .web)
        #expect(platform([:]) == .ios)
    }

    // MARK: Offerings and mapping

    private static let offerings: JSONObject = [
        "current_offering_id": "default",
        "offerings": [
            [
                "identifier": "default", "description": "Standard", "metadata": nil,
                "packages": [
                    [
                        "identifier": "$rc_monthly", "platform_product_identifier": "pro",
                        "platform_product_plan_identifier": "monthly",
                    ]
                ],
            ]
        ],
        "placements": [
            "fallback_offering_id": nil, "offering_ids_by_placement": ["home": "default"],
        ],
        "targeting": ["revision": 1, "rule_id": "rule"],
    ]

    @Test func `offerings are read as the SDKs use them`() throws {
        let read = try UnionChecker.Offerings(JSONValue.object(Self.offerings).encoded())
        #expect(read.current == "default")
        #expect(read.offerings.map(\.identifier) == ["default"])
        let package = try #require(read.offerings.first?.packages.first)
        #expect(package.identifier == "$rc_monthly")
        #expect(package.product == "pro")
        #expect(package.plan == "monthly")
    }

    @Test(
        arguments: [
            (["current_offering_id"], .null), (["offerings"], [:]),
            (["offerings", "0", "description"], nil), (["offerings", "0", "metadata"], "x"),
            (["offerings", "0", "packages"], nil),
            (["offerings", "0", "packages", "0", "platform_product_plan_identifier"], .null),
            (["placements", "offering_ids_by_placement"], nil),
            (["placements", "offering_ids_by_placement", "home"], 1),
            (["targeting", "rule_id"], .null), (["targeting", "revision"], "1"),
            (["web_checkout_url"], .null),
        ] as [([String], JSONValue?)]
    )
    func `offerings that an SDK fails on are refused`(path: [String], value: JSONValue?) throws {
        let spoiled = try #require(
            SDKBody.replacing(path[...], of: .object(Self.offerings), with: value)
        )
        let found = Self.exchange("GET /v1/subscribers/u_42/offerings", spoiled).refusals
        #expect(found.count == 1)
        #expect(found.first?.place.hasSuffix(path.last ?? "") == true)
    }

    private static func mapping(_ entries: [(String, String, plan: String?)]) -> JSONValue {
        let object = entries.reduce(into: JSONObject()) { object, entry in
            object[entry.0] = [
                "product_identifier": .string(entry.1), "entitlements": ["premium"],
                "base_plan_id": entry.plan.map(JSONValue.string) ?? .null,
            ]
        }
        return ["product_entitlement_mapping": .object(object)]
    }

    @Test func `Android maps the bare product, iOS the product with its plan`() throws {
        let body = Self.mapping([("pro", "pro", nil), ("pro:yearly", "pro", "yearly")])
        #expect(Self.exchange("GET /v1/product_entitlement_mapping", body).refusals == [])
        let mapping = try UnionChecker.Mapping(body.encoded())
        #expect(mapping.entitlements(of: "pro", on: .android) == ["premium"])
        #expect(mapping.entitlements(of: "pro", plan: "yearly", on: .ios) == ["premium"])
        #expect(mapping.entitlements(of: "pro", plan: "weekly", on: .ios) == nil)
        #expect(mapping.entitlements(of: "other", on: .android) == nil)
    }

    @Test func `a mapping with an entry that an SDK does not find is refused`() {
        let spoiled = [
            Self.mapping([("other", "pro", nil)]),
            Self.mapping([("pro:monthly", "pro", "yearly")]),
            Self.mapping([("pro:yearly", "pro", "yearly")]),
            Self.mapping([("pro", "pro", "yearly"), ("pro:yearly", "pro", "yearly")]),
            ["product_entitlement_mapping": ["pro": ["product_identifier": "pro"]]], [:],
        ]
        for body in spoiled {
            let found = Self.exchange("GET /v1/product_entitlement_mapping", body).refusals
            #expect(found.count == 1, "\(body)")
        }
    }

    // MARK: Conclusions

    private func conclusions(_ body: JSONValue, _ platform: UnionChecker.Platform) throws
        -> JSONValue
    {
        try UnionChecker(decoding: body.encoded()).conclusions(on: platform)
    }

    private func premium(
        _ isActive: Bool,
        renews: Bool,
        until end: JSONValue,
        of product: String = "pro",
        _ period: String,
        _ ownership: String
    ) -> JSONValue {
        [
            "premium": [
                "isActive": .bool(isActive), "willRenew": .bool(renews), "expirationDate": end,
                "product": .string(product), "period": .string(period),
                "ownership": .string(ownership),
            ]
        ]
    }

    @Test func `a running subscription is active and renews on both platforms`() throws {
        let end: JSONValue = "2031-05-17T10:00:00Z"
        #expect(
            try conclusions(Self.whole, .ios) == [
                "decode": "ok", "activeSubscriptions": ["pro:monthly"],
                "entitlements": premium(true, renews: true, until: end, "normal", "purchased"),
                "subscriptionInfos": ["pro": "active=true renew=true"],
            ]
        )
        #expect(
            try conclusions(Self.whole, .android) == [
                "decode": "ok", "activeSubscriptions": ["pro:monthly"],
                "entitlements": premium(true, renews: true, until: end, "NORMAL", "PURCHASED"),
                "subscriptionInfos": ["pro active=true renew=true"],
            ]
        )
    }

    @Test func `only iOS is active at the end itself, and a billing issue stops renewal`() throws {
        let end: JSONValue = "2031-05-06T10:00:00Z"
        var body = Self.body(["subscriber", "entitlements", "premium", "expires_date"], end)
        for (name, value) in [
            ("expires_date", end), ("billing_issues_detected_at", "2031-05-05T10:00:00.25Z"),
            ("ownership_type", "FAMILY_SHARED"), ("period_type", "trial"),
        ] {
            let path = ["subscriber", "subscriptions", "pro", name]
            body = try #require(SDKBody.replacing(path[...], of: body, with: value))
        }
        #expect(
            try conclusions(body, .ios) == [
                "decode": "ok", "activeSubscriptions": ["pro:monthly"],
                "entitlements": premium(true, renews: false, until: end, "trial", "familyShared"),
                "subscriptionInfos": ["pro": "active=true renew=false"],
            ]
        )
        #expect(
            try conclusions(body, .android) == [
                "decode": "ok", "activeSubscriptions": [],
                "entitlements": premium(false, renews: false, until: end, "TRIAL", "FAMILY_SHARED"),
                "subscriptionInfos": ["pro active=false renew=false"],
            ]
        )
        #expect(throws: UnionChecker.Refusal.self) { try UnionChecker(body.encoded()) }
    }

    @Test func `a one-time purchase lasts, and Android knows whether to consume it`() throws {
        let lasting: JSONValue = [
            "product_identifier": "coins", "purchase_date": "2031-04-17T10:00:00Z",
            "expires_date": nil,
        ]
        var body = Self.body(["subscriber", "entitlements", "premium"], lasting)
        let path = ["subscriber", "subscriptions"]
        body = try #require(SDKBody.replacing(path[...], of: body, with: [:]))
        var object = try #require(body.object)
        object["purchased_products"] = ["coins": ["should_consume": false]]
        body = .object(object)
        let bought = premium(true, renews: false, until: nil, of: "coins", "normal", "purchased")
        #expect(
            try conclusions(body, .ios) == [
                "decode": "ok", "activeSubscriptions": [], "entitlements": bought,
                "subscriptionInfos": [:],
            ]
        )
        #expect(
            try conclusions(body, .android) == [
                "decode": "ok", "activeSubscriptions": [], "subscriptionInfos": [],
                "entitlements": premium(
                    true,
                    renews: false,
                    until: nil,
                    of: "coins",
                    "NORMAL",
                    "UNKNOWN"
                ), "shouldConsume": "[coins=false]",
            ]
        )
    }

    // MARK: Traps

    @Test(
        arguments: [
            (["subscriptions", "pro", "refunded_at"], "2031-05-01T10:00:00Z", "subscriptions.pro"),
            (
                ["subscriptions", "pro", "expires_date"], "2031-05-06T10:00:00Z",
                "subscriptions.pro"
            ),
            (["entitlements", "premium", "product_identifier"], "coin", "entitlements.premium"),
            (
                ["entitlements", "premium", "product_plan_identifier"], "yearly",
                "entitlements.premium"
            ),
            (
                ["entitlements", "premium", "expires_date"], "2031-05-06T10:00:00Z",
                "entitlements.premium"
            ),
            (
                ["entitlements", "premium", "grace_period_expires_date"], "2031-05-20T10:00:00Z",
                nil
            ),
        ] as [([String], JSONValue, String?)]
    )
    func `an answer that misleads an app is refused at its place`(
        path: [String],
        value: JSONValue,
        place: String?
    ) throws {
        let body = Self.body(["subscriber"] + path, value)
        let traps = try UnionChecker(decoding: body.encoded()).traps()
        #expect(traps.map(\.place) == [place].compactMap(\.self))
    }

    @Test func `grace after the end of an entitlement, and a second date, are refused`() throws {
        let premium = ["subscriber", "entitlements", "premium"]
        var body = Self.body(premium + ["expires_date"], "2031-05-01T10:00:00Z")
        let path = premium + ["grace_period_expires_date"]
        body = try #require(
            SDKBody.replacing(path[...], of: body, with: "2031-05-20T10:00:00Z")
        )
        let traps = try UnionChecker(decoding: body.encoded()).traps()
        #expect(traps.map(\.fault) == ["inactive in grace"])
        let other = Self.body(["request_date_ms"], 1_935_828_001_000)
        let dates = try UnionChecker(decoding: other.encoded()).traps()
        #expect(dates.map(\.place) == ["request_date_ms"])
    }
}
