import Testing
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer
import TideoverSignatures

@testable import TideoverTestServer

/// A public key is in every app. These are the requests that anybody can send with it.
@Suite struct SDKAbuseTests {
    private static let sdk = RevenueCatSDK(
        appStoreKeys: ["appl_test"],
        googlePlayKeys: ["goog_test"],
        promotionalOffers: ["winback50"],
        supportEmail: "help@example.org"
    )

    private let uptime = Uptime()

    private func server(
        _ play: TestPlay? = nil,
        _ limits: ClientLimits = ClientLimits(refusalsPerMinute: 3)
    ) throws -> TestServer {
        try TestServer(
            probes: Probes(uptime: { [uptime] in uptime.nanoseconds }),
            clients: limits,
            googlePlay: play?.trust(),
            revenueCatSDK: Self.sdk
        )
    }

    // MARK: Bodies

    /// The routes that read a body, each with one that is valid but for its purchase.
    private static let readers: [(path: String, body: JSONObject)] = [
        (
            "/v1/receipts",
            [
                "app_user_id": "u_42", "fetch_token": "a.b.c", "product_id": "cards.pro.monthly",
                "price": "4.99", "is_restore": true, "initiation_source": "restore",
                "product_ids": ["cards.pro.monthly"],
                "platform_product_ids": [["product_id": "cards.pro.monthly"]],
                "attributes": ["$email": ["value": "a@example.com", "updated_at_ms": 1]],
            ]
        ),
        ("/v1/subscribers/identify", ["app_user_id": "u_42", "new_app_user_id": "u_43"]),
        ("/v1/subscribers/u_42/alias", ["new_app_user_id": "u_43"]),
        ("/v1/subscribers/u_42/attributes", ["attributes": [:]]),
        ("/v1/subscribers/u_42/intro_eligibility", ["product_identifiers": ["a"]]),
        (
            "/v1/offers",
            [
                "app_user_id": "u_42",
                "generate_offers": [["offer_id": "winback50", "product_id": "cards.pro.monthly"]],
            ]
        ),
    ]

    private static let malformed: [[UInt8]] =
        [
            "", " ", "null", "5", "\"u_42\"", "[]", "[{}]", "{", "{}", "{}{}", "{\"app_user_id\"}",
            "{'app_user_id':'u_42'}", #"{"app_user_id":"u_42",}"#,
            #"{"app_user_id":"u_42","app_user_id":"u_43","new_app_user_id":"u_44"}"#,
            #"{"app_user_id":"\ud800","new_app_user_id":"\udc00","attributes":"\ud800"}"#,
            #"{"app_user_id":"a\u0000b","new_app_user_id":"a\u0000b","attributes":0}"#,
            "{\"app_user_id\":\"a\u{0}b\",\"new_app_user_id\":\"a\u{0}b\"}",
            "{\"a\":" + String(repeating: "[", count: 100) + String(repeating: "]", count: 100)
                + "}",
            "{\"a\":" + String(repeating: "{\"a\":", count: 10_000),
            "app_user_id=u_42&fetch_token=a.b.c",
        ].map { Array($0.utf8) } + [
            [0], [0xFF, 0xFE, 0x7B, 0x00], [0xEF, 0xBB, 0xBF, 0x7B, 0x7D],
            Array("{\"app_user_id\":\"".utf8) + [0xED, 0xA0, 0x80] + Array("\"}".utf8),
        ]

    /// Values that no member accepts.
    private static let wrong: [JSONValue] = [
        5, -1, .double(1e300), .integer(.max), .integer(.min), true, .null, [], [:], [[]], "",
        "a\u{0}b", .string(String(repeating: "!", count: 10_000)), ["a": .null], [.null],
    ]

    private func post(
        _ path: String,
        _ body: [UInt8],
        to server: TestServer,
        method: String = "POST",
        key: String = "appl_test",
        from peer: String? = nil
    ) async throws -> SDKApp.Answer {
        let response = try await server.service.checkedAnswer(
            to: Request(
                method: method,
                path: path,
                headers: ["Authorization": "Bearer \(key)"],
                body: body,
                peer: peer
            )
        )
        return SDKApp.Answer(response: response, content: response.body)
    }

    private static func isObject(_ body: [UInt8]) -> Bool {
        guard let document = try? JSONDocument(body) else { return false }
        return document.root.kind == .object
    }

    private func requireRefusal(_ answer: SDKApp.Answer, _ what: String) {
        #expect((400...499).contains(answer.status), "\(what)")
    }

    private func requireNothingStored(_ server: TestServer) async throws {
        for environment in ["sandbox", "simulated"] {
            let path = "/v1/apps/cards/customers?environment=\(environment)"
            let customers = try JSONDocument(try await server.get(path).body).root
            #expect(customers["customers"]?.elements.first { _ in true } == nil)
        }
    }

    @Test(arguments: readers.map(\.path))
    func `a malformed body is refused in the SDKs' form, and stores nothing`(
        path: String
    ) async throws {
        let server = try server(TestPlay())
        for key in ["appl_test", "goog_test"] {
            for body in Self.malformed {
                let answer = try await post(path, body, to: server, key: key)
                let what = String(decoding: body.prefix(60), as: UTF8.self)
                // After a 400 to a body that is no JSON object, a device would give up a purchase.
                if path == "/v1/receipts" {
                    let isRefused = answer.status == 400 && Self.isObject(body)
                    #expect(answer.status == 503 || isRefused, "\(what)")
                } else {
                    requireRefusal(answer, what)
                }
            }
        }
        try await requireNothingStored(server)
        await server.close()
    }

    @Test(arguments: readers.map(\.path))
    func `a member of another type is refused, and stores nothing`(path: String) async throws {
        let server = try server(nil, ClientLimits(refusalsPerMinute: 0))
        let body = try #require(Self.readers.first { $0.path == path }?.body)
        for name in body.map(\.key) {
            for value in Self.wrong {
                var changed = body
                changed[name] = value
                if path.hasSuffix("/attributes"), value == [:] { continue }
                let what = JSONValue.object([name: value]).encoded().prefix(80)
                let answer = try await post(path, JSONValue.object(changed).encoded(), to: server)
                requireRefusal(answer, String(decoding: what, as: UTF8.self))
            }
        }
        try await requireNothingStored(server)
        await server.close()
    }

    @Test func `an attribute of another type is refused, and is not read as a deletion`()
        async throws
    {
        let server = try server(nil, ClientLimits(refusalsPerMinute: 0))
        let path = "/v1/subscribers/u_42/attributes"
        func state(_ attribute: JSONValue) async throws -> SDKApp.Answer {
            let body: JSONValue = ["attributes": ["a": attribute]]
            return try await post(path, body.encoded(), to: server)
        }
        let first: JSONValue = ["value": "1", "updated_at_ms": 1]
        #expect(try await state(first).status == 200)
        for value in Self.wrong where value.string == nil && value != .null {
            let answer = try await state(["value": value, "updated_at_ms": 2])
            #expect(answer.body["code"] == 7263)
            requireRefusal(answer, "\(value)")
        }
        for value in Self.wrong where value.int64.map({ $0 < 0 }) ?? true {
            let answer = try await state(["value": "2", "updated_at_ms": value])
            #expect(answer.body["code"] == 7263, "\(value)")
        }
        for value in Self.wrong { #expect(try await state(value).body["code"] == 7263) }
        let read = try await server.get("/v1/subscribers/u_42?app=cards")
        let attributes = try JSONDocument(read.body).root["subscriber"]?["subscriber_attributes"]
        #expect(attributes?["a"]?["value"]?.string == "1")
        await server.close()
    }

    @Test func `each fault of an id and of attributes has its number`() async throws {
        let server = try server()
        let long = String(repeating: "x", count: 101)
        let huge = String(repeating: "x", count: 1 << 16)
        let zeros = "00000000-0000-0000-0000-000000000000"
        for (id, code) in [
            ("", 7220), (long, 7256), (huge, 7256), (zeros, 7256), ("a\u{0}", 7256),
        ] as [(String, Int64)] {
            let bodies: [(String, JSONValue)] = [
                ("/v1/receipts", ["app_user_id": .string(id), "fetch_token": "a.b.c"]),
                (
                    "/v1/subscribers/identify",
                    ["app_user_id": "u_42", "new_app_user_id": .string(id)]
                ),
                (
                    "/v1/subscribers/identify",
                    ["app_user_id": .string(id), "new_app_user_id": "u_42"]
                ),
                ("/v1/subscribers/u_42/alias", ["new_app_user_id": .string(id)]),
                ("/v1/offers", ["app_user_id": .string(id)]),
            ]
            for (path, body) in bodies {
                let answer = try await post(path, body.encoded(), to: server)
                #expect(answer.status == 400)
                #expect(answer.body["code"] == .integer(code), "\(path), \(code)")
            }
        }
        for body in [[:], ["attributes": []], ["attributes": .null]] as [JSONValue] {
            let path = "/v1/subscribers/u_42/attributes"
            let answer = try await post(path, body.encoded(), to: server)
            #expect(answer.status == 400)
            #expect(answer.body["code"] == 7264)
        }
        try await requireNothingStored(server)
        await server.close()
    }

    @Test func `a body of five megabytes is refused, and keeps the purchase of a receipt`()
        async throws
    {
        let server = try server()
        let filler = String(repeating: "x", count: 5 << 20)
        let body = Array(#"{"app_user_id":"u_42","x":"\#(filler)"}"#.utf8)
        for (path, _) in Self.readers {
            let answer = try await post(path, body, to: server)
            // A device finishes its purchase after a 4xx.
            let isReceipt = path == "/v1/receipts"
            #expect(isReceipt ? answer.status == 503 : answer.status == 400)
        }
        try await requireNothingStored(server)
        await server.close()
    }

    @Test(arguments: [
        "/v1/events", "/v1/diagnostics", "/v1/subscribers/u_42/attribution",
        "/v1/subscribers/u_42/adservices_attribution",
        "/v1/customercenter/support/create-ticket", "/v1/subscribers/u_42/restore/eligibility",
    ])
    func `a body that is not used is not read, and stores nothing`(path: String) async throws {
        let server = try server()
        for body in Self.malformed {
            // An SDK would send it again for ever after an error.
            #expect(try await post(path, body, to: server).status == 200)
        }
        try await requireNothingStored(server)
        await server.close()
    }

    // MARK: Ids

    @Test func `an id in a path that is no id is refused`() async throws {
        let server = try server()
        let long = String(repeating: "x", count: 101)
        let body: JSONValue = ["new_app_user_id": "u_42"]
        let ids = [
            long, String(repeating: "x", count: 10_000), "%00", "a%00b", "%", "%2", "%zz",
            "%FF", "%ED%A0%80", "%C0%AF", ".", "..", "%2E%2E",
            "00000000-0000-0000-0000-000000000000",
        ]
        for id in ids {
            for (method, path) in [
                ("GET", "/v1/subscribers/\(id)"), ("POST", "/v1/subscribers/\(id)/attributes"),
                ("POST", "/v1/subscribers/\(id)/alias"), ("GET", "/v1/customercenter/\(id)"),
                ("POST", "/v1/subscribers/\(id)/intro_eligibility"),
            ] {
                let answer = try await post(path, body.encoded(), to: server, method: method)
                requireRefusal(answer, "\(method) \(path.prefix(60))")
            }
        }
        try await requireNothingStored(server)
        await server.close()
    }

    @Test(arguments: ["a/b", "%2F", "../u_42", "a%00b", "a b", "a?b#c", "\u{1F600}", "a\nb"])
    func `an id with slashes and percent signs is one id, and no other's`(
        id: String
    ) async throws {
        let server = try server()
        let email: JSONValue = ["value": "a@example.com", "updated_at_ms": 1]
        let body: JSONValue = ["attributes": ["$email": email]]
        let path = "/v1/subscribers/\(PercentEncoding.encode(id))"
        let stated = try await post("\(path)/attributes", body.encoded(), to: server)
        #expect(stated.status == 200)
        let read = try JSONDocument(try await server.get("\(path)?app=cards").body).root
        let subscriber = read["subscriber"]
        #expect(subscriber?["original_app_user_id"]?.string == id)
        #expect(subscriber?["subscriber_attributes"]?["$email"] != nil)
        for other in ["a", "b", "u_42", "%252F", "a%2500b"] where other != id {
            let answer = try await server.get("/v1/subscribers/\(other)?app=cards")
            let known = try JSONDocument(answer.body).root["subscriber"]?["subscriber_attributes"]
            let isSame = PercentEncoding.decode(Array(other.utf8)[...]) == id
            #expect((known?["$email"] != nil) == isSame, "\(other)")
        }
        await server.close()
    }

    @Test func `no answer reveals owners of purchases, or that an account exists`() async throws {
        let server = try server()
        var transaction = Message.transaction()
        transaction["appAccountToken"] = nil
        let receipt: JSONObject = ["fetch_token": .string(try server.store.sign(transaction))]
        let owner = SDKApp(server: server, key: "appl_test", customer: "u_secret")
        #expect(try await owner.post(receipt).isActive("premium"))
        let other = SDKApp(server: server, key: "appl_test", customer: "u_9")
        for isRestore in [false, true] {
            var receipt = receipt
            receipt["is_restore"] = .bool(isRestore)
            let refused = try await other.post(receipt)
            #expect(refused.body["code"] == 7102)
            let text = String(decoding: refused.content, as: UTF8.self)
            #expect(!text.contains("u_secret"))
        }
        var answers: Set<[UInt8]> = []
        for id in ["u_secret", "u_unknown"] {
            let path = "/v1/subscribers/\(id)/alias"
            let answer = try await other.ask("POST", path, ["new_app_user_id": "u_9"])
            answers.insert(answer.content)
        }
        #expect(answers.count == 1)
        #expect(try await !other.get().isActive("premium"))
        await server.close()
    }

    // MARK: Floods

    @Test func `a flood of forged receipts keeps no honest one out and asks no store`()
        async throws
    {
        let server = try server()
        func post(_ token: String, _ customer: String, from peer: String) async throws -> Int {
            let receipt: JSONValue = [
                "app_user_id": .string(customer), "fetch_token": .string(token),
                "is_restore": true, "initiation_source": "restore",
            ]
            let body = receipt.encoded()
            return try await self.post("/v1/receipts", body, to: server, from: peer).status
        }
        func genuine(_ number: Int) throws -> String {
            try server.store.sign(Device.transaction(number))
        }
        let attacker = "192.0.2.1"
        // A server knows the store's chain of certificates from its first message.
        #expect(try await post(try genuine(1), "u_1", from: "198.51.100.1") == 200)
        let samples = try await server.samples()
        let asked = samples.filter { $0.contains(#"operation="transactionHistory""#) }
        let forged = try server.store.sign(Message.transaction(), defect: .unknownRoot)
        var statuses: [Int] = []
        for number in 0..<20 {
            statuses.append(try await post(forged, "u_forged\(number)", from: attacker))
        }
        // A device keeps what was not verified.
        #expect(statuses == Array(repeating: 400, count: 3) + Array(repeating: 503, count: 17))
        for nonsense in ["nonsense", "a.b.c", "....", "QUJD", String(repeating: "x", count: 9_999)]
        {
            #expect([400, 503].contains(try await post(nonsense, "u_42", from: attacker)))
        }
        let after = try await server.samples()
        #expect(after.filter { $0.contains(#"operation="transactionHistory""#) } == asked)
        #expect(try await post(try genuine(2), "u_2", from: attacker) == 200)
        #expect(try await post(try genuine(3), "u_3", from: "198.51.100.2") == 200)
        uptime.nanoseconds += 60_000_000_000
        #expect(try await post(forged, "u_4", from: attacker) == 400)
        await server.close()
    }

    @Test func `a flood of nonsense tokens asks Google Play within the sender's budget`()
        async throws
    {
        let play = TestPlay()
        let server = try server(play)
        let account: JSONObject = ["externalAccountIdentifiers": [:]]
        func answer(_ token: String) {
            let end = "2026-06-01T10:00:00Z"
            play.answer(token, TestPlay.subscription("ACTIVE", until: end, account))
        }
        for token in ["token-1", "token-2"] { answer(token) }
        func post(_ token: String, from peer: String) async throws -> Int {
            let receipt: JSONValue = [
                "app_user_id": "u_42", "fetch_token": .string(token),
                "product_ids": ["cards.pro.monthly"],
            ]
            let body = receipt.encoded()
            return try await self.post(
                "/v1/receipts",
                body,
                to: server,
                key: "goog_test",
                from: peer
            ).status
        }
        let attacker = "192.0.2.1"
        #expect(try await post("token-1", from: attacker) == 200)
        let before = play.questions.count
        var statuses: [Int] = []
        for number in 0..<20 {
            statuses.append(try await post("nonsense-\(number)", from: attacker))
        }
        #expect(statuses == Array(repeating: 400, count: 3) + Array(repeating: 503, count: 17))
        // A token is asked about as a subscription and as a one-time purchase.
        #expect(play.questions.count - before == 6)
        #expect(try await post("token-1", from: attacker) == 200)
        #expect(try await post("token-2", from: "198.51.100.1") == 200)
        // A new purchase at the attacker's address is kept by its device, and accepted later.
        answer("token-3")
        #expect(try await post("token-3", from: attacker) == 503)
        uptime.nanoseconds += 20_000_000_000
        #expect(try await post("token-3", from: attacker) == 200)
        await server.close()
    }

    @Test func `signatures of promotional offers have a budget`() async throws {
        let key = P256PrivateKey.generate()
        let server = try TestServer(
            probes: Probes(uptime: { [uptime] in uptime.nanoseconds }),
            clients: ClientLimits(refusalsPerMinute: 3),
            revenueCatSDK: Self.sdk,
            storeSigner: { key.sign($0) }
        )
        func sign(_ offers: [String], from peer: String) async throws -> SDKApp.Answer {
            let wanted = offers.map {
                JSONValue.object(["offer_id": .string($0), "product_id": "cards.pro.monthly"])
            }
            let body: JSONValue = ["app_user_id": "u_42", "generate_offers": .array(wanted)]
            return try await post("/v1/offers", body.encoded(), to: server, from: peer)
        }
        // What is not signed costs the sender nothing.
        for _ in 0..<5 { #expect(try await sign(["other"], from: "192.0.2.1").status == 200) }
        #expect(try await sign(["winback50"], from: "192.0.2.1").status == 200)
        #expect(try await sign(["winback50", "winback50"], from: "192.0.2.1").status == 200)
        for _ in 0..<10 {
            let answer = try await sign(["winback50"], from: "192.0.2.1")
            #expect(answer.status == 429)
            #expect(answer.body["code"] == 7110)
            #expect(answer.response.headers["Retry-After"] == "20")
        }
        #expect(try await sign(["winback50"], from: "198.51.100.1").status == 200)
        uptime.nanoseconds += 20_000_000_000
        let again = try await sign(["winback50"], from: "192.0.2.1")
        #expect(again.status == 200)
        #expect(again.body["offers"]?.array?.first?["signature_data"] != .null)
        await server.close()
    }
}
