import Testing
import TideoverCore
import TideoverGooglePlay
import TideoverHTTP
import TideoverJSON
import TideoverSQLite
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// Every documented notification of Google Play, posted to the route. The store answers, does not
/// answer, or cannot be queried.
/// https://developer.android.com/google/play/billing/rtdn-reference
@Suite struct EveryPlayNotificationTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let content: JSONObject
        var questions: [String] = []
        /// The facts presumed from the notification alone.
        var presumed: [String] = []

        var testDescription: String { name }
    }

    private static func subscription(_ type: Int64, _ presumed: String...) -> Case {
        Case(
            name: "subscription \(type)",
            content: TestPlay.notice(type),
            questions: ["subscriptionsv2/tokens/token-1"],
            presumed: presumed
        )
    }

    private static func oneTime(_ type: Int64, _ presumed: String) -> Case {
        Case(
            name: "one-time \(type)",
            content: [
                "oneTimeProductNotification": [
                    "version": "1.0", "notificationType": .integer(type),
                    "purchaseToken": "token-2", "sku": "cards.lifetime",
                ]
            ],
            questions: ["productsv2/tokens/token-2"],
            presumed: [presumed]
        )
    }

    private static func voided(_ product: Int64, _ refund: Int64) -> Case {
        let isSubscription = product == 1
        let token = isSubscription ? "token-1" : "token-2"
        return Case(
            name: "voided \(product) \(refund)",
            content: [
                "voidedPurchaseNotification": [
                    "purchaseToken": .string(token), "orderId": "GPA.1",
                    "productType": .integer(product), "refundType": .integer(refund),
                ]
            ],
            questions: [(isSubscription ? "subscriptionsv2" : "productsv2") + "/tokens/\(token)"],
            presumed: ["voided"]
        )
    }

    static let subscriptions: [Case] = [
        subscription(1, "notice"), subscription(2, "notice"), subscription(3, "notice"),
        subscription(4, "notice"), subscription(5, "notice"), subscription(6, "notice"),
        subscription(7, "notice"), subscription(8, "notice"), subscription(9, "notice"),
        subscription(10, "notice"), subscription(11, "notice"),
        subscription(12, "notice", "voided"), subscription(13, "notice"),
        subscription(14, "unrecognised"), subscription(15, "unrecognised"),
        subscription(16, "unrecognised"), subscription(17, "notice"),
        subscription(18, "notice"), subscription(19, "notice"), subscription(20, "notice"),
        subscription(21, "unrecognised"), subscription(22, "notice"),
    ]

    static let cases =
        subscriptions + [
            oneTime(1, "notice"), oneTime(2, "notice"), oneTime(3, "unrecognised"),
            voided(1, 1), voided(1, 2), voided(2, 1), voided(2, 2),
            Case(name: "test", content: TestPlay.test),
            Case(
                name: "pending refund review",
                content: [
                    "pendingRefundReviewNotification": [
                        "version": "1.0", "pendingRefundToken": "review-1", "orderId": "GPA.1",
                        "refundReason": 7,
                    ]
                ]
            ),
        ]

    // MARK: Queries

    /// Returns a store with a subscription until June and a lifetime purchase.
    private func store() -> TestPlay {
        let play = TestPlay()
        play.answer("token-1", TestPlay.subscription("ACTIVE", until: "2026-06-01T10:00:00Z"))
        play.answer("token-2", TestPlay.lifetime)
        return play
    }

    private func push(
        _ server: TestServer,
        _ content: JSONObject,
        _ messageId: String = "1"
    ) async throws -> (status: Int, word: String?) {
        let request = try TestPlay.push(content, messageId: messageId, at: server.now)
        let response = try await server.service.handler(request)
        let root = try JSONDocument(response.body).root
        return (response.status, (root["type"] ?? root["status"])?.string)
    }

    private func facts(_ server: TestServer) throws -> [Fact] {
        try [Environment.sandbox, .simulated].flatMap { environment in
            try server.storage.lineages(
                in: AppScope("cards", environment),
                after: nil,
                limit: 9
            )
            .flatMap(\.facts)
        }
    }

    private func evidence(_ server: TestServer) throws -> [Source] {
        try [Environment.sandbox, .simulated].flatMap { environment in
            try server.storage.evidence(
                in: AppScope("cards", environment),
                after: nil,
                limit: 9
            )
        }.map(\.source)
    }

    private func word(_ fact: Fact) -> String {
        switch fact.assertion {
        case .playSubscription, .playPurchase: "read"
        case .playNotice: "notice"
        case .playVoidedOrder: "voided"
        case .inquiry(let inquiry): "inquiry \(inquiry.outcome)"
        case .unrecognised: "unrecognised"
        default: "other"
        }
    }

    // MARK: Each kind

    @Test(arguments: cases)
    func `the answer of the store decides for every type`(example: Case) async throws {
        let play = store()
        let looks = Counter()
        let server = try TestServer(
            catalogue: TestPlay.catalogue,
            probes: Probes(uptime: { looks.next() * 10_000_000_000 }),
            googlePlay: play.trust()
        )
        #expect(try await push(server, example.content) == (200, "committed"))
        // The list of voided orders is read too.
        let isVoided = example.name.hasPrefix("voided") || example.name == "subscription 12"
        let besides = isVoided ? ["com.example.cards/purchases/voidedpurchases"] : []
        #expect(play.questions == example.questions + besides)
        let facts = try facts(server)
        #expect(facts.map(word) == example.questions.map { _ in "read" })
        #expect(facts.allSatisfy { $0.rank == .store })
        #expect(try evidence(server) == [.playNotification])
        let answer = try await server.answer()
        let states = ["premium", "forever"].map { name in
            answer["entitlements"]?[name]?["state"]?.string ?? ""
        }
        let isSubscription = example.questions.first?.hasPrefix("subscriptions") ?? false
        #expect(states[0] == (isSubscription ? "active" : "never"))
        #expect(states[1] == (isSubscription || example.questions.isEmpty ? "never" : "active"))
        await server.close()
    }

    @Test(arguments: cases)
    func `a notification that needs a read of an unreachable store is rejected for a retry`(
        example: Case
    ) async throws {
        let play = store()
        for token in ["token-1", "token-2"] { play.answer(token, status: 503) }
        let server = try TestServer(catalogue: TestPlay.catalogue, googlePlay: play.trust())
        let isAsked = !example.questions.isEmpty
        let (status, word) = try await push(server, example.content)
        #expect(status == (isAsked ? 503 : 200))
        #expect(word == (isAsked ? "/problems/store-not-asked" : "committed"))
        #expect(try facts(server).isEmpty)
        #expect(try evidence(server) == (isAsked ? [] : [.playNotification]))
        await server.close()
    }

    @Test(arguments: cases)
    func `without credentials the type decides at the lowest rank`(
        example: Case
    ) async throws {
        let play = store()
        let server = try TestServer(
            catalogue: TestPlay.catalogue,
            googlePlay: play.trust(asksStore: false)
        )
        #expect(try await push(server, example.content) == (200, "committed"))
        let facts = try facts(server)
        #expect(facts.map(word) == example.presumed)
        #expect(facts.allSatisfy { $0.rank == .inferred })
        #expect(play.questions.isEmpty)
        await server.close()
    }

    // MARK: Sequences

    /// An event after the purchase in May: its type, the store's state, and the expected answer.
    struct Step: Sendable {
        let type: Int64
        let at: Instant
        let state: String
        let expiry: String
        let standing: String
        /// The expected answer from the bare type, if it contains less.
        var presumed: String?
        var isOff = false
    }

    struct Walk: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let steps: [Step]
    }

    static let walks: [Walk] = [
        Walk(
            testDescription: "1 is the recovery from a hold",
            steps: [
                Step(
                    type: 5,
                    at: "2026-06-01T10:00:10Z",
                    state: "ON_HOLD",
                    expiry: "2026-06-01T10:00:00Z",
                    standing: "hold accountHold none true"
                ),
                Step(
                    type: 1,
                    at: "2026-06-10T08:00:00Z",
                    state: "ACTIVE",
                    expiry: "2026-07-10T08:00:00Z",
                    standing: "active paid access true"
                ),
            ]
        ),
        Walk(
            testDescription: "2 is the recovery from grace",
            steps: [
                Step(
                    type: 6,
                    at: "2026-06-01T10:00:10Z",
                    state: "IN_GRACE_PERIOD",
                    expiry: "2026-06-04T10:00:00Z",
                    standing: "grace billingIssue access true"
                ),
                Step(
                    type: 2,
                    at: "2026-06-02T08:00:00Z",
                    state: "ACTIVE",
                    expiry: "2026-07-01T10:00:00Z",
                    standing: "active paid access true"
                ),
            ]
        ),
        Walk(
            testDescription: "3 keeps access until the expiry, and 7 takes it back",
            steps: [
                Step(
                    type: 3,
                    at: "2026-05-10T08:00:00Z",
                    state: "CANCELED",
                    expiry: "2026-06-01T10:00:00Z",
                    standing: "active paid access false",
                    isOff: true
                ),
                Step(
                    type: 7,
                    at: "2026-05-12T08:00:00Z",
                    state: "ACTIVE",
                    expiry: "2026-06-01T10:00:00Z",
                    standing: "active paid access true"
                ),
                Step(
                    type: 3,
                    at: "2026-05-31T08:00:00Z",
                    state: "CANCELED",
                    expiry: "2026-06-01T10:00:00Z",
                    standing: "active paid access false",
                    isOff: true
                ),
                Step(
                    type: 13,
                    at: "2026-06-01T10:00:01Z",
                    state: "EXPIRED",
                    expiry: "2026-06-01T10:00:00Z",
                    standing: "expired cancelled none false",
                    // Only the store's response states who ended it.
                    presumed: "expired ended none false",
                    isOff: true
                ),
            ]
        ),
    ]

    @Test(arguments: walks, [true, false])
    func `answers of the store and bare types lead to the same states`(
        walk: Walk,
        asksStore: Bool
    ) async throws {
        let play = store()
        var server = try TestServer(googlePlay: play.trust())
        #expect(try await push(server, TestPlay.notice(4)) == (200, "committed"))
        if !asksStore {
            // Facts from earlier reads remain after the credentials were lost.
            await server.storage.close()
            server = try TestServer(folder: server.folder, googlePlay: play.trust(asksStore: false))
        }
        for (number, step) in walk.steps.enumerated() {
            server.set(step.at)
            play.set(step.at)
            let plan: JSONObject = ["autoRenewEnabled": .bool(!step.isOff)]
            var changes: JSONObject = [
                "lineItems": [
                    [
                        "productId": "cards.pro.monthly", "expiryTime": .string(step.expiry),
                        "autoRenewingPlan": .object(plan),
                    ]
                ]
            ]
            if step.isOff {
                changes["canceledStateContext"] = ["userInitiatedCancellation": [:]]
            }
            play.answer("token-1", TestPlay.subscription(step.state, until: step.expiry, changes))
            let pushed = try await push(server, TestPlay.notice(step.type), "step-\(number)")
            #expect(pushed == (200, "committed"))
            let premium = try await server.answer()["entitlements"]?["premium"]
            let words = [
                premium?["state"]?.string, premium?["reason"]?.string,
                premium?["access"]?.bool.map { $0 ? "access" : "none" },
                premium?["willRenew"]?.bool.map { "\($0)" },
            ].compactMap(\.self)
            let expected = asksStore ? step.standing : step.presumed ?? step.standing
            #expect(words.joined(separator: " ") == expected, "\(step.type)")
        }
        await server.close()
    }

    /// A delayed notification from the day of the purchase, delivered after later events.
    @Test(arguments: [true, false])
    func `an old notification that arrives late changes nothing`(asksStore: Bool) async throws {
        let play = store()
        var server = try TestServer(googlePlay: play.trust())
        let old = try TestPlay.push(TestPlay.notice(4), messageId: "old", at: server.now)
        #expect(try await push(server, TestPlay.notice(4)) == (200, "committed"))
        let over = TestPlay.subscription("EXPIRED", until: "2026-05-02T10:00:00Z")
        play.answer("token-1", over)
        play.set("2026-05-02T10:00:05Z")
        server.set("2026-05-02T10:00:05Z")
        #expect(try await push(server, TestPlay.notice(12), "2") == (200, "committed"))
        let ended = try await server.premium()
        #expect(ended == "expired ended none")
        if !asksStore {
            await server.storage.close()
            server = try TestServer(folder: server.folder, googlePlay: play.trust(asksStore: false))
        }
        // The token is still valid: its lifetime is an hour, plus a minute.
        server.set("2026-05-02T10:30:00Z")
        play.set("2026-05-02T10:30:00Z")
        var late = try TestPlay.push(TestPlay.notice(4), messageId: "late", at: server.now)
        late.body = old.body
        let response = try await server.service.handler(late)
        #expect(response.status == 200)
        #expect(try await server.premium() == ended)
        await server.close()
    }

    @Test(arguments: [true, false])
    func `one event under two message ids is recorded once`(asksStore: Bool) async throws {
        let play = store()
        let server = try TestServer(googlePlay: play.trust(asksStore: asksStore))
        #expect(try await push(server, TestPlay.notice(4), "1") == (200, "committed"))
        let events = try await server.get("/v1/apps/cards/events").body
        let known = try facts(server)
        #expect(try await push(server, TestPlay.notice(4), "2") == (200, "committed"))
        #expect(try facts(server).count == known.count)
        #expect(try await server.get("/v1/apps/cards/events").body == events)
        await server.close()
    }

    @Test func `an app that serves only production ignores purchases of testers`() async throws {
        let play = store()
        let trust = play.trust(environments: [.production])
        let server = try TestServer(googlePlay: trust, environments: [.production])
        #expect(try await push(server, TestPlay.notice(4)) == (200, "ignored"))
        #expect(try await server.counts() == ["refusal wrong-environment 1"])
        await server.close()
    }
}
