import Testing
import TideoverAppStore
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverRehearsal
import TideoverSandbox
import TideoverServer

@testable import TideoverTestServer

/// An SDK on Apple's platforms restores by presenting one transaction of an Apple account. The
/// server asks the App Store for the others.
@Suite struct SDKRestoreTests {
    private static let entitlements = ["forever", "premium", "storage"]
    private static let anonymous = "$RCAnonymousID:0f1e2d3c4b5a69788796a5b4c3d2e1f0"
    private static let former = "$RCAnonymousID:ffffffffffffffffffffffffffffffff"
    private static let lifetime = "cards.lifetime"

    private static let catalogue = Catalogue(
        products: TestServer.catalogue.products.merging([
            "cards.storage": Product(
                entitlements: ["storage"],
                group: "storage",
                period: Period(months: 1),
                store: .appStore
            ),
            lifetime: Product(
                entitlements: ["forever"],
                kind: .nonConsumable,
                store: .appStore
            ),
        ]) { first, _ in first }
    )

    /// An Apple account with two subscriptions and a lifetime purchase, and a server that knows
    /// none of them.
    private struct World {
        let rehearsed: RehearsedStore
        let backEnd: RehearsedBackEnd
        let time = TestTime()

        init(
            policy: Policy = Policy(),
            clients: ClientLimits = ClientLimits(),
            receiptTime: Duration = .seconds(3_600),
            before: @escaping @Sendable (Request) async throws -> Void = { _ in }
        ) async throws {
            let price = try #require(StorePrice("1.99 USD"))
            let month = try #require(StorePeriod(iso: "P1M"))
            rehearsed = try RehearsedStore(
                alsoSelling: [
                    AppStoreProduct(
                        id: "cards.storage",
                        group: "storage",
                        period: month,
                        price: price
                    )
                ],
                oneTimeProducts: [
                    AppStoreOneTimeProduct(id: lifetime, kind: .nonConsumable, price: price)
                ]
            )
            backEnd = try RehearsedBackEnd(
                rehearsed,
                time,
                access: rehearsed.access(before: before),
                catalogue: SDKRestoreTests.catalogue,
                policy: policy,
                revenueCatSDK: RevenueCatSDK(appStoreKeys: ["appl_test"]),
                clients: clients,
                receiptTime: receiptTime
            )
            let store = rehearsed.store
            try await store.register(StoreCustomer(name: "anna", appAccountToken: nil))
            for product in ["cards.pro.monthly", "cards.storage"] {
                try await store.perform(
                    .subscribe(product: product, trial: .declined),
                    by: "anna"
                )
            }
            try await store.perform(.buy(product: lifetime, outsideApp: false), by: "anna")
        }

        /// Returns what StoreKit shows on a device of the account.
        func transaction(of product: String) async throws -> JSONValue {
            let shown = try await rehearsed.store.device(of: "anna")
            return try #require(shown.first { $0.productId == product }).signedTransaction
        }

        /// Posts the transaction of one product as the app of a customer.
        func post(
            _ product: String,
            as customer: String,
            source: String = "restore",
            from peer: String = "192.0.2.1"
        ) async throws -> SDKApp.Answer {
            let receipt: JSONObject = [
                "app_user_id": .string(customer), "is_restore": true,
                "initiation_source": .string(source),
                "fetch_token": try await transaction(of: product),
            ]
            let response = try await backEnd.service.checkedAnswer(
                to: Request(
                    method: "POST",
                    path: "/v1/receipts",
                    headers: ["Authorization": "Bearer appl_test"],
                    body: JSONValue.object(receipt).encoded(),
                    peer: peer
                )
            )
            return SDKApp.Answer(response: response, content: response.body)
        }

        /// Returns the entitlements of a customer that an SDK reads as active.
        func active(_ customer: String) async throws -> [String] {
            let path = "/v1/subscribers/\(PercentEncoding.encode(customer))"
            let request = Request(path: path, headers: ["Authorization": "Bearer appl_test"])
            let response = try await backEnd.service.checkedAnswer(to: request)
            let answer = SDKApp.Answer(response: response, content: response.body)
            return entitlements.filter(answer.isActive)
        }

        /// The number of requests for the account's history.
        var questions: Int {
            get async { await rehearsed.store.calls.count { $0.operation == .transactionHistory } }
        }
    }

    @Test(arguments: ["cards.pro.monthly", "cards.storage", lifetime])
    func `a restore of one purchase brings all of its Apple account`(
        product: String
    ) async throws {
        let world = try await World()
        let answer = try await world.post(product, as: Self.anonymous)
        #expect(answer.status == 200)
        #expect(Self.entitlements.filter(answer.isActive) == Self.entitlements)
        #expect(try await world.active(Self.anonymous) == Self.entitlements)
        #expect(await world.questions == 1)
        #expect(world.backEnd.logged.filter { $0.contains("a restore may lack") }.isEmpty)
        await world.backEnd.close()
    }

    @Test func `every page of a long history counts`() async throws {
        let world = try await World()
        world.time.clock.now = RehearsedStore.start + .days(800)
        let now = world.time.clock.now.millisecondsSince1970
        try await world.rehearsed.store.advance(to: now) { _ in 200 }
        let answer = try await world.post("cards.storage", as: Self.anonymous)
        #expect(Self.entitlements.filter(answer.isActive) == Self.entitlements)
        #expect(await world.questions == 3)
        await world.backEnd.close()
    }

    @Test func `a restored subscription in grace gives access`() async throws {
        let world = try await World()
        let store = world.rehearsed.store
        try await store.perform(.failPayments, by: "anna")
        // The store renewed nothing five days ago, and retries.
        world.time.clock.now = RehearsedStore.start + .days(36)
        let now = world.time.clock.now.millisecondsSince1970
        try await store.advance(to: now) { _ in 500 }
        let answer = try await world.post(Self.lifetime, as: Self.anonymous)
        #expect(Self.entitlements.filter(answer.isActive) == ["forever", "premium"])
        let subscription = answer.subscription("cards.pro.monthly")
        #expect(subscription?["billing_issues_detected_at"]?.string != nil)
        await world.backEnd.close()
    }

    @Test func `a purchase asks for no other, also if its customer is anonymous`() async throws {
        let world = try await World()
        let answer = try await world.post("cards.storage", as: Self.anonymous, source: "purchase")
        #expect(answer.status == 200)
        #expect(try await world.active(Self.anonymous) == ["storage"])
        #expect(await world.questions == 0)
        await world.backEnd.close()
    }

    // MARK: Owners

    @Test func `a restore in a new installation takes all purchases of the former one`()
        async throws
    {
        let world = try await World()
        #expect(try await world.post("cards.storage", as: Self.former).status == 200)
        #expect(try await world.active(Self.former) == Self.entitlements)
        #expect(try await world.post(Self.lifetime, as: Self.anonymous).status == 200)
        #expect(try await world.active(Self.anonymous) == Self.entitlements)
        #expect(try await world.active(Self.former) == [])
        await world.backEnd.close()
    }

    @Test(arguments: [
        (Policy.Transfer.claim, ["forever", "storage"]),
        (.keep, ["forever", "storage"]),
        (.transferIfInactive, ["forever", "storage"]),
        (.transfer(coolDown: .days(0)), entitlements),
    ])
    func `a purchase of another customer follows policy, and the others are restored`(
        transfer: Policy.Transfer,
        restored: [String]
    ) async throws {
        var policy = Policy()
        policy.transfer = transfer
        let world = try await World(policy: policy)
        let owned = try await world.post("cards.pro.monthly", as: "u_9", source: "purchase")
        #expect(owned.isActive("premium"))
        let answer = try await world.post("cards.storage", as: Self.anonymous)
        #expect(answer.status == 200)
        #expect(Self.entitlements.filter(answer.isActive) == restored)
        let left = restored == Self.entitlements ? [] : ["premium"]
        #expect(try await world.active("u_9") == left)
        await world.backEnd.close()
    }

    @Test func `policy that keeps purchases keeps those of a former installation`() async throws {
        var policy = Policy()
        policy.transfer = .keep
        let world = try await World(policy: policy)
        _ = try await world.post("cards.pro.monthly", as: Self.former, source: "purchase")
        #expect(try await world.post("cards.storage", as: Self.anonymous).status == 200)
        #expect(try await world.active(Self.anonymous) == ["forever", "storage"])
        #expect(try await world.active(Self.former) == ["premium"])
        await world.backEnd.close()
    }

    // MARK: Trouble

    @Test(arguments: [
        AppStoreFault.unavailable(status: 503), .rateLimited(for: 60_000),
        .refused(.transactionNotFound), .truncated, .noAnswer(after: 10),
    ])
    func `a restore counts what it presents if the store does not answer`(
        fault: AppStoreFault
    ) async throws {
        let world = try await World()
        await world.rehearsed.store.add(
            AppStoreFaultRule(fault, on: .transactionHistory, times: 1)
        )
        let answer = try await world.post("cards.storage", as: Self.anonymous)
        #expect(answer.status == 200)
        #expect(Self.entitlements.filter(answer.isActive) == ["storage"])
        let warnings = world.backEnd.logged.filter { $0.contains("a restore may lack purchases") }
        #expect(warnings.count == 1)
        // The customer restores again.
        world.time.clock.now = world.time.clock.now + .minutes(2)
        #expect(try await world.post("cards.storage", as: Self.anonymous).status == 200)
        #expect(try await world.active(Self.anonymous) == Self.entitlements)
        await world.backEnd.close()
    }

    @Test func `a slow store delays a restore no longer than a receipt may take`() async throws {
        // On a loaded machine the time may end before the store is asked; then there is more.
        for seconds in [5, 20, 80, 320] {
            let world = try await World(receiptTime: .seconds(seconds)) { request in
                guard request.path.contains("/history/") else { return }
                try await Task.sleep(for: .seconds(3_600))
            }
            let answer = try await world.post("cards.storage", as: Self.anonymous)
            let isLate = answer.status == 503 && seconds < 320
            if !isLate {
                #expect(answer.status == 200)
                #expect(Self.entitlements.filter(answer.isActive) == ["storage"])
                let logged = world.backEnd.logged
                #expect(logged.contains { $0.contains("a restore may lack purchases") })
            }
            await world.backEnd.close()
            if !isLate { return }
        }
    }

    @Test func `repeated restores ask the store within the sender's budget`() async throws {
        let world = try await World(clients: ClientLimits(refusalsPerMinute: 3))
        for _ in 0..<12 {
            let answer = try await world.post("cards.storage", as: Self.anonymous)
            #expect(answer.status == 200)
            #expect(Self.entitlements.filter(answer.isActive) == Self.entitlements)
        }
        #expect(await world.questions == 3)
        let other = try await world.post(
            "cards.storage",
            as: Self.anonymous,
            from: "198.51.100.7"
        )
        #expect(other.status == 200)
        #expect(await world.questions == 4)
        await world.backEnd.close()
    }
}
