import Testing
import TideoverAppStore
import TideoverCore
import TideoverHTTP
import TideoverJSON

/// Tests API responses, and the separate verification of each item.
@Suite struct APIAnswerTests {
    static func status(
        _ status: Int64 = 1,
        _ transaction: JSONObject = FakeStore.transaction(),
        _ renewalInfo: JSONObject? = FakeStore.renewalInfo(),
        changed changes: JSONObject = [:]
    ) -> JSONObject {
        var item: JSONObject = ["status": .integer(status)]
        item["originalTransactionId"] = transaction["originalTransactionId"]
        item["signedTransactionInfo"] = .string(FakeStore.seal(transaction))
        item["signedRenewalInfo"] = renewalInfo.map { .string(FakeStore.seal($0)) }
        return item.changed(by: changes)
    }

    static func statuses(_ items: [JSONObject], _ changes: JSONObject = [:]) -> JSONObject {
        let usual: JSONObject = [
            "environment": "Production", "bundleId": .string(FakeStore.bundleId),
            "appAppleId": .integer(FakeStore.appAppleId),
            "data": [
                [
                    "subscriptionGroupIdentifier": "20000001",
                    "lastTransactions": .array(items.map { .object($0) }),
                ]
            ],
        ]
        return usual.changed(by: changes)
    }

    func items(
        _ answer: JSONObject,
        in environment: Environment = .production,
        as authority: Authority = .appStore
    ) async throws -> [AppStoreAnswerItem] {
        let api = FakeAPI(.answer(answer)).api(in: environment)
        return try await api.reader.read(
            api.subscriptionStatuses(of: "1").content,
            check: FakeStore.check(as: authority)
        )
    }

    func facts(_ reading: AppStoreReading) -> [Fact] {
        reading.facts(
            learnedAt: FakeAPI.now,
            source: .appStoreAPI,
            evidence: EvidenceID(hex: "00")
        )
    }

    func refusal(_ item: AppStoreAnswerItem) -> AppStoreRefusal? {
        guard case .failure(let error) = item.reading else { return nil }
        return error as? AppStoreRefusal
    }

    // MARK: Statuses

    @Test(
        arguments: [
            (1, .active), (2, .expired), (3, .retry), (4, .grace), (5, .revoked),
        ] as [(Int64, Condition.Status)]
    )
    func `a status produces the same facts as a notification`(
        number: Int64,
        status: Condition.Status
    ) async throws {
        let items = try await items(Self.statuses([Self.status(number)]))
        try #require(items.count == 1)
        let reading = try items[0].reading.get()
        let facts = facts(reading)
        #expect(facts.kinds == ["term", "outlook", "condition"])
        #expect(facts.conditions.map(\.status) == [status])
        #expect(facts.conditions.map(\.renewalDate) == [facts.outlooks[0].renewalDate])
        #expect(facts.allSatisfy { $0.rank == .store && $0.source == .appStoreAPI })
        let notification = FakeStore.notification("DID_RENEW", data: ["status": .integer(number)])
        let told = try FakeStore.facts(notification)
        #expect(facts.map(\.assertion) == told.map(\.assertion))
        #expect(facts.map(\.lineage) == told.map(\.lineage))
        #expect(facts.map(\.assertedAt) == told.map(\.assertedAt))
        #expect(facts.map(\.effectiveAt) == told.map(\.effectiveAt))
    }

    @Test func `an unknown status is counted and produces no condition`() async throws {
        let items = try await items(Self.statuses([Self.status(6)]))
        let reading = try items[0].reading.get()
        #expect(reading.unrecognised == [Unrecognised(field: "status", value: "6")])
        #expect(facts(reading).kinds == ["term", "outlook", "unrecognised"])
    }

    @Test func `own and shared subscriptions of several groups are all read`() async throws {
        let shared = FakeStore.transaction([
            "originalTransactionId": "7", "transactionId": "8",
            "inAppOwnershipType": "FAMILY_SHARED",
        ])
        let other = FakeStore.transaction(["originalTransactionId": "9", "transactionId": "9"])
        let renewal = FakeStore.renewalInfo(["originalTransactionId": "7"])
        var answer = Self.statuses([Self.status(), Self.status(1, shared, renewal)])
        let first = try #require(answer["data"]?.array)
        answer["data"] = .array(
            first + [["lastTransactions": [.object(Self.status(2, other, nil))]]]
        )
        let lineages = try await items(answer).map { try facts($0.reading.get())[0].lineage }
        #expect(lineages.map(\.id) == ["2000000000000001", "7", "9"])
        #expect(lineages.map(\.ownership) == [.purchased, .familyShared, .purchased])
    }

    /// Changes to the second of three subscriptions, and the reason to reject only that one.
    static let mismatches: [(JSONObject, AppStoreRefusal)] = [
        (
            status(1, FakeStore.transaction(["bundleId": "com.example.other"])),
            .wrongBundle(expected: FakeStore.bundleId, found: "com.example.other")
        ),
        (
            status(1, FakeStore.transaction(["environment": "Sandbox"])),
            .nestedMismatch(
                part: .transaction,
                field: "environment",
                outer: "Production",
                inner: "Sandbox"
            )
        ),
        (
            status(1, changed: ["originalTransactionId": "5"]),
            .nestedMismatch(
                part: .transaction,
                field: "originalTransactionId",
                outer: "5",
                inner: "2000000000000001"
            )
        ),
        (
            status(1, FakeStore.transaction(), FakeStore.renewalInfo(["environment": "Sandbox"])),
            .nestedMismatch(
                part: .renewalInfo,
                field: "environment",
                outer: "Production",
                inner: "Sandbox"
            )
        ),
        (
            status(
                1,
                FakeStore.transaction(),
                FakeStore.renewalInfo(["originalTransactionId": "5"])
            ),
            .nestedMismatch(
                part: .renewalInfo,
                field: "originalTransactionId",
                outer: "2000000000000001",
                inner: "5"
            )
        ),
        (
            status(1, changed: ["signedTransactionInfo": .null]),
            .missingMember("signedTransactionInfo")
        ),
        (
            status(1, FakeStore.transaction(["signedDate": .null]), nil),
            .missingMember("signedDate")
        ),
    ]

    @Test(arguments: mismatches)
    func `an inconsistent item is refused and the other items are read`(
        damaged: JSONObject,
        reason: AppStoreRefusal
    ) async throws {
        let items = try await items(Self.statuses([Self.status(), damaged, Self.status()]))
        try #require(items.count == 3)
        #expect(refusal(items[1]) == reason)
        for whole in [items[0], items[2]] {
            #expect(try facts(whole.reading.get()).kinds == ["term", "outlook", "condition"])
        }
    }

    @Test func `an invalid signature refuses only its own item`() async throws {
        let broken = Self.status(changed: ["signedRenewalInfo": "not.a.seal"])
        let items = try await items(Self.statuses([broken, Self.status()]))
        guard case .failure(let error) = items[0].reading else {
            Issue.record("a broken seal was believed")
            return
        }
        #expect(!(error is AppStoreRefusal))
        #expect(throws: Never.self) { try items[1].reading.get() }
    }

    @Test(
        arguments: [
            (["bundleId": "com.example.other"], "wrong-bundle"), (["appAppleId": 5], "wrong-app"),
            (["environment": "Sandbox"], "nested-mismatch"),
            (["environment": "Moon"], "nested-mismatch"),
        ] as [(JSONObject, String)]
    )
    func `an answer about another app is refused item by item`(
        changes: JSONObject,
        code: String
    ) async throws {
        let items = try await items(Self.statuses([Self.status(), Self.status()], changes))
        #expect(items.map { refusal($0)?.code } == [code, code])
    }

    @Test func `an answer without app or environment is read by its signed parts`() async throws {
        let answer = Self.statuses(
            [Self.status()],
            ["bundleId": .null, "appAppleId": .null, "environment": .null]
        )
        let item = try await items(answer)[0]
        #expect(throws: Never.self) { try item.reading.get() }
    }

    @Test func `only the environment of the request is accepted`() async throws {
        let transaction = FakeStore.transaction(["environment": "Sandbox"])
        let renewal = FakeStore.renewalInfo(["environment": "Sandbox"])
        let answer = Self.statuses(
            [Self.status(1, transaction, renewal)],
            ["environment": "Sandbox", "appAppleId": .null]
        )
        let asked = try await items(answer, in: .production)
        #expect(refusal(asked[0]) == .wrongEnvironment(accepted: [.production], found: .sandbox))
        #expect(try await items(answer, in: .sandbox)[0].reading.get().environment == .sandbox)
        // A simulated store may claim any environment, but its content is always simulated.
        let simulated = try await items(answer, in: .simulated, as: .simulated)
        #expect(try simulated[0].reading.get().environment == .simulated)
        let passedOff = try await items(answer, in: .sandbox, as: .simulated)
        #expect(refusal(passedOff[0]) == .wrongEnvironment(accepted: [.sandbox], found: .simulated))
    }

    @Test func `an item is stored unchanged and reads the same again`() async throws {
        let transaction = Self.status(4)
        let answer = Self.statuses([transaction])
        let item = try await items(answer)[0]
        #expect(JSONValue(try JSONDocument(item.evidence).root) == .object(transaction))
        let again = try FakeStore.reader().read(item.evidence, check: FakeStore.check())
        #expect(again.kind == .subscriptionStatus)
        #expect(try facts(again) == facts(item.reading.get()))
        #expect(try again.dedupeKey == item.reading.get().dedupeKey)
        #expect(again.dedupeKey.hasPrefix("subscriptionStatus:2000000000000002:"))
    }

    @Test func `a status is not a notification`() async throws {
        let item = try await items(Self.statuses([Self.status()]))[0]
        #expect(throws: AppStoreRefusal.missingMember("signedPayload")) {
            try FakeStore.reader().readNotification(
                body: item.evidence,
                check: FakeStore.check()
            )
        }
    }

    // MARK: Transactions

    static let refunded = FakeStore.transaction([
        "transactionId": "4", "revocationDate": .integer(FakeStore.start + 500),
        "revocationReason": 0,
    ])

    @Test func `a history is read transaction by transaction`() async throws {
        let sealed: [JSONValue] = [
            FakeStore.transaction(), Self.refunded, FakeStore.transaction(["bundleId": "x"]),
            FakeStore.renewalInfo(), FakeStore.transaction(["environment": "Sandbox"]),
        ].map { .string(FakeStore.seal($0)) }
        let api = FakeAPI(
            .answer([
                "environment": "Production", "bundleId": .string(FakeStore.bundleId),
                "appAppleId": .integer(FakeStore.appAppleId), "hasMore": false,
                "signedTransactions": .array(sealed + ["broken"]),
            ])
        ).api()
        let page = try await api.transactionHistory(of: "1").content
        let items = api.reader.read(page, check: FakeStore.check())
        #expect(items.map { Array($0.evidence) } == page.signedTransactions.map { Array($0) })
        #expect(try facts(items[0].reading.get()).kinds == ["term"])
        #expect(try facts(items[1].reading.get()).kinds == ["term", "revocation"])
        #expect(refusal(items[2])?.code == "wrong-bundle")
        #expect(refusal(items[3]) == .unrecognisedContent)
        #expect(refusal(items[4])?.code == "wrong-environment")
        #expect(throws: FakeStore.BrokenSeal.self) { try items[5].reading.get() }
    }

    @Test func `refunds are read without an envelope`() async throws {
        let api = FakeAPI(
            .answer([
                "hasMore": false, "revision": "r",
                "signedTransactions": [.string(FakeStore.seal(Self.refunded))],
            ])
        ).api()
        let page = try await api.refundHistory(of: "1").content
        let items = api.reader.read(page, check: FakeStore.check())
        #expect(try facts(items[0].reading.get()).kinds == ["term", "revocation"])
    }

    @Test func `an order's transactions are read, and an invalid order has none`() async throws {
        let sealed = FakeStore.seal(FakeStore.transaction())
        let found: JSONObject = ["status": 0, "signedTransactions": [.string(sealed)]]
        let api = FakeAPI(.answer(found), .answer(["status": 1])).api()
        let order = try await api.lookUp(orderId: "W002182").content
        #expect(order.status?.known == .valid)
        let items = api.reader.read(order, check: FakeStore.check())
        #expect(try items.map { try facts($0.reading.get()).kinds } == [["term"]])
        let none = try await api.lookUp(orderId: "W002182").content
        #expect(none.status?.known == .invalid)
        #expect(none.signedTransactions.isEmpty)
    }

    @Test func `only the requested transaction is read`() async throws {
        let app: JSONObject = [
            "receiptType": "Production", "bundleId": .string(FakeStore.bundleId),
            "appAppleId": .integer(FakeStore.appAppleId), "appTransactionId": "70",
            "receiptCreationDate": .integer(FakeStore.start),
        ]
        let sealed = (FakeStore.seal(FakeStore.transaction()), FakeStore.seal(app))
        let right = FakeAPI(
            .answer(["signedTransactionInfo": .string(sealed.0)]),
            .answer(["signedAppTransactionInfo": .string(sealed.1)])
        ).api()
        let check = FakeStore.check()
        let transaction = try await right.transactionInfo(of: "1").content
        #expect(try right.reader.read(transaction, check: check).reading.get().kind == .transaction)
        let own = try await right.appTransactionInfo(of: "1").content
        #expect(try right.reader.read(own, check: check).reading.get().kind == .appTransaction)
        let swapped = FakeAPI(.answer(["signedTransactionInfo": .string(sealed.1)])).api()
        let wrong = try await swapped.transactionInfo(of: "1").content
        #expect(refusal(swapped.reader.read(wrong, check: check)) == .unrecognisedContent)
    }

    @Test(arguments: [200, 202, 204])
    func `a request that only writes needs no response body`(status: Int) async throws {
        let api = FakeAPI(Response(status: status)).api()
        let exchange = try await api.finish("1").exchange
        #expect(exchange.askedAt == FakeAPI.now)
        _ = try await api.setAppAccountToken(of: "1", to: "7e3fb20b-4cdb-47cc-936d-99d65f608138")
    }

    // MARK: Notifications

    @Test func `a notification from the history equals the posted one`() async throws {
        let posted = FakeStore.notification("DID_RENEW")
        let attempt: JSONValue = [
            "attemptDate": .integer(FakeStore.start), "sendAttemptResult": "NO_RESPONSE",
        ]
        let strange: JSONValue = ["attemptDate": .null, "sendAttemptResult": "MOONSHINE"]
        let api = FakeAPI(
            .answer([
                "hasMore": false,
                "notificationHistory": [
                    [
                        "signedPayload": .string(FakeStore.seal(posted)),
                        "sendAttempts": [attempt, strange],
                    ],
                    ["signedPayload": .string(FakeStore.seal(FakeStore.transaction()))],
                ],
            ])
        ).api()
        let filter = NotificationHistoryFilter(from: APIRequestTests.from, to: FakeAPI.now)
        let page = try await api.notificationHistory(filter).content
        let items = api.reader.read(page, check: FakeStore.check())
        try #require(items.count == 2)
        let reading = try items[0].reading.get()
        #expect(try reading.dedupeKey == FakeStore.read(posted).dedupeKey)
        #expect(items[0].evidence == FakeStore.body(posted))
        #expect(try facts(reading).map(\.assertion) == FakeStore.facts(posted).map(\.assertion))
        #expect(
            items[0].sendAttempts.map(\.sendAttemptResult?.known) == [.noResponse, nil]
        )
        #expect(items[0].sendAttempts[1].sendAttemptResult?.raw == "MOONSHINE")
        #expect(refusal(items[1]) == .notANotification)
    }

    @Test func `a delivery attempt of another form leaves its page readable`() async throws {
        let posted: JSONValue = .string(FakeStore.seal(FakeStore.notification("DID_RENEW")))
        let strange: JSONValue = ["attemptDate": "yesterday", "sendAttemptResult": 5]
        let api = FakeAPI(
            .answer([
                "hasMore": false,
                "notificationHistory": [
                    ["signedPayload": posted, "sendAttempts": [strange, "SUCCESS"]],
                    ["signedPayload": posted, "sendAttempts": []],
                    ["signedPayload": posted, "sendAttempts": "none"],
                ],
            ])
        ).api()
        let filter = NotificationHistoryFilter(from: APIRequestTests.from, to: FakeAPI.now)
        let page = try await api.notificationHistory(filter).content
        let items = api.reader.read(page, check: FakeStore.check())
        #expect(try items.map { try $0.reading.get().isTest } == [false, false, false])
        #expect(items.map(\.sendAttempts.count) == [1, 0, 0])
    }

    @Test func `an unfinished test has no payload`() async throws {
        let api = FakeAPI(.answer([:])).api()
        let sent = try await api.testNotificationStatus("t").content
        #expect(sent == (try await api.testNotificationStatus("t").content))
        #expect(sent.sendAttempts.isEmpty)
        #expect(api.reader.read(sent, check: FakeStore.check()).map(\.evidence) == nil)
    }

    @Test func `a test notification is recognised`() async throws {
        let payload = FakeStore.notification("TEST", transaction: nil, renewalInfo: nil)
        let api = FakeAPI(
            .answer(["signedPayload": .string(FakeStore.seal(payload)), "sendAttempts": []])
        ).api()
        let sent = try await api.testNotificationStatus("t").content
        let item = try #require(api.reader.read(sent, check: FakeStore.check()))
        #expect(try item.reading.get().isTest)
    }
}
