import Foundation
import Testing
import TideoverCore
import TideoverKit

/// A transaction is finished only after the server has committed it, or after the file contains it.
@Suite struct FinishLawTests {
    struct Circumstances: Sendable {
        var withServer = true
        var isReachable = true
        /// Whether the server commits, and its responses do not arrive.
        var losesReplies = false
        var writesSlowly = false

        /// All of them in `scripts/kit-trial.sh`; fewer in each run of the tests.
        static let all = [
            Circumstances(), Circumstances(isReachable: false), Circumstances(losesReplies: true),
            Circumstances(withServer: false),
        ].flatMap { circumstances in
            var slow = circumstances
            slow.writesSlowly = true
            return isTrial ? [circumstances, slow] : [slow]
        }

        var world: SimulatedWorld {
            var world = SimulatedWorld(withServer: withServer)
            world.isReachable = isReachable
            world.losesReplies = losesReplies
            world.writesSlowly = writesSlowly
            return world
        }
    }

    private static let isTrial =
        ProcessInfo.processInfo.environment["TIDEOVER_KIT_STORIES"] != nil

    /// How a purchase reaches the app.
    enum Path: CaseIterable, Sendable {
        case purchase, interruptedPurchase, purchaseReportedAsCancelled, askToBuy
        case listener, launch, foreground, restore

        /// The paths that are followed for days.
        static let long: [Path] = isTrial ? allCases : [.purchase]

        func follow(in world: inout SimulatedWorld, _ bought: SignedPurchase) {
            if self == .launch { world.offer(bought) }
            world.launch()
            switch self {
            case .purchase: end(.bought(bought), in: &world, bought)
            case .interruptedPurchase: end(.failed, in: &world, bought)
            case .purchaseReportedAsCancelled: end(.cancelled, in: &world, bought)
            case .askToBuy:
                world.send(.purchaseEnded(productId: bought.productId, .pending))
                world.offer(bought)
                world.send(.transactionUpdated(bought))
            case .listener:
                world.offer(bought)
                world.send(.transactionUpdated(bought))
            case .launch: break
            case .foreground:
                world.offer(bought)
                world.send(.foregrounded)
            case .restore:
                world.offeredAfterSync = bought
                world.send(.restoreAsked)
            }
        }

        private func end(
            _ result: EntitlementMachine.PurchaseResult,
            in world: inout SimulatedWorld,
            _ bought: SignedPurchase
        ) {
            world.offer(bought)
            world.send(.purchaseEnded(productId: bought.productId, result))
        }
    }

    /// Kills the app before each of a story's effects, once per run of the story.
    private func killed(
        _ circumstances: Circumstances,
        story: (inout SimulatedWorld) -> Void,
        check: (SimulatedWorld, Comment) -> Void
    ) {
        var whole = circumstances.world
        story(&whole)
        #expect(whole.effects > 4)
        for life in 0...whole.effects {
            var world = circumstances.world
            world.life = life
            story(&world)
            #expect((world.life == nil) == (life < whole.effects))
            world.life = nil
            (world.isReachable, world.losesReplies) = (true, false)
            world.launch()
            // A restore that a killed app or an unreachable server did not end is asked for again.
            if world.offeredAfterSync != nil { world.send(.restoreAsked) }
            check(world, "killed before effect \(life)")
        }
        if Self.isTrial { print("killed machine: \(whole.effects) times") }
    }

    @Test(arguments: Circumstances.all, Path.allCases)
    func `a process killed at any effect loses no purchase and grants none twice`(
        circumstances: Circumstances,
        path: Path
    ) {
        let purchase = TestPurchases.subscription(7)
        killed(circumstances) { world in
            path.follow(in: &world, purchase)
        } check: { world, comment in
            #expect(world.lost == [], comment)
            #expect(world.unfinished == [], comment)
            #expect(world.finished == [7], comment)
            #expect(world.machine.kept.queue == [], comment)
            #expect(world.committed == (circumstances.withServer ? [7: 1] : [:]), comment)
            #expect(world.shown.last?["premium"].access == .granted, comment)
            #expect(world.shown.last?["premium"].isWaiting == false, comment)
        }
    }

    @Test(arguments: [false, true], Path.long)
    func `a process killed at any effect in days without a server loses no purchase`(
        losesReplies: Bool,
        path: Path
    ) {
        let circumstances = Circumstances(isReachable: losesReplies, losesReplies: losesReplies)
        killed(circumstances) { world in
            path.follow(in: &world, TestPurchases.subscription(7))
            for day in UInt64(1)...4 {
                world.now = world.now + .days(1)
                let coins = TestPurchases.coins(10 + day)
                world.unfinished.append(coins)
                world.send(.transactionUpdated(coins))
                if day.isMultiple(of: 2) { world.launch() } else { world.send(.clockSeen) }
            }
        } check: { world, comment in
            #expect(world.lost == [], comment)
            #expect(world.unfinished == [], comment)
            #expect(world.finished.sorted() == [7, 11, 12, 13, 14], comment)
            #expect(world.machine.kept.queue == [], comment)
            #expect(world.committed == [7: 1, 11: 1, 12: 1, 13: 1, 14: 1], comment)
            #expect(world.shown.last?["premium"].access == .granted, comment)
        }
    }

    @Test func `a consumable without a server is offered for delivery until it is finished`() {
        let coins = TestPurchases.coins(7)
        killed(Circumstances(withServer: false)) { world in
            world.launch()
            world.unfinished = [coins]
            world.send(.transactionUpdated(coins))
            world.send(.delivered(transactionId: 7))
        } check: { world, comment in
            #expect(world.lost == [], comment)
            let isFinished = world.finished == [7]
            #expect(world.unfinished == (isFinished ? [] : [coins]), comment)
            #expect(world.shown.last?.undelivered == (isFinished ? [] : [coins]), comment)
        }
    }

    @Test func `days without a server lose no purchase`() {
        var world = SimulatedWorld(withServer: true)
        world.isReachable = false
        world.launch()
        for id in UInt64(1)...20 {
            let purchase = TestPurchases.coins(id)
            world.unfinished.append(purchase)
            world.send(.transactionUpdated(purchase))
            world.now = world.now + .hours(3)
            if id.isMultiple(of: 7) { world.launch() }
        }
        #expect(world.unfinished == [])
        #expect(world.machine.kept.queue.count == 20)
        world.isReachable = true
        world.send(.foregrounded)
        #expect(world.committed.count == 20)
        #expect(world.committed.values.allSatisfy { $0 == 1 })
        #expect(world.machine.kept.queue == [])
        #expect(world.lost == [])
    }

    @Test func `a failed request is retried when it is due`() {
        var world = SimulatedWorld(withServer: true)
        world.isReachable = false
        world.launch()
        world.isReachable = true
        world.send(.clockSeen)
        #expect(world.machine.reply == nil)
        world.now = world.now + .seconds(15)
        world.send(.clockSeen)
        #expect(world.machine.reply != nil)
    }

    @Test func `a full queue leaves the transaction unfinished`() {
        var world = SimulatedWorld(withServer: true, capacity: 2)
        world.isReachable = false
        world.launch()
        for id in UInt64(1)...3 {
            world.unfinished.append(TestPurchases.coins(id))
            world.send(.transactionUpdated(TestPurchases.coins(id)))
        }
        #expect(world.unfinished.map(\.transactionId) == [3])
        world.isReachable = true
        world.send(.foregrounded)
        #expect(world.unfinished == [])
        #expect(world.committed == [1: 1, 2: 1, 3: 1])
        #expect(world.lost == [])
    }

    @Test(arguments: [true, false])
    func `an unverified transaction is never accepted on the device`(withServer: Bool) {
        var world = SimulatedWorld(withServer: withServer)
        let purchase = TestPurchases.subscription(7, isVerified: false)
        world.unfinished = [purchase]
        world.statuses = [TestPurchases.status(purchase)]
        world.launch()
        world.send(.transactionUpdated(purchase))
        #expect(world.unfinished == [purchase])
        #expect(world.finished == [])
        #expect(world.machine.kept.queue == [])
        #expect(world.shown.last?["premium"].access == .denied)
    }

    @Test func `a refused transaction stays queued until the next launch`() {
        var world = SimulatedWorld(withServer: true)
        world.takesNothing = true
        world.launch()
        let purchase = TestPurchases.coins(7)
        world.unfinished = [purchase]
        world.send(.transactionUpdated(purchase))
        #expect(world.machine.refusals == [7: "wrong-bundle"])
        #expect(
            world.machine.kept.queue
                == [
                    QueuedPurchase(
                        purchase,
                        of: TestPurchases.customer,
                        isRefused: true,
                        refusedAt: world.now,
                        isAnswered: true
                    )
                ]
        )
        world.takesNothing = false
        world.send(.foregrounded)
        #expect(world.committed == [:])
        world.launch()
        #expect(world.committed == [7: 1])
        #expect(world.machine.kept.queue == [])
    }

    @Test func `a transaction that is refused for thirty days is removed from the device`() {
        var world = SimulatedWorld(withServer: true)
        world.takesNothing = true
        world.launch()
        world.unfinished = [TestPurchases.coins(7)]
        world.send(.transactionUpdated(TestPurchases.coins(7)))
        #expect(world.finished == [7])
        for day in Int64(1)...30 {
            #expect(queued(in: world) == [7])
            world.now = TestPurchases.start + .days(day)
            world.launch()
        }
        #expect(queued(in: world) == [])
        #expect(world.presented[7] == 31)
    }

    @Test func `a device's clock removes no refused transaction`() {
        var world = SimulatedWorld(withServer: true)
        world.takesNothing = true
        world.launch()
        world.unfinished = [TestPurchases.coins(7)]
        world.send(.transactionUpdated(TestPurchases.coins(7)))
        world.isReachable = false
        world.now = TestPurchases.start + .days(90)
        world.launch()
        #expect(queued(in: world) == [7])
        (world.isReachable, world.takesNothing) = (true, false)
        world.send(.foregrounded)
        #expect(world.committed == [7: 1])
    }

    @Test func `a consumable without a server waits until the app delivers it`() {
        var world = SimulatedWorld(withServer: false)
        let coins = TestPurchases.coins(7)
        world.unfinished = [coins]
        world.launch()
        #expect(world.shown.last?.undelivered == [coins])
        #expect(world.finished == [])
        world.launch()
        #expect(world.shown.last?.undelivered == [coins])
        world.send(.delivered(transactionId: 7))
        #expect(world.finished == [7])
        #expect(world.shown.last?.undelivered == [])
        #expect(world.lost == [])
    }

    @Test func `a failed write finishes no transaction`() {
        var machine = EntitlementMachine(settings: TestPurchases.settings(withServer: true))
        let purchase = TestPurchases.coins(7)
        let actions = machine.happened(.transactionUpdated(purchase), at: TestPurchases.reading())
        guard case .write(let kept, let revision)? = actions.first else {
            Issue.record("a write comes first: \(actions)")
            return
        }
        #expect(kept.queue == [QueuedPurchase(purchase, of: TestPurchases.customer)])
        let after = machine.happened(
            .writingFailed(revision: revision),
            at: TestPurchases.reading()
        )
        #expect(!after.contains(.finish(transactionId: 7)))
    }

    private func queued(in world: SimulatedWorld) -> [UInt64]? {
        world.disk.flatMap(KeptState.init(json:))?.queue.map(\.purchase.transactionId)
    }

    @Test(arguments: [EntitlementMachine.Event.foregrounded, .clockSeen])
    func `a file that cannot be read is not replaced until it was read`(
        event: EntitlementMachine.Event
    ) {
        var world = SimulatedWorld(withServer: true)
        world.isReachable = false
        world.launch()
        world.offer(TestPurchases.subscription(7))
        world.send(.transactionUpdated(TestPurchases.subscription(7)))
        #expect(world.finished == [7])

        world.isUnreadable = true
        world.launch()
        world.offer(TestPurchases.subscription(8))
        world.send(.transactionUpdated(TestPurchases.subscription(8)))
        #expect(world.shown.last?["premium"].access == .granted)
        #expect(queued(in: world) == [7])
        #expect(world.finished == [7])

        world.isUnreadable = false
        world.now = world.now + .minutes(1)
        world.send(event)
        #expect(queued(in: world) == [7, 8])
        #expect(world.finished == [7, 8])
        world.isReachable = true
        world.send(.foregrounded)
        #expect(world.committed == [7: 1, 8: 1])
        #expect(world.lost == [])
    }

    @Test func `purchases are stored once it is known that there is no file`() {
        var world = SimulatedWorld(withServer: true)
        (world.isReachable, world.isUnreadable) = (false, true)
        world.offer(TestPurchases.subscription(7))
        world.launch()
        #expect(world.disk == nil)
        #expect(world.finished == [])
        world.isUnreadable = false
        world.send(.foregrounded)
        #expect(queued(in: world) == [7])
        #expect(world.finished == [7])
    }
}
