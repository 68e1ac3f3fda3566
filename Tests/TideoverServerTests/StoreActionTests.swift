import Testing
import TideoverAppStore
import TideoverConfiguration
import TideoverCore
import TideoverGooglePlay
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSQLite
import TideoverSandbox
import TideoverServer
import TideoverSignatures

@testable import TideoverTestServer

/// Sends requests to change purchases to a server.
struct StoreActionSender {
    let service: Service
    var credentials = TestServer.credentials
    var environment = "simulated"

    func send(
        _ path: String,
        _ body: JSONObject,
        key: String? = nil,
        dryRun: Bool = false
    ) async throws -> (status: Int, answer: JSONValue) {
        var headers = credentials
        headers["Idempotency-Key"] = key
        let query = "environment=\(environment)\(dryRun ? "&dryRun=true" : "")"
        let target = "/v1/apps/cards/\(path)?\(query)"
        let request = try #require(
            Request(
                method: "POST",
                target: target,
                headers: headers,
                body: JSONValue.object(body).encoded()
            )
        )
        let response = try await service.handler(request)
        return (response.status, JSONValue(try JSONDocument(response.body).root))
    }

    func act(
        _ purchase: String,
        _ action: String,
        _ members: JSONObject = [:],
        key: String? = "k",
        dryRun: Bool = false
    ) async throws -> (status: Int, answer: JSONValue) {
        var body: JSONObject = ["action": .string(action), "why": "ticket 17"]
        for (name, value) in members { body[name] = value }
        let path = "purchases/\(PercentEncoding.encode(purchase))/actions"
        return try await send(path, body, key: dryRun ? nil : key, dryRun: dryRun)
    }

    /// Returns `action outcome actor` of each change in the audit.
    func audit() async throws -> [String] {
        let request = Request(path: "/v1/apps/cards/audit", headers: TestServer.credentials)
        let root = JSONValue(try JSONDocument(try await service.handler(request).body).root)
        return (root["audit"]?.array ?? []).compactMap { line in
            guard let change = line["change"], let action = change["action"]?.string else {
                return nil
            }
            return [action, change["outcome"]?.string ?? "", line["actor"]?.string ?? ""]
                .joined(separator: " ")
        }
    }
}

/// Work that is done once, before the next request to a store.
final class Interruption: Sendable {
    typealias Work = @Sendable () async throws -> Void

    private let work = Locked<Work?>(nil)

    func set(_ work: @escaping Work) { self.work.withLock { $0 = work } }

    func run() async throws {
        let work = self.work.withLock { work in
            defer { work = nil }
            return work
        }
        try await work?()
    }
}

func slug(_ answer: JSONValue) -> String? {
    answer["type"]?.string?.split(separator: "/").last.map(String.init)
}

/// Changes of purchases on the App Store, against the simulated store.
@Suite struct AppStoreActionTests {
    /// A store with a subscription of Anna's, and a server that knows it.
    private struct World {
        let rehearsed: RehearsedStore
        let time = TestTime(movesClock: true)
        let backEnd: RehearsedBackEnd
        let transaction: String
        /// Runs before the next request of the back end.
        let interruption = Interruption()
        private let consumption: ConsumptionChoices
        var sender: StoreActionSender { StoreActionSender(service: backEnd.service) }

        init(_ consumption: ConsumptionChoices = ConsumptionChoices()) async throws {
            rehearsed = try RehearsedStore()
            self.consumption = consumption
            let (store, time, interruption) = (rehearsed.store, time, interruption)
            backEnd = try RehearsedBackEnd(
                rehearsed,
                time,
                access: rehearsed.access { _ in
                    let now = time.clock.now.millisecondsSince1970
                    _ = try await store.advance(to: now) { _ in 500 }
                    try await interruption.run()
                },
                consumption: consumption
            )
            let anna = TestServer.anna
            let said = try await store.subscribe(anna, token: anna)
            transaction = try #require(said.first?.transaction?["transactionId"]?.string)
            try await pass(.minutes(1))
        }

        /// Returns another server on the same storage.
        func other() throws -> RehearsedBackEnd {
            try RehearsedBackEnd(
                rehearsed,
                time,
                access: rehearsed.following(time),
                consumption: consumption,
                sharing: backEnd
            )
        }

        /// Advances the time; the store's notifications arrive, at this back end or another one.
        func pass(_ length: Milliseconds, at other: RehearsedBackEnd? = nil) async throws {
            let backEnd = other ?? backEnd
            try await rehearsed.store.pass(length, on: time) {
                try await backEnd.post($0)
            }
        }

        func end() async throws -> String? {
            let answer = try await backEnd.answer(TestServer.anna)
            return answer["entitlements"]?["premium"]?["accessUntil"]?.string
        }

        func ask(
            _ reason: AppStoreAction.RefundRequestReason = .other,
            at other: RehearsedBackEnd? = nil
        ) async throws {
            try await rehearsed.store.perform(
                .requestRefund(product: nil, reason: reason),
                by: TestServer.anna
            )
            try await pass(.minutes(1), at: other)
        }
    }

    @Test func `an extension moves the end at once, once, and leaves two audit lines`()
        async throws
    {
        let world = try await World()
        let before = try await world.end()
        let draft = try await world.sender.act(
            world.transaction,
            "extend",
            ["days": 7],
            dryRun: true
        )
        #expect(draft.status == 200)
        #expect(draft.answer["request"]?["method"]?.string == "PUT")
        #expect(draft.answer["request"]?["body"]?["extendByDays"] == 7)
        #expect(!String(decoding: draft.answer.encoded(), as: UTF8.self).contains("Bearer"))
        #expect(try await world.end() == before)
        let first = try await world.sender.act(world.transaction, "extend", ["days": 7])
        #expect(first.status == 200, "\(first.answer)")
        let after = try await world.end()
        #expect(after != before)
        #expect(first.answer["answer"]?["effectiveDate"]?.string == after)
        #expect(first.answer["customer"]?.string == TestServer.anna)
        let again = try await world.sender.act(world.transaction, "extend", ["days": 7])
        #expect(again.answer["repeated"] == true)
        #expect(try await world.end() == after)
        let other = try await world.sender.act(world.transaction, "extend", ["days": 8])
        #expect(slug(other.answer) == "idempotency-key-reused")
        #expect(
            try await world.sender.audit() == [
                "extend dryRun operator", "extend requested operator", "extend completed operator",
            ]
        )
        await world.backEnd.close()
    }

    @Test func `an extension with an unknown outcome is not sent twice, an unsent one is`()
        async throws
    {
        let world = try await World()
        let store = world.rehearsed.store
        await store.add(AppStoreFaultRule(.noAnswer(after: 0), on: .extendRenewalDate))
        let lost = try await world.sender.act(world.transaction, "extend", ["days": 7])
        #expect(slug(lost.answer) == "store-outcome-unknown")
        let again = try await world.sender.act(world.transaction, "extend", ["days": 7])
        #expect(slug(again.answer) == "store-outcome-unknown")
        #expect(again.answer["repeatable"] == false)
        await store.add(AppStoreFaultRule(.refused(.extensionIneligible), on: .extendRenewalDate))
        let rejected = try await world.sender.act(
            world.transaction,
            "extend",
            ["days": 7],
            key: "k2"
        )
        #expect(slug(rejected.answer) == "store-rejected")
        let done = try await world.sender.act(world.transaction, "extend", ["days": 7], key: "k2")
        #expect(done.status == 200, "\(done.answer)")
        #expect(
            try await world.sender.audit() == [
                "extend requested operator", "extend unknown operator",
                "extend requested operator", "extend rejected operator",
                "extend completed operator",
            ]
        )
        await world.backEnd.close()
    }

    @Test func `a change that one server completed stays completed when another one's fails`()
        async throws
    {
        let world = try await World()
        let second = StoreActionSender(service: try world.other().service)
        let (store, time, transaction) = (world.rehearsed.store, world.time, world.transaction)
        let members: JSONObject = ["accountToken": .string(TestServer.ben)]
        let statuses = Locked<[Int]>([])
        world.interruption.set {
            let early = try await second.act(transaction, "accountToken", members)
            // As if the first server had been killed.
            time.clock.now = time.clock.now + .minutes(3)
            let late = try await second.act(transaction, "accountToken", members)
            statuses.withLock { $0 = [early.status, late.status] }
            await store.add(AppStoreFaultRule(.refused(.appAccountToken), on: .setAppAccountToken))
        }
        let first = try await world.sender.act(transaction, "accountToken", members)
        #expect(statuses.withLock { $0 } == [409, 200])
        #expect(slug(first.answer) == "store-rejected", "\(first.answer)")
        let again = try await world.sender.act(transaction, "accountToken", members)
        #expect(again.status == 200)
        #expect(again.answer["repeated"] == true)
        await world.backEnd.close()
    }

    @Test func `one request extends all subscriptions and reports its progress`() async throws {
        let world = try await World()
        let before = try await world.end()
        try await world.time.sleep(.seconds(10))
        let body: JSONObject = [
            "product": "cards.pro.monthly", "days": 3, "reason": "serviceIssue",
            "storefronts": ["USA"], "why": "outage of 5 May",
        ]
        let sent = try await world.sender.send("extensions", body, key: "k")
        #expect(sent.status == 200, "\(sent.answer)")
        let id = try #require(sent.answer["answer"]?["requestIdentifier"]?.string)
        try await world.pass(.hours(1))
        try await world.time.sleep(.seconds(10))
        let status = try await world.backEnd.get(
            "/v1/apps/cards/extensions/\(id)?environment=simulated&product=cards.pro.monthly"
        )
        #expect(status["complete"] == true)
        #expect(status["succeeded"] == 1)
        #expect(try await world.end() != before)
        #expect(
            try await world.sender.audit() == [
                "extendAll requested operator", "extendAll completed operator",
            ]
        )
        await world.backEnd.close()
    }

    @Test func `a new account token moves the purchase to its customer`() async throws {
        let world = try await World()
        let set = try await world.sender.act(
            world.transaction,
            "accountToken",
            ["accountToken": .string(TestServer.ben)]
        )
        #expect(set.status == 200, "\(set.answer)")
        let ben = try await world.backEnd.answer(TestServer.ben)
        #expect(ben["entitlements"]?["premium"]?["access"] == true)
        await world.backEnd.close()
    }

    static let slips: [(String, String, JSONObject, String)] = [
        ("extend", "x", ["days": 7], "unknown-purchase"),
        ("extend", "", ["days": 91], "bad-store-action"),
        ("extend", "", ["days": 7, "reazon": "other"], "bad-store-action"),
        ("cancel", "", [:], "bad-store-action"),
        ("consumption", "", [:], "bad-store-action"),
        ("accountToken", "", ["accountToken": "anna"], "bad-store-action"),
    ]

    @Test(arguments: slips)
    func `an invalid request changes nothing`(
        action: String,
        purchase: String,
        members: JSONObject,
        problem: String
    ) async throws {
        let world = try await World()
        let name = purchase.isEmpty ? world.transaction : purchase
        let refused = try await world.sender.act(name, action, members)
        #expect(slug(refused.answer) == problem)
        #expect(try await world.sender.audit() == [])
        let nameless = try await world.sender.act(
            world.transaction,
            "extend",
            ["days": 7],
            key: nil
        )
        #expect(slug(nameless.answer) == "idempotency-key-needed")
        await world.backEnd.close()
    }

    // MARK: Consumption

    private static let consent = ConsumptionChoices(
        customersConsent: true,
        refundPreference: .decline
    )

    @Test func `a request for consumption information is answered by policy`() async throws {
        let world = try await World(Self.consent)
        try await world.pass(.days(15))
        try await world.ask()
        #expect(await world.backEnd.service.meetDueDeadlines())
        let sent = await world.rehearsed.store.consumptions
        #expect(sent.count == 1)
        #expect(sent.first?.transactionId == world.transaction)
        #expect(sent.first?.body["customerConsented"] == true)
        #expect(sent.first?.body["refundPreference"] == "DECLINE")
        let share = try #require(sent.first?.body["consumptionPercentage"]?.int64)
        #expect((45_000...55_000).contains(share))
        #expect(await world.backEnd.service.meetDueDeadlines())
        #expect(await world.rehearsed.store.consumptions.count == 1)
        #expect(try await world.sender.audit() == ["consumption completed server"])
        await world.backEnd.close()
    }

    @Test func `without the customers' consent no answer is sent`() async throws {
        let world = try await World()
        try await world.ask()
        #expect(await world.backEnd.service.meetDueDeadlines())
        #expect(await world.rehearsed.store.consumptions.isEmpty)
        let draft = try await world.sender.act(
            world.transaction,
            "consumption",
            ["customerConsented": true],
            dryRun: true
        )
        #expect(draft.answer["request"]?["body"]?["deliveryStatus"] == "DELIVERED")
        let byHand = try await world.sender.act(
            world.transaction,
            "consumption",
            ["customerConsented": true]
        )
        #expect(byHand.status == 200, "\(byHand.answer)")
        #expect(await world.rehearsed.store.consumptions.count == 1)
        await world.backEnd.close()
    }

    @Test func `an answer is retried, raises an alarm before its deadline, and then is missed`()
        async throws
    {
        let world = try await World(Self.consent)
        let store = world.rehearsed.store
        await store.add(
            AppStoreFaultRule(.unavailable(status: 503), on: .consumptionInfo, times: nil)
        )
        try await world.ask()
        var alarms: [Int] = []
        for _ in 0..<13 {
            #expect(await world.backEnd.service.meetDueDeadlines())
            alarms.append(
                world.backEnd.logged.count { $0.contains("consumption-window-closing") }
            )
            try await world.pass(.hours(1))
        }
        #expect(alarms.prefix(10).allSatisfy { $0 == 0 })
        #expect(alarms.last == 1)
        #expect(await world.backEnd.service.meetDueDeadlines())
        #expect(try await world.sender.audit() == ["consumption missed server"])
        await world.backEnd.close()
    }

    @Test(arguments: [
        (AppStoreAPIError.accountNotFoundRetryable, true),
        (.originalTransactionNotFoundRetryable, true), (.transactionNotFound, false),
    ])
    func `an answer is retried if the store permits it`(
        error: AppStoreAPIError,
        isRetried: Bool
    ) async throws {
        let world = try await World(Self.consent)
        await world.rehearsed.store.add(AppStoreFaultRule(.refused(error), on: .consumptionInfo))
        try await world.ask()
        #expect(await world.backEnd.service.meetDueDeadlines())
        #expect(await world.rehearsed.store.consumptions.isEmpty)
        try await world.pass(.minutes(5))
        #expect(await world.backEnd.service.meetDueDeadlines())
        #expect(await world.rehearsed.store.consumptions.count == (isRetried ? 1 : 0))
        let outcome = isRetried ? "completed" : "rejected"
        #expect(try await world.sender.audit() == ["consumption \(outcome) server"])
        await world.backEnd.close()
    }

    @Test func `an answered request gives its place to a new one`() async throws {
        let world = try await World(Self.consent)
        for _ in 0..<128 { try await world.ask() }
        let byHand = try await world.sender.act(
            world.transaction,
            "consumption",
            ["customerConsented": true]
        )
        #expect(byHand.status == 200, "\(byHand.answer)")
        try await world.ask()
        #expect(await world.backEnd.service.meetDueDeadlines())
        #expect(await world.rehearsed.store.consumptions.count == 2)
        #expect(!world.backEnd.logged.contains { $0.contains("consumption-queue-full") })
        await world.backEnd.close()
    }

    @Test func `servers on one storage share the requests and answer each once`() async throws {
        let world = try await World(Self.consent)
        let second = try world.other()
        try await world.ask()
        try await world.ask(at: second)
        let third = try world.other()
        #expect(await third.service.meetDueDeadlines())
        #expect(await world.rehearsed.store.consumptions.count == 2)
        #expect(await world.backEnd.service.meetDueDeadlines())
        #expect(await second.service.meetDueDeadlines())
        #expect(await world.rehearsed.store.consumptions.count == 2)
        await world.backEnd.close()
    }

    @Test func `a server answers a request that another one received and left`() async throws {
        let world = try await World(Self.consent)
        let second = try world.other()
        #expect(await second.service.meetDueDeadlines())
        try await world.ask()
        try await world.pass(.minutes(1))
        #expect(await second.service.meetDueDeadlines())
        #expect(await world.rehearsed.store.consumptions.count == 1)
        await world.backEnd.close()
    }

    @Test func `a request that waited is answered after a restart`() async throws {
        let world = try await World(Self.consent)
        try await world.ask()
        await world.backEnd.storage.close()
        let restarted = try RehearsedBackEnd(
            world.rehearsed,
            world.time,
            folder: world.backEnd.folder,
            access: world.rehearsed.following(world.time),
            consumption: Self.consent
        )
        try await world.time.sleep(.seconds(1))
        #expect(await restarted.service.meetDueDeadlines())
        #expect(await world.rehearsed.store.consumptions.count == 1)
        await restarted.close()
    }
}

/// Changes of purchases on Google Play, against the simulated store.
@Suite struct GooglePlayActionTests {
    private static let keyFile = PlayServiceAccountFile(tokenURL: SimulatedGooglePlay.tokenURL)
    private static let authority = PlayAuthority(seed: 1)
    private static let anna = GooglePlayCustomer(
        name: "anna",
        obfuscatedAccountId: TestServer.anna
    )

    /// A store with a subscription of Anna's, and a server that knows it.
    private struct World {
        let store: SimulatedGooglePlay
        let server: TestServer
        let token: String
        /// Runs before the next request of the server.
        let interruption = Interruption()
        private let clock: TestClock
        var sender: StoreActionSender { StoreActionSender(service: server.service) }

        init() async throws {
            let (start, clock) = (Message.start, TestClock())
            clock.now = start
            let month = try #require(StorePeriod(iso: "P1M"))
            let price = GooglePlayPrice(try #require(StorePrice("9.99 USD")))
            let plan = GooglePlayBasePlan(id: "monthly", period: month, price: price)
            let store = SimulatedGooglePlay(
                GooglePlayApp(
                    packageName: "com.example.cards",
                    subscriptions: [
                        GooglePlaySubscriptionProduct(id: "cards.pro.monthly", basePlans: [plan])
                    ]
                ),
                seed: 1,
                now: start.millisecondsSince1970,
                authority: GooglePlayActionTests.authority,
                push: PubSubPush(audience: TestPlay.audience, email: TestPlay.email),
                accounts: [GooglePlayActionTests.keyFile.account]
            )
            self.clock = clock
            server = try TestServer(
                googlePlay: try World.trust(store, clock, interruption),
                environments: [.simulated]
            )
            self.store = store
            try await store.register(GooglePlayActionTests.anna)
            try await store.perform(
                .subscribe(
                    to: [GooglePlayChoice("cards.pro.monthly")],
                    payment: .prompt,
                    from: .app
                ),
                by: "anna"
            )
            token = try #require(await store.tokens(of: "anna").first)
            let device = Device(server: server, customer: TestServer.anna)
            let purchase: JSONObject = [
                "store": "googlePlay", "productId": "cards.pro.monthly",
                "purchaseToken": .string(token),
            ]
            let (status, answer) = try await device.present(
                ["purchases": [.object(purchase)]],
                environment: "simulated"
            )
            #expect(status == 200)
            #expect(answer["entitlements"]?["premium"]?["access"] == true, "\(answer)")
            let later = start + .minutes(1)
            clock.now = later
            server.set(later)
            try await store.advance(to: later.millisecondsSince1970) { _ in 200 }
        }

        /// Returns another server on the same storage.
        func other() throws -> TestServer {
            try TestServer(
                googlePlay: try World.trust(store, clock, Interruption()),
                environments: [.simulated],
                now: server.now,
                sharing: server
            )
        }

        private static func trust(
            _ store: SimulatedGooglePlay,
            _ clock: TestClock,
            _ interruption: Interruption
        ) throws -> PlayTrust {
            let file = try ServiceAccount.read(
                keyFile: GooglePlayActionTests.keyFile.json.encoded()
            )
            let key = try RSAPrivateKey(pem: file.privateKey)
            let now: @Sendable () -> Instant = { clock.now }
            let access = PlayAccess(
                account: file.account,
                signer: { key.sign($0, .sha256) },
                clock: now,
                handler: store.google
            )
            return PlayTrust(
                identity: PlayIdentity(
                    packageName: "com.example.cards",
                    environments: [.simulated],
                    isSimulated: true
                ),
                expectation: nil,
                keys: PushKeys(clock: now, handler: store.google),
                api: PlayAPI(
                    packageName: "com.example.cards",
                    access: access,
                    clock: now,
                    handler: { request in
                        try await interruption.run()
                        return try await store.google(request)
                    }
                )
            )
        }

        func premium() async throws -> JSONValue? {
            let path = "/v1/apps/cards/customers/\(TestServer.anna)?environment=simulated"
            let body = try await server.get(path).body
            return JSONValue(try JSONDocument(body).root)["entitlements"]?["premium"]
        }
    }

    @Test func `a cancellation turns renewal off and leaves access`() async throws {
        let world = try await World()
        let draft = try await world.sender.act(world.token, "cancel", dryRun: true)
        let request = String(decoding: draft.answer.encoded(), as: UTF8.self)
        #expect(draft.status == 200, "\(draft.answer)")
        #expect(request.contains("PURCHASE_TOKEN") && !request.contains(world.token))
        let done = try await world.sender.act(world.token, "cancel")
        #expect(done.status == 200, "\(done.answer)")
        let premium = try await world.premium()
        #expect(premium?["access"] == true)
        #expect(premium?["willRenew"] == false)
        #expect(
            try await world.sender.audit() == [
                "cancel dryRun operator", "cancel requested operator", "cancel completed operator",
            ]
        )
        await world.server.close()
    }

    @Test func `a deferral moves the end`() async throws {
        let world = try await World()
        let before = try await world.premium()?["accessUntil"]?.string
        let done = try await world.sender.act(world.token, "defer", ["days": 10])
        #expect(done.status == 200, "\(done.answer)")
        let after = try await world.premium()?["accessUntil"]?.string
        #expect(after != before)
        #expect(done.answer["answer"]?["expiries"]?.array?.first?["expiryTime"]?.string == after)
        await world.server.close()
    }

    @Test func `two servers do not carry out the change of one key twice`() async throws {
        let world = try await World()
        let second = StoreActionSender(service: try world.other().service)
        let token = world.token
        let status = Locked(0)
        // The first server has read that the key is new, and asks about the subscription.
        world.interruption.set {
            let answer = try await second.act(token, "defer", ["days": 10])
            status.withLock { $0 = answer.status }
        }
        let late = try await world.sender.act(token, "defer", ["days": 10])
        #expect(status.withLock { $0 } == 200)
        #expect(slug(late.answer) == "store-action-under-way", "\(late.answer)")
        let again = try await world.sender.act(token, "defer", ["days": 10])
        #expect(again.answer["repeated"] == true)
        let expiry = again.answer["answer"]?["expiries"]?.array?.first?["expiryTime"]?.string
        let premium = try await world.premium()
        #expect(expiry == premium?["accessUntil"]?.string)
        let audit = try await world.sender.audit()
        #expect(audit == ["defer requested operator", "defer completed operator"])
        await world.server.close()
    }

    @Test func `a revocation ends access at once`() async throws {
        let world = try await World()
        let done = try await world.sender.act(world.token, "revoke", ["refund": "full"])
        #expect(done.status == 200, "\(done.answer)")
        #expect(try await world.premium()?["access"] == false)
        await world.server.close()
    }

    @Test func `a refund needs an order and ends access where it revokes`() async throws {
        let world = try await World()
        let order = try #require(await world.store.newestOrder(of: world.token))
        let unnamed = try await world.sender.act(world.token, "refund")
        #expect(slug(unnamed.answer) == "bad-store-action")
        let done = try await world.sender.act(order, "refund", ["revokes": true])
        #expect(done.status == 200, "\(done.answer)")
        #expect(try await world.premium()?["access"] == false)
        let twice = try await world.sender.act(order, "refund", ["revokes": true], key: "k2")
        #expect(slug(twice.answer) == "store-rejected", "\(twice.answer)")
        await world.server.close()
    }

    @Test func `an action is on the paid purchase, not on one that awaits its payment`()
        async throws
    {
        let google = ScriptedPlay(TestTime(at: PlayBackEnd.start, movesClock: true))
        let end = PlayBackEnd.start + .days(31)
        google.play("token-1") { _ in ScriptedPlay.subscription("ACTIVE", until: end) }
        google.play("token-2") { _ in
            ScriptedPlay.subscription("PENDING", until: end, ["linkedPurchaseToken": "token-1"])
        }
        google.play("token-1:cancel") { _ in [:] }
        let backEnd = try PlayBackEnd(google)
        try await backEnd.push(4, "token-1")
        google.time.clock.now = PlayBackEnd.start + .hours(1)
        try await backEnd.push(4, "token-2")
        let sender = StoreActionSender(service: backEnd.service, environment: "production")
        let done = try await sender.act("GPA.1", "cancel")
        #expect(done.status == 200, "\(done.answer)")
        let changes = google.calls.filter { $0.method == "POST" }.map(\.path)
        #expect(changes == ["subscriptionsv2/tokens/token-1:cancel"])
        await backEnd.close()
    }

    @Test func `a refund needs an admin key`() async throws {
        let world = try await World()
        let path = "/v1/keys"
        let made = try await world.server.send(
            "POST",
            path,
            body: Array(#"{"kind": "secret", "apps": ["cards"]}"#.utf8)
        )
        let key = try #require(try JSONDocument(made.body).root["key"]?.string)
        var sender = world.sender
        sender.credentials = ["Authorization": "Bearer \(key)"]
        let revoked = try await sender.act(world.token, "revoke", ["refund": "full"])
        #expect(revoked.status == 403)
        let cancelled = try await sender.act(world.token, "cancel")
        #expect(cancelled.status == 200, "\(cancelled.answer)")
        let all = try await sender.send(
            "extensions",
            ["product": "cards.pro.monthly", "days": 3, "why": "x"],
            key: "k"
        )
        #expect(all.status == 403)
        await world.server.close()
    }
}
