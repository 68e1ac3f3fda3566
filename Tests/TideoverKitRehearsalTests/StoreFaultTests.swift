import Foundation
import StoreKit
import StoreKitFaking
import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverKit
import TideoverLocks
import TideoverSandbox

/// Tests the kit on the stand-in, with StoreKit's known faults.
@Suite @MainActor struct StoreFaultTests {
    static let scenario = """
        {
          scenario: "A device", source: "Tideover",
          app: { id: "cards", bundleId: "com.example.cards" },
          products: {
            "cards.pro.monthly": { entitlements: ["premium"], group: "pro", period: "P1M", price: "9.99 USD", grace: "P16D" },
            "cards.art.monthly": { entitlements: ["art"], group: "art", period: "P1M", price: "4.99 USD" },
          },
          customers: { anna: {} },
          start: "2026-05-01T10:00:00Z",
          // A scenario has a step; these tests do what they need by themselves.
          steps: [ { do: "subscribe", product: "cards.pro.monthly" } ],
        }
        """

    private func rehearse(
        _ body: @MainActor (KitRehearsal) async throws -> Void
    ) async throws {
        let rehearsal = try await KitRehearsal(Scenario(reading: Array(Self.scenario.utf8)))
        try await rehearsal.device.fakeStore().serve {
            try await body(rehearsal)
        }
        try await rehearsal.close()
    }

    private var monthly: Int64 { 31 * 86_400_000 }

    private func buy(
        _ app: EntitlementStore,
        _ rehearsal: KitRehearsal,
        _ fault: PurchaseFault? = nil
    ) async throws -> PurchaseOutcome {
        var fake = rehearsal.device.fakeStore(fault)
        fake.products = ["cards.pro.monthly": .autoRenewable]
        return try await fake.serve {
            let products = try await StoreKit.Product.products(for: ["cards.pro.monthly"])
            let product = try #require(products.first)
            let outcome = try await app.purchase(product)
            await app.settled()
            return outcome
        }
    }

    @Test func `a request names the customer who made its purchases`() async throws {
        let ann = try #require(CustomerID("ann"))
        var kept = KeptState(customer: ann)
        let coins = SignedPurchase(
            transactionId: 7,
            productId: "coins",
            isVerified: true,
            isConsumable: true,
            jws: "a.b.c"
        )
        kept.queue = [QueuedPurchase(coins, of: ann)]
        var settings = KitSettings(
            bundleId: "com.example.cards",
            customer: try #require(CustomerID("bert")),
            catalogue: Catalogue()
        )
        settings.server = ServerIdentity(app: "cards", apiKey: "key", issuer: "tideover")
        let (bytes, paths) = (kept.json, Locked<[String]>([]))
        let app = EntitlementStore(
            settings,
            KitEffects(
                source: StoreSource(
                    read: { StoreReading() },
                    updates: { AsyncStream { $0.finish() } },
                    finish: { _ in },
                    sync: {}
                ),
                file: KeptFile(read: { bytes }, write: { _ in }),
                network: { request in
                    paths.withLock { $0.append(request.path) }
                    return Response(status: 404)
                },
                verify: { _, _, _ in false },
                clock: { ClockReading(clock: Instant(millisecondsSince1970: 0), uptime: .zero) },
                sleep: { _ in throw CancellationError() }
            )
        )
        await app.start()
        await app.settled()
        let reconciles = ["ann", "bert"].map { "/v1/apps/cards/customers/\($0)/reconcile" }
        #expect(paths.withLock { $0 } == reconciles)
    }

    @Test func `a prompt that appears again after a pause is reported again`() async throws {
        let (isPaused, clock) = (Locked(false), Locked<Int64>(1_777_629_600_000))
        let reports = Locked<[[UInt8]]>([])
        let app = EntitlementStore(
            try Self.settings(),
            KitEffects(
                source: Self.emptyStore,
                file: KeptFile(read: { nil }, write: { _ in }),
                network: { request in
                    guard request.path.hasSuffix("/prompts") else {
                        let now = Instant(millisecondsSince1970: clock.withLock { $0 })
                        return Response(
                            body: Self.graceReply(isPaused.withLock { $0 }, asOf: now)
                        )
                    }
                    reports.withLock { $0.append(request.body) }
                    return Response(body: request.body)
                },
                verify: { _, _, _ in false },
                clock: {
                    let now = clock.withLock { $0 }
                    return ClockReading(
                        clock: Instant(millisecondsSince1970: now),
                        uptime: Milliseconds(now)
                    )
                },
                sleep: { _ in throw CancellationError() }
            )
        )
        await app.start()
        await app.settled()
        for _ in 1...2 { app.reportPrompt() }
        await app.settled()
        #expect(reports.withLock { $0.count } == 1)
        for pause in [true, false] {
            isPaused.withLock { $0 = pause }
            clock.withLock { $0 += 86_400_000 }
            app.enteredForeground()
            await app.settled()
            #expect((app.prompt == nil) == pause)
            app.reportPrompt()
            await app.settled()
        }
        #expect(Set(reports.withLock { $0 }).count == 2)
        // The server dates them: a device's clock can be ahead, and such a report is refused.
        for report in reports.withLock({ $0 }) {
            #expect(try JSONDocument(report).root["shownAt"] == nil)
        }
    }

    private static let emptyStore = StoreSource(
        read: { StoreReading() },
        updates: { AsyncStream { $0.finish() } },
        finish: { _ in },
        sync: {}
    )

    private static func settings() throws -> KitSettings {
        var settings = KitSettings(
            bundleId: "com.example.cards",
            customer: try #require(CustomerID("ann")),
            catalogue: Catalogue()
        )
        settings.server = ServerIdentity(app: "cards", apiKey: "key", issuer: "tideover")
        return settings
    }

    /// A response about a failed payment; while the server's policy pauses, without a prompt.
    nonisolated private static func graceReply(_ isPaused: Bool, asOf: Instant) -> [UInt8] {
        let prompt =
            isPaused
            ? #"{"kind": "none"}"#
            : """
            {"kind": "soft", "entitlement": "premium", "key": "grace.soft", "arguments": {},
             "title": "Payment", "message": "It failed.",
             "action": {"label": "Fix", "url": "https://apps.apple.com/account/billing"}}
            """
        let reply = """
            {"environment": "production", "asOf": "\(asOf.rfc3339)", "customerVersion": 1,
             "entitlements": {"premium": {"access": true, "state": "grace",
             "reason": "billingIssue", "confidence": "confirmed", "willRenew": true,
             "productId": "pro", "pending": []}}, "prompt": \(prompt), "items": []}
            """
        return Array(reply.utf8)
    }

    /// A build from TestFlight buys in the sandbox, and its reader sees no purchase before that.
    @Test func `without purchases a reading has the environment of the app's record`() async {
        func environment(_ name: String, isVerified: Bool = true) async
            -> TideoverCore.Environment?
        {
            var fake = FakeStore()
            fake.record = { (name, isVerified) }
            return await fake.serve { await StoreSource.storeKit.read().environment }
        }
        #expect(await environment("Sandbox") == .sandbox)
        #expect(await environment("Production") == .production)
        #expect(await environment("Xcode") == nil)
        #expect(await environment("Another") == nil)
        #expect(await environment("Sandbox", isVerified: false) == nil)
        let none = await FakeStore().serve { await StoreSource.storeKit.read().environment }
        #expect(none == nil)
        var slow = FakeStore()
        slow.record = {
            try? await Task.sleep(for: .seconds(20))
            return nil
        }
        let begun = ContinuousClock.now
        let late = await slow.serve { await StoreSource.storeKit.read().environment }
        #expect(late == nil)
        #expect(ContinuousClock.now - begun < .seconds(15))
    }

    @Test(arguments: [true, false])
    func `a purchase in the app gives access and is finished`(withServer: Bool) async throws {
        try await rehearse { rehearsal in
            let app = await rehearsal.launch(withServer: withServer)
            #expect(app["premium"].access == .denied)
            let outcome = try await buy(app, rehearsal)
            #expect(outcome == .bought)
            #expect(app["premium"].access == .granted)
            #expect(await rehearsal.device.finishedIds.count == 1)
        }
    }

    @Test func `a purchase is finished while the store lists no unfinished ones`() async throws {
        try await rehearse { rehearsal in
            let app = await rehearsal.launch(withServer: true)
            var fake = rehearsal.device.fakeStore()
            fake.products = ["cards.pro.monthly": .autoRenewable]
            fake.unfinished = { [] }
            try await fake.serve {
                let products = try await StoreKit.Product.products(for: ["cards.pro.monthly"])
                let product = try #require(products.first)
                #expect(try await app.purchase(product) == .bought)
                await app.settled()
            }
            #expect(await rehearsal.device.finishedIds.count == 1)
        }
    }

    @Test(arguments: [true, false])
    func `subscriptions of every group are read`(withServer: Bool) async throws {
        try await rehearse { rehearsal in
            for product in ["cards.pro.monthly", "cards.art.monthly"] {
                try await rehearsal.store.perform(
                    .buy(product: product, outsideApp: true),
                    by: "anna"
                )
            }
            let app = await rehearsal.launch(withServer: withServer)
            #expect(app["premium"].access == .granted)
            #expect(app["art"].access == .granted)
            #expect(await rehearsal.device.finishedIds.count == 2)
        }
    }

    @Test func `a purchase while the server is unreachable is presented later`() async throws {
        try await rehearse { rehearsal in
            let app = await rehearsal.launch(withServer: true)
            rehearsal.connection.withLock { $0 = .none }
            let outcome = try await buy(app, rehearsal)
            #expect(outcome == .bought)
            #expect(app["premium"].access == .granted)
            #expect(await rehearsal.device.finishedIds.count == 1)
            let before = try await rehearsal.served()
            #expect(before["premium"]?.access == .denied)
            rehearsal.connection.withLock { $0 = .complete }
            let again = await rehearsal.launch(withServer: true)
            #expect(again["premium"].access == .granted)
            let after = try await rehearsal.served()
            #expect(after["premium"]?.access == .granted)
        }
    }

    @Test func `a transaction that arrives while the app runs is received by the listener`()
        async throws
    {
        try await rehearse { rehearsal in
            let app = await rehearsal.launch(withServer: false)
            var changes = app.changes.makeAsyncIterator()
            #expect(await changes.next()?["premium"].access == .denied)
            try await rehearsal.store.perform(
                .buy(product: "cards.pro.monthly", outsideApp: true),
                by: "anna"
            )
            await rehearsal.device.reportNews()
            var state = await changes.next()
            while state?["premium"].access != .granted { state = await changes.next() }
            await app.settled()
            #expect(await rehearsal.device.finishedIds.count == 1)
        }
    }

    @Test func `a clock that was set makes the kit read the store`() async throws {
        try await rehearse { _ in
            let center = NotificationCenter()
            var updates = StoreSource.storeKitUpdates(clock: center).makeAsyncIterator()
            center.post(name: StoreSource.clockChange, object: nil)
            #expect(await updates.next() == .statusChanged)
        }
    }

    @Test func `the next foreground recovers what a dropped listener missed`() async throws {
        try await rehearse { rehearsal in
            let app = await rehearsal.launch(withServer: false)
            await rehearsal.device.set(reports: false)
            try await rehearsal.store.perform(
                .buy(product: "cards.pro.monthly", outsideApp: true),
                by: "anna"
            )
            await rehearsal.device.reportNews()
            #expect(app["premium"].access == .denied)
            app.enteredForeground()
            await app.settled()
            #expect(app["premium"].access == .granted)
            #expect(await rehearsal.device.finishedIds.count == 1)
        }
    }

    @Test func `the server overrules a stale cache`() async throws {
        try await rehearse { rehearsal in
            let app = await rehearsal.launch(withServer: true)
            _ = try await buy(app, rehearsal)
            await rehearsal.device.set(stale: true)
            try await rehearsal.pass(until: rehearsal.scenario.start + monthly + 3_600_000)
            try await rehearsal.deliver()
            app.enteredForeground()
            await app.settled()
            #expect(app["premium"].access == .granted)
            let served = try await rehearsal.served()
            #expect(app["premium"].until == served["premium"]?.until)
        }
    }

    @Test func `an unfinished transaction is offered again and accepted once`() async throws {
        try await rehearse { rehearsal in
            try await rehearsal.store.perform(
                .buy(product: "cards.pro.monthly", outsideApp: false),
                by: "anna"
            )
            for _ in 0..<3 {
                let app = await rehearsal.launch(withServer: true)
                #expect(app["premium"].access == .granted)
            }
            #expect(await rehearsal.device.finishedIds.count == 1)
        }
    }

    @Test func `an unverifiable transaction grants nothing on the device and is sent on`()
        async throws
    {
        try await rehearse { rehearsal in
            await rehearsal.device.set(verifies: false)
            try await rehearsal.store.perform(
                .buy(product: "cards.pro.monthly", outsideApp: false),
                by: "anna"
            )
            let alone = await rehearsal.launch(withServer: false)
            #expect(alone["premium"].access == .denied)
            #expect(await rehearsal.device.finishedIds.isEmpty)
            // The server verifies the same signatures itself.
            let served = await rehearsal.launch(withServer: true)
            #expect(served["premium"].access == .granted)
            #expect(await rehearsal.device.finishedIds.count == 1)
        }
    }

    @Test(arguments: [true, false])
    func `an Ask to Buy purchase waits and then arrives`(withServer: Bool) async throws {
        try await rehearse { rehearsal in
            let app = await rehearsal.launch(withServer: withServer)
            let outcome = try await buy(app, rehearsal, .asksToBuy)
            #expect(outcome == .pending)
            #expect(app["premium"].isWaiting)
            try await rehearsal.store.perform(.approvePurchase(product: nil), by: "anna")
            app.enteredForeground()
            await app.settled()
            #expect(app["premium"].access == .granted)
            #expect(!app["premium"].isWaiting)
        }
    }

    @Test func `a subscription without a status gives access`() async throws {
        try await rehearse { rehearsal in
            _ = try await buy(await rehearsal.launch(withServer: false), rehearsal)
            var fake = rehearsal.device.fakeStore()
            fake.statuses = { [] }
            await fake.serve {
                let app = await rehearsal.launch(withServer: false)
                #expect(app["premium"].access == .granted)
            }
        }
    }

    @Test func `a restore finds purchases that a stale cache omits`() async throws {
        try await rehearse { rehearsal in
            await rehearsal.device.set(stale: true)
            try await rehearsal.store.perform(
                .buy(product: "cards.pro.monthly", outsideApp: true),
                by: "anna"
            )
            let app = await rehearsal.launch(withServer: false)
            #expect(app["premium"].access == .denied)
            #expect(await app.restore() == .found)
            #expect(await rehearsal.device.syncs == 1)
            #expect(app["premium"].access == .granted)
            #expect(await app.restore() == .found)
            #expect(await rehearsal.device.syncs == 1)
        }
    }

    @Test func `a stream of changes neither keeps a released store nor outlasts it`() async throws {
        try await rehearse { rehearsal in
            var app: EntitlementStore? = await rehearsal.launch(withServer: false)
            weak let released = app
            var changes = try #require(app).changes.makeAsyncIterator()
            #expect(await changes.next()?["premium"].access == .denied)
            app = nil
            #expect(released == nil)
            #expect(await changes.next() == nil)
        }
    }

    @Test func `a closure receives changes until it is cancelled`() async throws {
        try await rehearse { rehearsal in
            let app = await rehearsal.launch(withServer: false)
            var heard: [Access] = []
            let observer = app.onChange { heard.append($0["premium"].access) }
            _ = try await buy(app, rehearsal)
            #expect(heard.first == .denied)
            #expect(heard.last == .granted)
            observer.cancel()
            let count = heard.count
            app.enteredForeground()
            await app.settled()
            #expect(heard.count == count)
        }
    }

    @Test func `an Ask to Buy purchase that is declined gives no access`() async throws {
        try await rehearse { rehearsal in
            let app = await rehearsal.launch(withServer: true)
            _ = try await buy(app, rehearsal, .asksToBuy)
            try await rehearsal.store.perform(.declinePurchase(product: nil), by: "anna")
            app.enteredForeground()
            await app.settled()
            #expect(app["premium"].access == .denied)
            #expect(await rehearsal.device.finishedIds.isEmpty)
        }
    }

    @Test(arguments: [true, false])
    func `an interrupted purchase is found and finished once`(withServer: Bool) async throws {
        try await rehearse { rehearsal in
            let app = await rehearsal.launch(withServer: withServer)
            await #expect(throws: CancellationError.self) {
                _ = try await buy(app, rehearsal, .interrupted)
            }
            let again = await rehearsal.launch(withServer: withServer)
            #expect(again["premium"].access == .granted)
            #expect(await rehearsal.device.finishedIds.count == 1)
        }
    }

    @Test func `a paid purchase that StoreKit reports as cancelled gives access`() async throws {
        try await rehearse { rehearsal in
            let app = await rehearsal.launch(withServer: true)
            let outcome = try await buy(app, rehearsal, .reportedAsCancelled)
            #expect(outcome == .cancelled)
            #expect(app["premium"].access == .granted)
            #expect(await rehearsal.device.finishedIds.count == 1)
        }
    }

    @Test func `an answer needs no products from the store`() async throws {
        try await rehearse { rehearsal in
            let app = await rehearsal.launch(withServer: false)
            _ = try await buy(app, rehearsal)
            let products = try await StoreKit.Product.products(for: ["cards.pro.monthly"])
            #expect(products.isEmpty)
            app.enteredForeground()
            await app.settled()
            #expect(app["premium"].access == .granted)
        }
    }

    @Test func `a slow store denies nothing before it answers`() async throws {
        try await rehearse { rehearsal in
            try await rehearsal.store.perform(
                .buy(product: "cards.pro.monthly", outsideApp: false),
                by: "anna"
            )
            await rehearsal.device.set(slow: true)
            let app = rehearsal.app(withServer: true)
            await app.start()
            #expect(app["premium"].access == .unknown)
            #expect(!app.state.isAnswered)
            await rehearsal.device.set(slow: false)
            await app.settled()
            #expect(app["premium"].access == .granted)
        }
    }

    @Test func `a renewal that another device presented first is committed once`() async throws {
        try await rehearse { rehearsal in
            let app = await rehearsal.launch(withServer: true)
            _ = try await buy(app, rehearsal)
            await rehearsal.device.set(stale: true)
            try await rehearsal.pass(until: rehearsal.scenario.start + monthly + 3_600_000)
            let other = SimulatedDevice(rehearsal.store, customer: "anna")
            await other.fakeStore().serve {
                let second = await rehearsal.launch(withServer: true, disk: "other device")
                #expect(second["premium"].access == .granted)
            }
            let before = try await rehearsal.served()
            // This device reads the renewal last, from its own store.
            await rehearsal.device.set(stale: false)
            await rehearsal.device.reportNews()
            app.enteredForeground()
            await app.settled()
            let after = try await rehearsal.served()
            #expect(app["premium"].until == after["premium"]?.until)
            #expect(before["premium"]?.until == after["premium"]?.until)
            #expect(await other.finishedIds.isSubset(of: rehearsal.device.finishedIds))
        }
    }

    @Test func `the store's messages wait until the app is ready`() async throws {
        try await rehearse { rehearsal in
            let app = await rehearsal.launch(withServer: false)
            var fake = rehearsal.device.fakeStore()
            let (reasons, post) = AsyncStream<Int>.makeStream()
            let (shown, show) = AsyncStream<Int>.makeStream()
            fake.messages = { reasons }
            fake.display = { show.yield($0) }
            await fake.serve {
                app.controlMessages(in: FakeStore.scene())
                post.yield(StoreKit.Message.Reason.priceIncreaseConsent.rawValue)
                var displays = shown.makeAsyncIterator()
                #expect(await displays.next() == 1)
            }
        }
    }

    @Test func `a message that the store showed about a payment is reported`() async throws {
        try await rehearse { rehearsal in
            let app = await rehearsal.launch(withServer: true)
            _ = try await buy(app, rehearsal)
            let (messages, post) = AsyncStream<StoreMessage>.makeStream()
            let (shown, show) = AsyncStream<StoreMessage>.makeStream()
            app.controlMessages(messages) { message in
                show.yield(message)
                // One that could not be shown is not reported.
                return message != .priceIncreaseConsent
            }
            var displays = shown.makeAsyncIterator()
            for message in [StoreMessage.other, .priceIncreaseConsent, .billingIssue] {
                post.yield(message)
                #expect(await displays.next() == message)
            }
            await app.settled()
            let reports = try await rehearsal.shownPrompts()
            #expect(reports.map { $0["kind"] } == ["store"])
        }
    }

    @Test func `the store is read again after a sheet`() async throws {
        try await rehearse { rehearsal in
            let app = await rehearsal.launch(withServer: false)
            var fake = rehearsal.device.fakeStore()
            let groups = Locked<[String?]>([])
            let store = rehearsal.store
            fake.manageSubscriptions = { group in groups.withLock { $0.append(group) } }
            fake.redeemOfferCode = {
                try await store.perform(
                    .buy(product: "cards.pro.monthly", outsideApp: true),
                    by: "anna"
                )
            }
            try await fake.serve {
                try await app.manageSubscriptions(in: FakeStore.scene(), group: "pro")
                try await app.manageSubscriptions(in: FakeStore.scene())
                await app.settled()
                #expect(app["premium"].access == .denied)
                try await app.redeemOfferCode(in: FakeStore.scene())
                await app.settled()
            }
            #expect(groups.withLock { $0 } == ["pro", nil])
            #expect(app["premium"].access == .granted)
        }
    }
}
