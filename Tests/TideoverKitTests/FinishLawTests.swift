import Testing
import TideoverCore
import TideoverKit

/// A transaction is finished only after the server has committed it, or after the file contains it.
@Suite struct FinishLawTests {
    /// The number of effects of an undisturbed run.
    private func effects(of circumstances: Circumstances) -> Int {
        story(circumstances, life: nil).effects
    }

    struct Circumstances: Sendable {
        var withServer = true
        var isReachable = true
        var writesSlowly = false

        static let all = [
            Circumstances(), Circumstances(isReachable: false),
            Circumstances(withServer: false), Circumstances(writesSlowly: true),
            Circumstances(isReachable: false, writesSlowly: true),
            Circumstances(withServer: false, writesSlowly: true),
        ]
    }

    private func story(_ circumstances: Circumstances, life: Int?) -> SimulatedWorld {
        var world = SimulatedWorld(withServer: circumstances.withServer)
        world.isReachable = circumstances.isReachable
        world.writesSlowly = circumstances.writesSlowly
        world.life = life
        world.launch()
        let purchase = TestPurchases.subscription(7)
        world.unfinished = [purchase]
        world.statuses = [TestPurchases.status(purchase)]
        world.send(.transactionUpdated(purchase))
        return world
    }

    @Test(arguments: Circumstances.all)
    func `a process killed at any effect loses no purchase and grants none twice`(
        circumstances: Circumstances
    ) {
        let count = effects(of: circumstances)
        #expect(count > 4)
        for life in 0...count {
            var world = story(circumstances, life: life)
            world.isReachable = true
            world.launch()
            #expect(world.lost == [], "killed before effect \(life)")
            #expect(world.unfinished == [], "killed before effect \(life)")
            #expect(world.machine.kept.queue == [], "killed before effect \(life)")
            if circumstances.withServer {
                #expect(world.committed == [7: 1], "killed before effect \(life)")
            }
            #expect(world.shown.last?["premium"].access == .granted, "killed before effect \(life)")
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
        #expect(world.machine.kept.queue == [QueuedPurchase(purchase, isRefused: true)])
        world.takesNothing = false
        world.send(.foregrounded)
        #expect(world.committed == [:])
        world.launch()
        #expect(world.committed == [7: 1])
        #expect(world.machine.kept.queue == [])
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
        #expect(kept.queue == [QueuedPurchase(purchase)])
        let after = machine.happened(
            .writingFailed(revision: revision),
            at: TestPurchases.reading()
        )
        #expect(!after.contains(.finish(transactionId: 7)))
    }
}
