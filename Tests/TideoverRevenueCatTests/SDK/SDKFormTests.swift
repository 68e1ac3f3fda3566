import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverRevenueCat

/// Tests the other bodies of the SDKs' protocol: offerings, mapping, errors, requests, headers.
@Suite struct SDKFormTests {
    private static let catalogue = Catalogue(products: [
        "cards_pro:monthly": Product(entitlements: ["premium"], store: .googlePlay),
        "cards_pro:yearly": Product(entitlements: ["premium"], store: .googlePlay),
        "pro_lifetime": Product(entitlements: ["premium"], kind: .nonConsumable),
        "cards.pro.monthly": Product(entitlements: ["premium"], store: .appStore),
        "coins": Product(entitlements: [], kind: .consumable),
    ])

    private func written(_ write: (inout JSONWriter) -> Void) throws -> JSONValue {
        var writer = JSONWriter()
        writer.object(write)
        return JSONValue(try JSONDocument(writer.bytes).root)
    }

    @Test func `Android finds a base plan under the bare product`() throws {
        let mapping = try written(SDKCatalogue(Self.catalogue, in: .googlePlay).writeMapping)
        let expected: JSONValue = [
            "product_entitlement_mapping": [
                "cards_pro": [
                    "product_identifier": "cards_pro", "base_plan_id": "monthly",
                    "entitlements": ["premium"],
                ],
                "cards_pro:yearly": [
                    "product_identifier": "cards_pro", "base_plan_id": "yearly",
                    "entitlements": ["premium"],
                ],
                "pro_lifetime": [
                    "product_identifier": "pro_lifetime", "entitlements": ["premium"],
                ],
            ]
        ]
        #expect(mapping == expected)
    }

    @Test func `the App Store's mapping has its products alone`() throws {
        let mapping = try written(SDKCatalogue(Self.catalogue, in: .appStore).writeMapping)
        let keys = mapping["product_entitlement_mapping"]?.object?.map(\.key)
        #expect(keys == ["cards.pro.monthly", "pro_lifetime"])
    }

    @Test func `only a consumable is consumed`() throws {
        let products = ["coins", "pro_lifetime", "other", "coins"]
        let flags = try written {
            SDKCatalogue(Self.catalogue, in: .googlePlay).writeConsumption(of: products, to: &$0)
        }
        let expected: JSONValue = [
            "purchased_products": [
                "coins": ["should_consume": true], "pro_lifetime": ["should_consume": false],
                "other": ["should_consume": false],
            ]
        ]
        #expect(flags == expected)
    }

    private static let offerings = SDKOfferings(
        current: "default",
        offerings: [
            .init(
                identifier: "default",
                description: "Standard",
                packages: [
                    .init(
                        identifier: "$rc_monthly",
                        products: ["cards.pro.monthly", "cards_pro:monthly"]
                    ),
                    .init(identifier: "$rc_lifetime", products: ["pro_lifetime"]),
                ]
            ),
            .init(
                identifier: "android",
                description: "Android",
                packages: [.init(identifier: "$rc_annual", products: ["cards_pro:yearly"])]
            ),
        ]
    )

    @Test func `an offering has the products of the key's store`() throws {
        let play = try written {
            Self.offerings.writeMembers(to: &$0, in: .googlePlay, of: Self.catalogue)
        }
        #expect(play["current_offering_id"] == "default")
        let packages = play["offerings"]?.array?.first?["packages"]
        let expected: JSONValue = [
            [
                "identifier": "$rc_monthly", "platform_product_identifier": "cards_pro",
                "platform_product_plan_identifier": "monthly",
            ],
            ["identifier": "$rc_lifetime", "platform_product_identifier": "pro_lifetime"],
        ]
        #expect(packages == expected)
        let apple = try written {
            Self.offerings.writeMembers(to: &$0, in: .appStore, of: Self.catalogue)
        }
        #expect(apple["offerings"]?.array?.map { $0["identifier"] } == ["default"])
        let placements: JSONValue = [
            "fallback_offering_id": "default", "offering_ids_by_placement": [:],
        ]
        #expect(apple["placements"] == placements)
    }

    @Test func `a place in the app has its own offering if the store sells it`() throws {
        var offerings = Self.offerings
        offerings.placements = ["onboarding": "default", "settings": "not sold"]
        let apple = try written {
            offerings.writeMembers(to: &$0, in: .appStore, of: Self.catalogue)
        }
        #expect(
            apple["placements"]?["offering_ids_by_placement"] == ["onboarding": "default"]
        )
    }

    @Test func `without offerings the current one is empty text`() throws {
        let none = try written {
            SDKOfferings().writeMembers(to: &$0, in: .appStore, of: Self.catalogue)
        }
        #expect(none == ["current_offering_id": "", "offerings": []])
    }

    // MARK: Errors

    @Test(
        arguments: [
            (.invalidKey, 401, 7225), (.invalidReceipt("forged"), 400, 7103),
            (.alreadyOwned, 400, 7102), (.tryLater("down"), 503, 7110),
            (.notOffered("none"), 404, 7259), (.storeNotServed, 400, 7662),
            (.noOfferKey, 400, 7234), (.unknownRedemption, 400, 7849),
            (.invalidUserID, 400, 7256), (.badRequest("not JSON"), 400, 7226),
            (.reservedUserID, 400, 7256),
            (.emptyUserID, 400, 7220), (.aliasRefused, 400, 7255), (.noAttributes, 400, 7264),
            (.tooManyRequests(retryAfter: 20), 429, 7110),
        ] as [(SDKError, Int, Int)]
    )
    func `an error has its number and a JSON body`(
        error: SDKError,
        status: Int,
        code: Int
    ) throws {
        let now = Instant(millisecondsSince1970: 1_935_828_000_123)
        let response = SDKResponse(at: now).error(error)
        #expect(response.status == status)
        #expect(response.headers["Content-Type"] == "application/json")
        #expect(response.headers[SDKResponse.timeHeader] == "1935828000123")
        let body = try JSONDocument(response.body).root
        #expect(body["code"]?.int64 == Int64(code))
        #expect(body["message"]?.string?.isEmpty == false)
    }

    // MARK: Requests

    private static func receipt(_ members: JSONObject) -> [UInt8] {
        var body: JSONObject = ["app_user_id": "u_42", "other": ["of": [1]]]
        for (name, value) in members { body[name] = value }
        return JSONValue.object(body).encoded()
    }

    @Test(
        arguments: [
            (["is_restore": true], true, true), (["is_restore": false], false, false),
            (["initiation_source": "restore"], true, true),
            (["is_restore": true, "initiation_source": "restore"], true, true),
            (["is_restore": true, "initiation_source": "purchase"], true, false),
            (["is_restore": "yes"], false, false), ([:], false, false),
        ] as [(JSONObject, Bool, Bool)]
    )
    func `a restore wants the whole account, a purchase that may restore does not`(
        members: JSONObject,
        isRestore: Bool,
        wantsWholeAccount: Bool
    ) throws {
        var members = members
        members["fetch_token"] = "a.b.c"
        let receipt = try SDKReceipt(Self.receipt(members), from: .appStore)
        #expect(receipt.isRestore == isRestore)
        #expect(receipt.wantsWholeAccount == wantsWholeAccount)
    }

    @Test(arguments: ["4.99", 4.99] as [JSONValue])
    func `a receipt is read with its price as text or as a number`(price: JSONValue) throws {
        let body = Self.receipt([
            "fetch_token": "a.b.c", "product_id": "cards.pro.monthly", "price": price,
            "is_restore": true,
        ])
        let receipt = try SDKReceipt(body, from: .appStore)
        #expect(receipt.evidence == .transaction("a.b.c"))
        #expect(receipt.products == ["cards.pro.monthly"])
        #expect(receipt.isRestore)
    }

    @Test func `a purchase of Google Play names its products and its base plan`() throws {
        let body = Self.receipt([
            "fetch_token": "token.A-1", "product_ids": ["cards_pro", "cards_extra"],
            "platform_product_ids": [["product_id": "cards_pro", "base_plan_id": "monthly"]],
        ])
        let receipt = try SDKReceipt(body, from: .googlePlay)
        #expect(receipt.evidence == .purchaseToken("token.A-1"))
        #expect(receipt.products == ["cards_pro", "cards_extra"])
        #expect(receipt.basePlan == "monthly")
    }

    @Test func `the forms of Apple's evidence differ by the two dots of a signed one`() throws {
        let old = try SDKReceipt(Self.receipt(["fetch_token": "MIIB"]), from: .appStore)
        #expect(old.evidence == .receipt("MIIB"))
        let none = try SDKReceipt(Self.receipt(["app_transaction": "a.b.c"]), from: .appStore)
        #expect(none.evidence == .nothing)
        for token in ["not-a-jws", ""] {
            let error = #expect(throws: SDKError.self) {
                try SDKReceipt(Self.receipt(["fetch_token": .string(token)]), from: .appStore)
            }
            #expect(error?.code == 7103)
        }
    }

    @Test(arguments: [
        (#"{"fetch_token": "a.b.c"}"#, 7226),
        (#"{"app_user_id": "", "fetch_token": "a.b.c"}"#, 7220),
    ])
    func `a malformed receipt is a bad request`(body: String, code: Int) {
        let error = #expect(throws: SDKError.self) {
            try SDKReceipt(Array(body.utf8), from: .appStore)
        }
        #expect(error?.code == code)
        #expect(error?.status == 400)
    }

    /// A name with many marks on a letter is an attribute that strict JSON does not have.
    @Test(arguments: [
        "[]", "{", #"{"a": 1, "a": 2}"#,
        #"{"app_user_id": "u_42", "fetch_token": "a.b.c", "attributes": {"$displayName": "#
            + #"{"value": "Z\#(String(repeating: "\u{301}", count: 40))", "updated_at_ms": 1}}}"#,
    ])
    func `the device keeps a receipt that is not read`(body: String) {
        let error = #expect(throws: SDKError.self) {
            try SDKReceipt(Array(body.utf8), from: .appStore)
        }
        #expect(error?.code == 7110)
        #expect(error?.status == 503)
    }

    @Test func `a receipt of Xcode's test store is not read`() throws {
        let collected = #"{"environment":"xcode","bundle_id":"com.example","transactions":[]}"#
        let token = Base64.encodeString(Array(collected.utf8), .standard)
        let error = #expect(throws: SDKError.self) {
            try SDKReceipt(Self.receipt(["fetch_token": .string(token)]), from: .appStore)
        }
        #expect(error?.status == 503)
        #expect(error?.message.contains("Xcode's test store") == true)
    }

    @Test func `a large receipt is read`() throws {
        let token = String(repeating: "QUJD", count: 500_000)
        let receipt = try SDKReceipt(
            Self.receipt(["fetch_token": .string(token)]),
            from: .appStore
        )
        #expect(receipt.evidence == .receipt(token))
    }

    @Test func `only the SDK's own ids are anonymous`() throws {
        let hex = String(repeating: "0f", count: 16)
        #expect(try SDKUserID("$RCAnonymousID:\(hex)").isAnonymous)
        for text in ["u_42", "$RCAnonymousID:", "$RCAnonymousID:\(hex)0", "$RCAnonymousID:xyz"] {
            #expect(try !SDKUserID(text).isAnonymous, "\(text)")
        }
        for text in ["a\u{0}", String(repeating: "x", count: 101)] {
            #expect(throws: SDKError.invalidUserID) { try SDKUserID(text) }
        }
    }

    @Test(arguments: ["null", "undefined", "(null)", "guest", "0", "[object Object]"])
    func `an id that names no customer is refused, and its purchase is kept`(id: String) throws {
        let refusal = SDKError.reservedUserID
        #expect(throws: refusal) { try SDKUserID(id) }
        // A device finishes its purchase after a 4xx.
        let receipt = Self.receipt(["app_user_id": .string(id), "fetch_token": "a.b.c"])
        #expect(throws: SDKError.tryLater(refusal.message)) {
            try SDKReceipt(receipt, from: .appStore)
        }
        let into: JSONValue = ["app_user_id": "u_42", "new_app_user_id": .string(id)]
        #expect(throws: refusal) { try SDKIdentification(into.encoded()) }
        let outOf: JSONValue = ["app_user_id": .string(id), "new_app_user_id": "u_42"]
        #expect(try SDKIdentification(outOf.encoded()).former.customer == CustomerID(id))
    }

    @Test func `an empty attribute deletes, and a malformed one is named`() throws {
        let good =
            #"{"attributes": {"$email": {"value": "a@b.c", "updated_at_ms": 5}, "#
            + #""x": {"value": "", "updated_at_ms": 6}}}"#
        let attributes = try SDKAttributes(Array(good.utf8))
        #expect(attributes.values["$email"]?.text == "a@b.c")
        #expect(attributes.values["x"]?.text == nil)
        let bad =
            #"{"attributes": {"$email": {"value": "no address", "updated_at_ms": 5}, "#
            + #""x": {"value": "1"}}}"#
        let faults = try SDKAttributes(Array(bad.utf8)).faults
        #expect(faults["$email"] == "Not an email address.")
        let error = SDKError.invalidAttributes(faults)
        let response = SDKResponse(at: .day("2026-05-06")).error(error)
        let body = try JSONDocument(response.body).root
        #expect(body["attribute_errors"]?[1]?["key_name"]?.string == "x")
        #expect(throws: SDKError.self) { try SDKAttributes(Array(#"{"attributes": 1}"#.utf8)) }
    }

    @Test func `identification names both ids`() throws {
        let body = #"{"app_user_id": "a", "new_app_user_id": "b"}"#
        let identification = try SDKIdentification(Array(body.utf8))
        #expect(identification.former.customer.text == "a")
        #expect(identification.new.customer.text == "b")
    }

    // MARK: Tags

    @Test(arguments: [("", 200), ("9a03", 304), ("other", 200)])
    func `a tag is honoured and repeated`(sent: String, status: Int) {
        let request = Request(
            path: "/v1/subscribers/u_42",
            headers: [SDKResponse.tagHeader: sent]
        )
        let response = SDKResponse(at: .day("2026-05-06")).tagged(request, tag: "9a03") { _ in }
        #expect(response.status == status)
        #expect(response.headers[SDKResponse.tagHeader] == "9a03")
        #expect(response.headers[SDKResponse.timeHeader] != nil)
        #expect(response.body.isEmpty == (status == 304))
    }
}
