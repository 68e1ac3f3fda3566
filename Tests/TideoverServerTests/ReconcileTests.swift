import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer

@testable import TideoverTestServer

/// The evidence that devices present, and its ownership.
@Suite struct ReconcileTests {
    private static let lapse = Message.end + .days(2)

    // MARK: Requests

    /// Returns a transaction as devices have it, without an owner unless a customer is named.
    private func transaction(
        _ id: String = "2000000000000001",
        token: String? = nil,
        signed: Instant = Message.start
    ) -> JSONObject {
        var transaction = Message.transaction(signed: signed)
        transaction["originalTransactionId"] = .string(id)
        transaction["transactionId"] = .string(id)
        transaction["webOrderLineItemId"] = .string("9\(id)")
        transaction["appAccountToken"] = token.map(JSONValue.string)
        return transaction
    }

    private func reconcile(
        _ server: TestServer,
        _ customer: String = "u_42",
        _ evidence: JSONObject
    ) async throws -> (status: Int, answer: JSONValue) {
        let response = try await server.send(
            "POST",
            "/v1/apps/cards/customers/\(customer)/reconcile",
            body: JSONValue.object(evidence).encoded()
        )
        return (response.status, JSONValue(try JSONDocument(response.body).root))
    }

    private func present(
        _ server: TestServer,
        _ customer: String = "u_42",
        _ transactions: JSONObject...
    ) async throws -> JSONValue {
        let signed = try transactions.map { JSONValue.string(try server.store.sign($0)) }
        let (status, answer) = try await reconcile(
            server,
            customer,
            ["transactions": .array(signed)]
        )
        #expect(status == 200)
        return answer
    }

    /// Returns `verdict ownership-or-reason` of each piece.
    private func items(_ answer: JSONValue) -> [String] {
        (answer["items"]?.elements ?? []).map { item in
            [item["verdict"], item["ownership"] ?? item["reason"]]
                .compactMap { $0?.string }.joined(separator: " ")
        }
    }

    private func state(_ answer: JSONValue) -> String? {
        answer["entitlements"]?["premium"]?["state"]?.string
    }

    // MARK: Evidence

    @Test func `an unclaimed purchase belongs to the customer who presents it`() async throws {
        let server = try TestServer()
        #expect(try await server.premium("u_42") == "never unknown none")
        let answer = try await present(server, "u_42", transaction())
        #expect(items(answer) == ["accepted claimed"])
        #expect(state(answer) == "active")
        #expect(answer["environment"]?.string == "sandbox")
        #expect(try await server.premium("u_42") == "active paid access")
        await server.close()
    }

    @Test func `repeated evidence changes nothing`() async throws {
        let server = try TestServer()
        let first = try await present(server, "u_42", transaction())
        let again = try await present(server, "u_42", transaction())
        #expect(items(again) == ["accepted held"])
        #expect(again["items"]?.elements?.first?["isKnown"]?.bool == true)
        #expect(again["customerVersion"] == first["customerVersion"])
        #expect(again["entitlements"] == first["entitlements"])
        await server.close()
    }

    @Test(
        arguments: [
            (#"{"transaction": []}"#, "transaction", "`transactions`"),
            (#"{"transactions": [], "purchaseTokn": "a"}"#, "purchaseTokn", "The members are"),
            (#"{"nothng": true}"#, "nothng", "`nothing`"),
            (#"{"device": {"entitlement": {}}}"#, "device.entitlement", "`entitlements`"),
            (
                #"{"device": {"entitlements": {"premium": {"access": true, "untl": null}}}}"#,
                "device.entitlements.premium.untl", "`until`"
            ),
        ]
    )
    func `a misspelt member is rejected, and nothing is stored`(
        body: String,
        found: String,
        detail: String
    ) async throws {
        let server = try TestServer()
        let response = try await server.send(
            "POST",
            "/v1/apps/cards/customers/u_42/reconcile?environment=sandbox",
            body: Array(body.utf8)
        )
        #expect(response.status == 400)
        let problem = try JSONDocument(response.body).root
        #expect(problem["type"]?.string == "/problems/unknown-member")
        #expect(problem["found"]?.string == found)
        #expect(problem["detail"]?.string?.contains(detail) == true)
        #expect(try await server.premium("u_42") == "never unknown none")
        await server.close()
    }

    @Test func `a purchase object can have any members but needs the signed data`() async throws {
        let server = try TestServer()
        let signed = try server.store.sign(transaction())
        let (status, answer) = try await reconcile(
            server,
            "u_42",
            [
                "purchases": [
                    [
                        "store": "apple", "purchaseToken": .string(signed), "newInVersion9": true,
                        "purchaseTokens": [],
                    ],
                    ["store": "apple", "purchaseTokn": .string(signed)],
                    ["store": "apple", "quantity": 1],
                ]
            ]
        )
        #expect(status == 200)
        #expect(
            items(answer) == [
                "accepted claimed", "refused unknown-member", "refused not-signed",
            ]
        )
        let second = answer["items"]?.array?[1]
        #expect(second?["detail"]?.string?.contains("`purchaseToken`") == true)
        await server.close()
    }

    @Test func `an invalid item is rejected, and the others are accepted`() async throws {
        let server = try TestServer()
        let good = try server.store.sign(transaction())
        let forged = try server.store.sign(transaction("2"), defect: .unknownRoot)
        var other = transaction("3")
        other["bundleId"] = "com.example.other"
        let (status, answer) = try await reconcile(
            server,
            "u_42",
            [
                "transactions": [
                    .string(forged), .string(good), .string(try server.store.sign(other)), 7,
                    .string(try server.store.sign(Message.renewal())),
                ],
                "purchases": [
                    ["store": "google", "purchaseToken": "abc"],
                    ["store": "apple", "purchaseState": "pending", "purchaseToken": "abc"],
                    [
                        "store": "apple", "productId": "cards.pro.monthly",
                        "expirationDateIOS": 9e12,
                    ],
                    ["platform": "ios", "purchaseToken": "not a document"],
                ],
            ]
        )
        #expect(status == 200)
        #expect(
            items(answer) == [
                "refused untrusted-root", "accepted claimed", "refused wrong-bundle",
                "refused not-signed", "refused wrong-kind", "refused store-not-served",
                "refused purchase-pending", "refused not-signed", "refused not-compact-jws",
            ]
        )
        #expect(state(answer) == "active")
        await server.close()
    }

    static let storelessForms: [@Sendable (JSONValue) -> JSONObject] = [
        // react-native-iap 12 and 13.
        { signed in
            [
                "productId": "cards.pro.monthly", "transactionId": "1", "transactionReceipt": "",
                "purchaseToken": "", "originalTransactionIdentifierIOS": "1",
                "verificationResultIOS": signed,
            ]
        },
        { ["transactionReceipt": $0, "originalTransactionDateIOS": 1] },
        { ["jwsRepresentationIos": $0, "purchaseToken": .null] },
        { ["store": "unknown", "platform": "ios", "purchaseToken": $0] },
        { ["purchaseToken": $0] },
        // An active subscription of OpenIAP.
        { signed in
            [
                "productId": "cards.pro.monthly", "isActive": true, "transactionId": "1",
                "purchaseToken": signed, "expirationDateIOS": 1, "autoRenewingAndroid": .null,
                "environmentIOS": "Sandbox", "purchaseTokenAndroid": .null, "transactionDate": 1,
            ]
        },
    ]

    @Test(arguments: storelessForms.indices)
    func `a purchase object of the App Store is read without its store`(
        form: Int
    ) async throws {
        let server = try TestServer()
        let signed = JSONValue.string(try server.store.sign(transaction()))
        let purchase = Self.storelessForms[form](signed)
        let (_, answer) = try await reconcile(server, "u_42", ["purchases": [.object(purchase)]])
        #expect(items(answer) == ["accepted claimed"])
        #expect(state(answer) == "active")
        await server.close()
    }

    static let misdirected: [(evidence: JSONObject, item: String, words: String)] = [
        (["receipts": [transactionReceipt]], "refused transaction-receipt", "app receipt"),
        (["transactions": [transactionReceipt]], "refused transaction-receipt", "(JWS)"),
        (
            ["purchases": [["platform": "ios", "transactionReceipt": transactionReceipt]]],
            "refused transaction-receipt", "StoreKit 1 transaction receipt"
        ),
        (
            ["purchases": [["object": "subscription", "id": "sub1", "store": "app_store"]]],
            "refused revenuecat-api-v2", "API v1"
        ),
    ]

    private static let transactionReceipt = JSONValue.string(
        Base64.encodeString(
            Array("{\n\t\"pod\" = \"7\";\n\t\"purchase-info\" = \"e30=\";\n}".utf8),
            .standard
        )
    )

    @Test(arguments: misdirected)
    func `evidence of another kind is rejected with the correct member`(
        evidence: JSONObject,
        item: String,
        words: String
    ) async throws {
        let server = try TestServer()
        let (status, answer) = try await reconcile(server, "u_42", evidence)
        #expect(status == 200)
        #expect(items(answer) == [item])
        #expect(answer["items"]?.elements?.first?["detail"]?.string?.contains(words) == true)
        await server.close()
    }

    @Test func `a response of RevenueCat's API v2 is rejected`() async throws {
        let server = try TestServer()
        let (status, answer) = try await reconcile(
            server,
            "u_42",
            ["object": "customer", "id": "u_42"]
        )
        #expect(status == 400)
        #expect(answer["detail"]?.string?.contains("RevenueCat API v2") == true)
        await server.close()
    }

    @Test func `only the signed document of a purchase object is trusted`() async throws {
        let server = try TestServer()
        server.set(Self.lapse)
        let signed = try server.store.sign(transaction())
        let (_, answer) = try await reconcile(
            server,
            "u_42",
            [
                "purchases": [
                    [
                        "id": "1", "store": "apple", "purchaseToken": .string(signed),
                        "productId": "cards.pro.monthly", "expirationDateIOS": 4_102_444_800_000,
                        "purchaseState": "purchased", "isAutoRenewing": true,
                    ]
                ]
            ]
        )
        #expect(items(answer) == ["accepted claimed"])
        #expect(state(answer) == "expired")
        await server.close()
    }

    @Test func `a renewal info needs its purchase`() async throws {
        let server = try TestServer()
        let renewal = JSONValue.string(try server.store.sign(Message.renewal()))
        let alone = try await reconcile(server, "u_42", ["renewalInfos": [renewal]]).answer
        #expect(items(alone) == ["refused renewal-info-alone"])
        let both = try await reconcile(
            server,
            "u_42",
            [
                "transactions": [.string(try server.store.sign(transaction()))],
                "renewalInfos": [renewal],
            ]
        ).answer
        #expect(items(both) == ["accepted claimed", "accepted claimed"])
        #expect(both["entitlements"]?["premium"]?["willRenew"]?.bool == true)
        let later = try await reconcile(server, "u_42", ["renewalInfos": [renewal]]).answer
        #expect(items(later) == ["accepted held"])
        await server.close()
    }

    @Test(arguments: [false, true])
    func `a renewal info claims a purchase only with its transaction`(
        besideFamilyCopy: Bool
    ) async throws {
        let server = try TestServer()
        var message = Message.purchase()
        message.transaction?["appAccountToken"] = nil
        let bought = try #require(message.transaction)
        #expect(try await server.post(message).status == 200)
        var shared = bought
        shared["inAppOwnershipType"] = "FAMILY_SHARED"
        shared["transactionId"] = "2000000000000003"
        var evidence: JSONObject = [
            "renewalInfos": [.string(try server.store.sign(Message.renewal()))]
        ]
        if besideFamilyCopy {
            evidence["transactions"] = [.string(try server.store.sign(shared))]
        }
        let other = try await reconcile(server, "u_41", evidence).answer
        #expect(items(other) == (besideFamilyCopy ? ["accepted claimed"] : []) + ["accepted"])
        #expect(state(other) == (besideFamilyCopy ? "active" : "never"))
        let buyer = try await present(server, "u_42", bought)
        #expect(items(buyer) == ["accepted claimed"])
        #expect(state(buyer) == "active")
        await server.close()
    }

    @Test(arguments: [
        ("{", 400, "bad-reconcile-request"), ("[]", 400, "bad-reconcile-request"),
        (#"{"transactions": "x"}"#, 400, "bad-reconcile-request"),
        (#"{"nothing": "yes"}"#, 400, "bad-reconcile-request"),
        (#"{"nothing": true, "receipts": ["x"]}"#, 400, "bad-reconcile-request"),
    ])
    func `a body without evidence is rejected`(
        _ body: String,
        _ status: Int,
        _ slug: String
    ) async throws {
        let server = try TestServer()
        let response = try await server.send(
            "POST",
            "/v1/apps/cards/customers/u_42/reconcile",
            body: Array(body.utf8)
        )
        #expect(response.status == status)
        let type = try JSONDocument(response.body).root["type"]?.string
        #expect(type == "/problems/\(slug)")
        await server.close()
    }

    @Test func `one request contains at most 32 items`() async throws {
        let server = try TestServer()
        for (count, expected) in [(32, 200), (33, 413)] {
            let all = [JSONValue](repeating: "x", count: count)
            #expect(
                try await reconcile(server, "u_42", ["transactions": .array(all)]).status
                    == expected
            )
        }
        await server.close()
    }

    @Test func `items are counted before any is decoded`() async throws {
        // As many as fit into a body.
        let list = Array((#"{"transactions": [0"# + String(repeating: ",0", count: 131_000)).utf8)
        let body = list + Array(#"]}"#.utf8)
        let problem = #expect(throws: Problem.self) { try DeviceEvidence(body) }
        #expect(problem?.slug == "too-many-items")
        #expect(problem?.members["found"] == 131_001)
    }

    // MARK: Empty requests

    private func confidence(
        _ server: TestServer,
        _ environment: Environment = .sandbox
    ) async throws -> String {
        let target = "/v1/apps/cards/customers/u_42?environment=\(environment.rawValue)"
        let answer = try JSONDocument(try await server.get(target).body).root
        let premium = answer["entitlements"]?["premium"]
        return [premium?["state"]?.string, premium?["confidence"]?.string].compactMap(\.self)
            .joined(separator: " ")
    }

    @Test(arguments: [
        "{}", #"{"transactions": []}"#, #"{"nothing": false}"#, #"{"nothing": null}"#,
        #"{"transactions": [], "renewalInfos": [], "purchases": [], "receipts": []}"#,
        #"{"device": {"deviceTime": "2026-05-01T10:00:05Z", "entitlements": {}}}"#,
    ])
    func `a request without evidence confirms nothing`(body: String) async throws {
        let server = try TestServer()
        let target = "/v1/apps/cards/customers/u_42/reconcile?environment=sandbox"
        let response = try await server.send("POST", target, body: Array(body.utf8))
        #expect(response.status == 200)
        #expect(try await confidence(server) == "never unknown")
        await server.close()
    }

    @Test func `a device without purchases is trusted for its environment`() async throws {
        let server = try TestServer()
        let target = "/v1/apps/cards/customers/u_42/reconcile?environment=sandbox"
        let body = Array(#"{"nothing": true, "transactions": []}"#.utf8)
        #expect(try await server.send("POST", target, body: body).status == 200)
        #expect(try await confidence(server) == "never confirmed")
        #expect(try await confidence(server, .simulated) == "never unknown")
        await server.close()
    }

    @Test func `evidence of one environment confirms nothing in another`() async throws {
        let server = try TestServer()
        let signed = JSONValue.string(try server.store.sign(transaction(token: TestServer.anna)))
        let target = "/v1/apps/cards/customers/u_42/reconcile?environment=simulated"
        let body = JSONValue.object(["transactions": [signed]]).encoded()
        #expect(try await server.send("POST", target, body: body).status == 200)
        #expect(try await confidence(server) == "never confirmed")
        #expect(try await confidence(server, .simulated) == "never unknown")
        await server.close()
    }

    @Test func `evidence dated in the future is rejected for a retry, and nothing is stored`()
        async throws
    {
        let server = try TestServer()
        let ahead = try server.store.sign(transaction(signed: server.now + .minutes(6)))
        let (status, _) = try await reconcile(
            server,
            "u_42",
            ["transactions": [.string(ahead)]]
        )
        #expect(status == 503)
        #expect(try await server.premium("u_42") == "never unknown none")
        await server.close()
    }

    @Test func `a public key authorises the request, and a missing key does not`() async throws {
        let server = try TestServer()
        let target = "/v1/apps/cards/customers/u_42/reconcile"
        #expect(try await server.ask("POST", target, body: Array("{}".utf8)).status == 401)
        #expect(try await server.send("POST", target, body: Array("{}".utf8)).status == 200)
        await server.close()
    }

    // MARK: Ownership

    @Test func `the first of two customers who present a purchase owns it`() async throws {
        let server = try TestServer()
        #expect(items(try await present(server, "u_1", transaction())) == ["accepted claimed"])
        let second = try await present(server, "u_2", transaction())
        #expect(items(second) == ["accepted held-by-another"])
        #expect(state(second) == "never")
        #expect(try await server.premium("u_1") == "active paid access")
        await server.close()
    }

    @Test func `one of many concurrent claims of a purchase succeeds`() async throws {
        let server = try TestServer()
        let rulings = try await withThrowingTaskGroup(of: [String].self) { group in
            for n in 0..<12 {
                group.addTask { items(try await present(server, "u_\(n)", transaction())) }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(rulings.filter { $0 == "accepted claimed" }.count == 1)
        #expect(rulings.filter { $0 == "accepted held-by-another" }.count == 11)
        await server.close()
    }

    @Test func `the store's signed token overrules the customer who presents the purchase`()
        async throws
    {
        for policy in [
            Policy.Transfer.claim, .keep, .transferIfInactive, .transfer(coolDown: .zero),
        ] {
            let server = try TestServer(policy: Policy(transfer: policy))
            let answer = try await present(server, "u_2", transaction(token: TestServer.anna))
            #expect(items(answer) == ["accepted named-by-store"])
            #expect(state(answer) == "never")
            #expect(try await server.premium(TestServer.anna) == "active paid access")
            await server.close()
        }
    }

    @Test func `a token matches its customer in any case, and a zero token matches none`()
        async throws
    {
        let server = try TestServer()
        let upper = TestServer.anna.uppercased()
        let own = try await present(server, upper, transaction(token: TestServer.anna))
        #expect(items(own) == ["accepted held"])
        let zero = "00000000-0000-0000-0000-000000000000"
        let free = try await present(server, "u_9", transaction("5", token: zero))
        #expect(items(free) == ["accepted claimed"])
        await server.close()
    }

    @Test func `a purchase moves where policy allows it, but not within the cool-down`()
        async throws
    {
        let server = try TestServer(policy: Policy(transfer: .transfer(coolDown: .days(30))))
        let bought = server.now
        #expect(items(try await present(server, "u_1", transaction())) == ["accepted claimed"])
        server.set(bought + .days(3))
        #expect(items(try await present(server, "u_2", transaction())) == ["accepted transferred"])
        #expect(try await server.premium("u_1") == "never unknown none")
        server.set(bought + .days(33) + Milliseconds(-1))
        let third = try await present(server, "u_3", transaction())
        #expect(items(third) == ["accepted cooling-down"])
        let detail = third["items"]?.elements?.first?["detail"]?.string ?? ""
        #expect(detail.contains((bought + .days(33)).rfc3339))
        #expect(items(try await present(server, "u_1", transaction())) == ["accepted cooling-down"])
        server.set(bought + .days(33))
        #expect(items(try await present(server, "u_3", transaction())) == ["accepted transferred"])
        await server.close()
    }

    @Test func `a former owner keeps the past answers`() async throws {
        let server = try TestServer(policy: Policy(transfer: .transfer(coolDown: .days(30))))
        let bought = server.now
        _ = try await present(server, "u_1", transaction())
        server.set(bought + .days(3))
        _ = try await present(server, "u_2", transaction())
        func state(of customer: String, at instant: Instant) async throws -> String? {
            let response = try await server.get(
                "/v1/apps/cards/customers/\(customer)/explain?environment=sandbox&at=\(instant.rfc3339)"
            )
            let answer = JSONValue(try JSONDocument(response.body).root)
            return answer["entitlements"]?.elements?.first?["decision"]?["state"]?.string
                ?? answer["entitlements"]?["premium"]?["decision"]?["state"]?.string
        }
        #expect(try await state(of: "u_1", at: bought + .days(2)) == "active")
        #expect(try await state(of: "u_2", at: bought + .days(2)) == "never")
        #expect(try await state(of: "u_1", at: bought + .days(3)) == "never")
        #expect(try await state(of: "u_2", at: bought + .days(3)) == "active")
        await server.close()
    }

    @Test func `a purchase moves when it gives its owner no access`() async throws {
        let server = try TestServer(policy: Policy(transfer: .transferIfInactive))
        _ = try await present(server, "u_1", transaction())
        let early = try await present(server, "u_2", transaction())
        #expect(items(early) == ["accepted holder-has-access"])
        server.set(Self.lapse)
        #expect(items(try await present(server, "u_2", transaction())) == ["accepted transferred"])
        await server.close()
    }

    @Test func `under the keep policy a later token moves no purchase`() async throws {
        for (policy, owner) in [(Policy.Transfer.keep, "u_1"), (.claim, TestServer.anna)] {
            let server = try TestServer(policy: Policy(transfer: policy))
            _ = try await present(server, "u_1", transaction())
            var renewed = transaction(token: TestServer.anna, signed: Message.end)
            renewed["transactionId"] = "2000000000000002"
            renewed["webOrderLineItemId"] = "900000002"
            renewed["purchaseDate"] = Message.end.wire
            renewed["expiresDate"] = (Message.end + .days(30)).wire
            server.set(Message.end + .seconds(5))
            _ = try await present(server, "u_3", renewed)
            #expect(try await server.premium(owner) == "active paid access", "\(policy)")
            await server.close()
        }
    }
}

extension JSONValue {
    fileprivate var elements: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }
}
