import Testing
import TideoverCore
import TideoverJSON
import TideoverKit

@Suite struct MachineTests {
    @Test func `a launch reads the store before it answers`() {
        var machine = EntitlementMachine(settings: TestPurchases.settings(withServer: true))
        let actions = machine.happened(.launched, at: TestPurchases.reading())
        #expect(actions.contains(.readStore))
        #expect(machine.published?["premium"].access == .unknown)
        #expect(machine.published?.isAnswered == false)
    }

    @Test func `access is not denied before the server has answered`() {
        var machine = EntitlementMachine(settings: TestPurchases.settings(withServer: true))
        _ = machine.happened(.launched, at: TestPurchases.reading())
        _ = machine.happened(.storeRead(StoreReading()), at: TestPurchases.reading())
        #expect(machine.published?["premium"].access == .unknown)
        _ = machine.happened(.reconcileFailed(round: 1, page: 0), at: TestPurchases.reading())
        #expect(machine.published?["premium"].access == .denied)
        #expect(machine.published?["premium"].confidence == .unknown)
    }

    @Test func `a change during a round starts one more round`() {
        var machine = EntitlementMachine(settings: TestPurchases.settings(withServer: false))
        _ = machine.happened(.launched, at: TestPurchases.reading())
        #expect(!machine.happened(.foregrounded, at: TestPurchases.reading()).contains(.readStore))
        #expect(!machine.happened(.statusChanged, at: TestPurchases.reading()).contains(.readStore))
        let actions = machine.happened(.storeRead(StoreReading()), at: TestPurchases.reading())
        #expect(actions.filter { $0 == .readStore }.count == 1)
        let after = machine.happened(.storeRead(StoreReading()), at: TestPurchases.reading())
        #expect(!after.contains(.readStore))
    }

    @Test func `a response to an earlier round changes nothing`() {
        var machine = EntitlementMachine(settings: TestPurchases.settings(withServer: true))
        _ = machine.happened(.launched, at: TestPurchases.reading())
        _ = machine.happened(.storeRead(StoreReading()), at: TestPurchases.reading())
        let late = machine.happened(
            .reconcileFailed(round: 9, page: 0),
            at: TestPurchases.reading()
        )
        #expect(late == [])
        #expect(machine.published?.isAnswered == false)
    }

    @Test func `a refund ends the right at once and keeps content`() {
        var world = SimulatedWorld(withServer: false)
        let bought = TestPurchases.subscription(7)
        world.statuses = [TestPurchases.status(bought)]
        world.launch()
        #expect(world.shown.last?["premium"].access == .granted)
        world.now = world.now + .days(3)
        let refunded = TestPurchases.subscription(
            7,
            signedAfter: .days(3),
            revokedAfter: .days(3)
        )
        world.statuses = [TestPurchases.status(refunded, .revoked)]
        world.unfinished = [refunded]
        world.send(.transactionUpdated(refunded))
        #expect(world.shown.last?["premium"].access == .denied)
        #expect(world.shown.last?["premium"].reason == "refunded")
        #expect(world.shown.last?["premium"].keepsArtifacts == true)
        world.launch()
        #expect(world.shown.last?["premium"].keepsArtifacts == true)
        world.now = TestPurchases.start + TestPurchases.month
        world.send(.clockSeen)
        #expect(world.shown.last?["premium"].keepsArtifacts == false)
    }

    @Test func `a refund ends the right while no server is reachable`() {
        var world = SimulatedWorld(withServer: true)
        let bought = TestPurchases.subscription(7)
        world.statuses = [TestPurchases.status(bought)]
        world.launch()
        #expect(world.shown.last?["premium"].access == .granted)
        world.isReachable = false
        world.now = world.now + .days(3)
        let refunded = TestPurchases.subscription(
            7,
            signedAfter: .days(3),
            revokedAfter: .days(3)
        )
        world.statuses = [TestPurchases.status(refunded, .revoked)]
        world.unfinished = [refunded]
        world.send(.transactionUpdated(refunded))
        #expect(world.shown.last?["premium"].access == .denied)
    }

    @Test func `a purchase gives access at once while no server is reachable`() {
        var world = SimulatedWorld(withServer: true)
        world.launch()
        #expect(world.shown.last?["premium"].access == .denied)
        world.isReachable = false
        world.now = world.now + .minutes(1)
        let bought = TestPurchases.subscription(7, signedAfter: .minutes(1))
        world.statuses = [TestPurchases.status(bought)]
        world.unfinished = [bought]
        world.send(.purchaseEnded(productId: "pro", .bought(bought)))
        #expect(world.shown.last?["premium"].access == .granted)
        #expect(world.unfinished == [])
    }

    /// A response without access, or with it.
    private func denial(
        reason: String = "unknown",
        isGrant: Bool = false,
        until: Instant? = nil,
        asOf: Instant
    ) throws -> ServerReply {
        let entitlement: JSONObject = [
            "state": isGrant ? "active" : "never", "access": .bool(isGrant),
            "reason": .string(reason),
            "confidence": "confirmed", "productId": "pro", "pending": [],
            "accessUntil": until.map { .string($0.rfc3339) } ?? .null,
        ]
        let body: JSONObject = [
            "environment": "production", "asOf": .string(asOf.rfc3339), "customerVersion": 1,
            "entitlements": .object(["premium": .object(entitlement)]),
            "prompt": .object(["kind": "none"]), "items": [],
        ]
        return try ServerReply(JSONValue.object(body).encoded(), to: EvidencePage())
    }

    private func pass(_ state: State, product: String? = nil, issued: Instant) -> Pass {
        Pass(
            issuer: "https://t.example",
            audience: "cards",
            customer: TestPurchases.customer,
            environment: .production,
            issued: issued,
            notAfter: issued + .days(7),
            version: 1,
            entitlements: [
                Pass.Entitlement(
                    name: "premium",
                    state: state,
                    reason: "unknown",
                    productId: product,
                    notAfter: issued + .days(7)
                )
            ]
        )
    }

    /// Buys after the store was read for a round, which then ends with a response.
    private func machine(
        buying bought: SignedPurchase,
        before reply: ServerReply
    ) -> EntitlementMachine {
        var machine = EntitlementMachine(settings: TestPurchases.settings(withServer: true))
        _ = machine.happened(.launched, at: TestPurchases.reading())
        _ = machine.happened(.storeRead(StoreReading()), at: TestPurchases.reading())
        _ = machine.happened(
            .purchaseEnded(productId: "pro", .bought(bought)),
            at: TestPurchases.reading(after: .minutes(1))
        )
        #expect(machine.published?["premium"].access == .granted)
        _ = machine.happened(
            .reconcileAccepted(round: 1, page: 0, reply),
            at: TestPurchases.reading(after: .minutes(2))
        )
        return machine
    }

    @Test func `a later answer that does not include a purchase does not deny it`() throws {
        let bought = TestPurchases.subscription(7, signedAfter: .minutes(1))
        let store = StoreReading(statuses: [TestPurchases.status(bought)])
        let answeredAt = TestPurchases.start + .minutes(2)
        var machine = machine(buying: bought, before: try denial(asOf: answeredAt))
        #expect(machine.published?["premium"].access == .granted)
        let later = TestPurchases.reading(after: .minutes(3))
        _ = machine.happened(.storeRead(store), at: later)
        _ = machine.happened(.reconcileFailed(round: 2, page: 0), at: later)
        #expect(machine.published?["premium"].access == .granted)

        // The same after a restart without a connection, with the pass of that answer.
        let claims = pass(.never, issued: answeredAt).claims
        let kept = try #require(KeptState(json: machine.kept.json))
        var restarted = EntitlementMachine(settings: machine.settings, kept: kept)
        _ = restarted.happened(.launched, at: later)
        _ = restarted.happened(.passVerified(compact: "a.b.c", claims: claims), at: later)
        _ = restarted.happened(.storeRead(store), at: later)
        _ = restarted.happened(.reconcileFailed(round: 1, page: 0), at: later)
        #expect(restarted.pass != nil)
        #expect(restarted.published?["premium"].access == .granted)
    }

    @Test(arguments: [(Milliseconds.seconds(90), Access.denied), (.seconds(30), .granted)])
    func `a refund in a later answer ends access unless the purchase followed it`(
        refundedAfter: Milliseconds,
        access: Access
    ) throws {
        let machine = machine(
            buying: TestPurchases.subscription(7, signedAfter: .minutes(1)),
            before: try denial(
                reason: "refunded",
                until: TestPurchases.start + refundedAfter,
                asOf: TestPurchases.start + .minutes(2)
            )
        )
        #expect(machine.published?["premium"].access == access)
    }

    /// Launches with a pass while no server is reachable.
    private func offline(
        _ pass: Pass,
        _ store: StoreReading,
        at reading: ClockReading
    ) -> EntitlementMachine {
        var machine = EntitlementMachine(settings: TestPurchases.settings(withServer: true))
        _ = machine.happened(.launched, at: reading)
        _ = machine.happened(.passVerified(compact: "a.b.c", claims: pass.claims), at: reading)
        _ = machine.happened(.storeRead(store), at: reading)
        _ = machine.happened(.reconcileFailed(round: 1, page: 0), at: reading)
        #expect(machine.pass != nil)
        return machine
    }

    @Test(arguments: [
        ("pro" as String?, Access.denied), ("pro.of.another.store", .granted), ("", .granted),
        (nil, .granted),
    ])
    func `a refund does not end access by another product`(product: String?, access: Access) {
        let refunded = TestPurchases.subscription(
            7,
            signedAfter: .hours(1),
            revokedAfter: .hours(1)
        )
        let machine = offline(
            pass(.active, product: product, issued: TestPurchases.start),
            StoreReading(
                statuses: [TestPurchases.status(refunded, .revoked)],
                unfinished: [refunded]
            ),
            at: TestPurchases.reading(after: .hours(2))
        )
        #expect(machine.published?["premium"].access == access)
    }

    @Test func `an ended purchase on another device denies nothing before the first round`() {
        let ended = TestPurchases.subscription(7)
        let at = TestPurchases.reading(after: TestPurchases.month + .days(1))
        let former = pass(.active, issued: TestPurchases.start - .hours(1))
        var machine = EntitlementMachine(settings: TestPurchases.settings(withServer: true))
        let early = TestPurchases.reading()
        _ = machine.happened(.launched, at: early)
        _ = machine.happened(.passVerified(compact: "a.b.c", claims: former.claims), at: early)
        #expect(machine.pass != nil)
        let status = TestPurchases.status(ended, .expired, renews: false)
        _ = machine.happened(.storeRead(StoreReading(statuses: [status])), at: at)
        #expect(machine.published?["premium"].access == .unknown)
        _ = machine.happened(.reconcileFailed(round: 1, page: 0), at: at)
        #expect(machine.published?["premium"].access == .denied)
        #expect(machine.published?["premium"].confidence == .unknown)
    }

    /// The pass was issued before or after the purchase, which may be another customer's.
    @Test(arguments: [
        (Milliseconds.hours(-1), String?.none, Access.granted),
        (.hours(-1), "3b0d7c1e-8f3a-4c57-9d0e-2a55a5b2f1aa", .denied),
        (.hours(1), nil, .denied),
    ])
    func `a purchase on another device is newer than a pass that was issued before it`(
        issued: Milliseconds,
        token: String?,
        access: Access
    ) {
        let bought = TestPurchases.subscription(7, accountToken: token)
        let machine = offline(
            pass(.never, issued: TestPurchases.start + issued),
            StoreReading(statuses: [TestPurchases.status(bought)]),
            at: TestPurchases.reading(after: .hours(2))
        )
        #expect(machine.published?["premium"].access == access)
    }

    @Test func `a wake-up is requested again when the server corrected the clock`() throws {
        let ahead = ClockReading(clock: TestPurchases.start + .minutes(5), uptime: .zero)
        let pass = pass(.active, issued: TestPurchases.start)
        let wake = EntitlementMachine.Action.wake(at: TestPurchases.start + .days(7))
        var machine = EntitlementMachine(settings: TestPurchases.settings(withServer: true))
        _ = machine.happened(.launched, at: ahead)
        let passed = machine.happened(
            .passVerified(compact: "a.b.c", claims: pass.claims),
            at: ahead
        )
        #expect(passed.contains(wake))
        _ = machine.happened(.storeRead(StoreReading()), at: ahead)
        let reply = try denial(asOf: TestPurchases.start)
        _ = machine.happened(.reconcileAccepted(round: 1, page: 0, reply), at: ahead)
        // By the corrected clock, the device's own decision has begun.
        let later = ClockReading(clock: ahead.clock + .minutes(6), uptime: .minutes(6))
        let ask = EntitlementMachine.Action.wake(at: TestPurchases.start + .days(1))
        #expect(machine.happened(.clockSeen, at: later).contains(ask))
        #expect(machine.happened(.clockSeen, at: later).contains(ask))
        _ = machine.happened(.foregrounded, at: later)
        _ = machine.happened(.storeRead(StoreReading()), at: later)
        let next = try denial(asOf: TestPurchases.start + .minutes(6))
        let accepted = machine.happened(
            .reconcileAccepted(round: 2, page: 0, next),
            at: later
        )
        #expect(accepted.contains(.wake(at: TestPurchases.start + .minutes(6) + .days(1))))
    }

    @Test func `an app that stays on the screen asks the server again each day`() throws {
        var machine = EntitlementMachine(settings: TestPurchases.settings(withServer: true))
        for day in 0..<9 {
            let at = TestPurchases.reading(after: .days(Int64(day)))
            let event = day == 0 ? EntitlementMachine.Event.launched : .clockSeen
            #expect(machine.happened(event, at: at).contains(.readStore))
            _ = machine.happened(.storeRead(StoreReading()), at: at)
            let reply = try denial(isGrant: true, asOf: at.clock)
            // On one day the server refuses the request.
            let response: EntitlementMachine.Event =
                day == 3
                ? .reconcileRefused(round: day + 1, page: 0, status: 403)
                : .reconcileAccepted(round: day + 1, page: 0, reply)
            let received = machine.happened(response, at: at)
            #expect(received.contains(.wake(at: at.clock + .days(1))))
            #expect(machine.published?["premium"].access == .granted)
        }
    }

    @Test func `a wake-up is requested again when the clock was set forward`() {
        let end = TestPurchases.start + TestPurchases.month
        let wake = EntitlementMachine.Action.wake(at: end)
        func reading(_ clock: Milliseconds, uptime: Milliseconds) -> ClockReading {
            ClockReading(clock: end - clock, uptime: uptime)
        }
        let status = TestPurchases.status(TestPurchases.subscription(7), renews: false)
        let store = StoreReading(statuses: [status])
        var machine = EntitlementMachine(settings: TestPurchases.settings(withServer: false))
        let at = reading(.hours(10), uptime: .zero)
        _ = machine.happened(.launched, at: at)
        #expect(machine.happened(.storeRead(store), at: at).contains(wake))
        let later = reading(.hours(9), uptime: .hours(1))
        #expect(!machine.happened(.foregrounded, at: later).contains(wake))
        #expect(!machine.happened(.storeRead(store), at: later).contains(wake))
        // The customer sets the clock, and returns to the app.
        let set = reading(.minutes(5), uptime: .hours(1) + .minutes(1))
        let actions =
            machine.happened(.foregrounded, at: set) + machine.happened(.storeRead(store), at: set)
        #expect(actions.contains(wake))
    }

    @Test func `a clock that is set forward delays no retry`() {
        var machine = EntitlementMachine(settings: TestPurchases.settings(withServer: true))
        let at = TestPurchases.reading()
        _ = machine.happened(.launched, at: at)
        _ = machine.happened(.storeRead(StoreReading()), at: at)
        let failed = machine.happened(.reconcileFailed(round: 1, page: 0), at: at)
        #expect(failed.contains(.wake(at: TestPurchases.start + .seconds(15))))
        let set = ClockReading(clock: TestPurchases.start + .hours(1), uptime: .seconds(1))
        let actions = machine.happened(.messagesDelayed(true), at: set)
        #expect(actions.contains(.wake(at: set.clock)))
        #expect(machine.happened(.clockSeen, at: set).contains(.readStore))
    }

    @Test func `a trial's words follow the time, so that its countdown is shown again`() throws {
        let endsAt = TestPurchases.start + .days(3)
        let at = TestPurchases.reading()
        var reply = try denial(isGrant: true, until: endsAt, asOf: TestPurchases.start)
        reply.entitlements[0].trial = RunningTrial(
            startedAt: TestPurchases.start,
            endsAt: endsAt,
            cancelBy: endsAt - .days(1)
        )
        reply.entitlements[0].words = ScreenWords(
            key: "trial.running.unpriced",
            title: "Your free trial is running",
            message: "",
            arguments: ["daysLeft": .number(3)]
        )
        var machine = EntitlementMachine(settings: TestPurchases.settings(withServer: true))
        _ = machine.happened(.launched, at: at)
        _ = machine.happened(.storeRead(StoreReading()), at: at)
        _ = machine.happened(.reconcileAccepted(round: 1, page: 0, reply), at: at)
        var words: [ScreenWords?] = []
        for day in Int64(1)...2 {
            let later = TestPurchases.reading(after: .days(day))
            for case .publish(let state) in machine.happened(.clockSeen, at: later) {
                words.append(state["premium"].words)
            }
        }
        #expect(words.map { $0?.arguments["daysLeft"] } == [.number(2), nil])
        #expect(words.map { $0?.key } == ["trial.running.unpriced", "trial.ending.unpriced"])
    }

    @Test func `a refund that is learned after days without an answer keeps content`() throws {
        var machine = EntitlementMachine(settings: TestPurchases.settings(withServer: true))
        func round(_ number: Int, after delay: Milliseconds, _ reply: ServerReply) {
            let at = TestPurchases.reading(after: delay)
            _ = machine.happened(.foregrounded, at: at)
            _ = machine.happened(.storeRead(StoreReading()), at: at)
            _ = machine.happened(.reconcileAccepted(round: number, page: 0, reply), at: at)
        }
        let end = TestPurchases.start + TestPurchases.month
        round(1, after: .zero, try denial(isGrant: true, until: end, asOf: TestPurchases.start))
        #expect(machine.published?["premium"].access == .granted)
        _ = machine.happened(.clockSeen, at: TestPurchases.reading(after: .days(8)))
        #expect(machine.published?["premium"].access == .denied)
        #expect(machine.published?["premium"].confidence == .unknown)
        let refundedAt = TestPurchases.start + .days(8)
        let refund = try denial(reason: "refunded", until: refundedAt, asOf: refundedAt)
        round(2, after: .days(8), refund)
        #expect(machine.published?["premium"].keepsArtifacts == true)
    }

    @Test func `a later answer to a purchase that it did not accept counts`() throws {
        let bought = TestPurchases.subscription(7, signedAfter: .minutes(1))
        let store = StoreReading(
            statuses: [TestPurchases.status(bought)],
            unfinished: [bought]
        )
        var machine = EntitlementMachine(settings: TestPurchases.settings(withServer: true))
        let at = TestPurchases.reading(after: .minutes(2))
        _ = machine.happened(.launched, at: at)
        _ = machine.happened(.storeRead(store), at: at)
        let reply = try denial(asOf: TestPurchases.start + .minutes(2))
        _ = machine.happened(.reconcileAccepted(round: 1, page: 0, reply), at: at)
        #expect(
            machine.kept.queue == [
                QueuedPurchase(bought, of: TestPurchases.customer, isAnswered: true)
            ]
        )
        #expect(machine.published?["premium"].access == .denied)
    }

    @Test func `an answer counts after a failed round in which the purchase was refused`() throws {
        let bought = TestPurchases.subscription(7, signedAfter: .minutes(1))
        let store = StoreReading(
            purchases: (UInt64(8)...39).map(TestPurchases.coins),
            unfinished: [bought]
        )
        var machine = EntitlementMachine(settings: TestPurchases.settings(withServer: true))
        let at = TestPurchases.reading(after: .minutes(2))
        _ = machine.happened(.launched, at: at)
        let first = pages(machine.happened(.storeRead(store), at: at))
        #expect(first.first?.transactions.first == bought)
        var refusal = try denial(asOf: TestPurchases.start + .minutes(2))
        refusal.verdicts[bought.jws] = .refused(code: "wrong-bundle")
        let second = pages(
            machine.happened(.reconcileAccepted(round: 1, page: 0, refusal), at: at)
        )
        #expect(second.map(\.transactions.count) == [1])
        _ = machine.happened(.reconcileFailed(round: 1, page: 1), at: at)
        #expect(machine.published?["premium"].access == .granted)

        let later = TestPurchases.reading(after: .minutes(3))
        #expect(machine.happened(.clockSeen, at: later).contains(.readStore))
        let retried = pages(machine.happened(.storeRead(store), at: later))
        #expect(retried.map { $0.transactions.contains(bought) } == [false])
        let reply = try denial(asOf: TestPurchases.start + .minutes(3))
        _ = machine.happened(.reconcileAccepted(round: 2, page: 0, reply), at: later)
        #expect(machine.published?["premium"].access == .denied)
    }

    /// A payment that failed on this device, the state in the pass, and the prompt before and after
    /// the first round, which fails.
    struct FailedPayment: Sendable {
        var status = SignedStatus.State.inBillingRetry
        var passState: State?
        var before: Prompt.Kind?
        var after: Prompt.Kind?
    }

    @Test(arguments: [
        FailedPayment(passState: .active), FailedPayment(passState: .never),
        FailedPayment(passState: .hold, before: .hard, after: .hard),
        FailedPayment(after: .hard),
        FailedPayment(status: .inGracePeriod, passState: .grace, after: .soft),
    ])
    func `without an answer of the server the prompt has the reason of the shown answer`(
        payment: FailedPayment
    ) {
        let delay = TestPurchases.month + .days(1)
        let at = TestPurchases.reading(after: delay)
        let status = TestPurchases.status(TestPurchases.subscription(7), payment.status)
        var machine = EntitlementMachine(settings: TestPurchases.settings(withServer: true))
        _ = machine.happened(.launched, at: at)
        if let state = payment.passState {
            let claims = pass(state, issued: TestPurchases.start + delay - .hours(1)).claims
            _ = machine.happened(.passVerified(compact: "a.b.c", claims: claims), at: at)
        }
        _ = machine.happened(.storeRead(StoreReading(statuses: [status])), at: at)
        #expect(machine.published?.prompt?.kind == payment.before)
        _ = machine.happened(.reconcileFailed(round: 1, page: 0), at: at)
        #expect(machine.published?.prompt?.kind == payment.after)
    }

    /// The pages to present among actions.
    private func pages(_ actions: [EntitlementMachine.Action]) -> [EvidencePage] {
        actions.compactMap { action in
            guard case .reconcile(_, _, let page, _) = action else { return nil }
            return page
        }
    }

    @Test(arguments: [false, true])
    func `a queued purchase is presented as the purchase of the customer who made it`(
        isRefused: Bool
    ) throws {
        let ann = try #require(CustomerID("ann"))
        let bought = TestPurchases.subscription(7)
        let coins = TestPurchases.coins(8)
        var earlier = KeptState(customer: ann)
        earlier.queue = [QueuedPurchase(bought, of: ann), QueuedPurchase(coins)]
        let at = TestPurchases.reading(after: .minutes(1))
        var machine = EntitlementMachine(
            settings: TestPurchases.settings(withServer: true),
            kept: KeptState(json: earlier.json)
        )
        _ = machine.happened(.launched, at: at)
        let first = pages(machine.happened(.storeRead(StoreReading()), at: at))
        #expect(first.map(\.customer) == [ann])
        // A file of an earlier version names no customer for a purchase, and its own for all.
        #expect(first.map(\.transactions) == [[bought, coins]])
        let reply = try denial(asOf: TestPurchases.start + .minutes(1))
        let second = pages(
            machine.happened(
                isRefused
                    ? .reconcileRefused(round: 1, page: 0, status: 404)
                    : .reconcileAccepted(round: 1, page: 0, reply),
                at: at
            )
        )
        #expect(second.map(\.customer) == [nil])
        #expect(second.map(\.transactions) == [[]])
        _ = machine.happened(.reconcileAccepted(round: 1, page: 1, reply), at: at)
        #expect(machine.published?["premium"].access == .denied)
        #expect(machine.kept.queue.map(\.purchase) == [bought, coins])
        #expect(machine.kept.queue.map(\.customer) == [ann, ann])
        #expect(machine.kept.queue.map(\.isRefused) == [isRefused, isRefused])
    }

    @Test func `a purchase that waits for approval is shown until it arrives`() {
        var world = SimulatedWorld(withServer: false)
        world.launch()
        world.send(.purchaseEnded(productId: "pro", .pending))
        #expect(world.shown.last?["premium"].isWaiting == true)
        #expect(world.shown.last?["premium"].access == .denied)
        world.launch()
        #expect(world.shown.last?["premium"].isWaiting == true)
        let approved = TestPurchases.subscription(7)
        world.statuses = [TestPurchases.status(approved)]
        world.unfinished = [approved]
        world.send(.transactionUpdated(approved))
        #expect(world.shown.last?["premium"].isWaiting == false)
        #expect(world.shown.last?["premium"].access == .granted)
    }

    @Test func `a purchase that was declined is not shown as waiting for ever`() {
        var world = SimulatedWorld(withServer: false)
        world.launch()
        world.send(.purchaseEnded(productId: "pro", .pending))
        world.now = world.now + .days(6)
        world.launch()
        #expect(world.shown.last?["premium"].isWaiting == true)
        world.now = world.now + .days(1)
        world.send(.clockSeen)
        #expect(world.shown.last?["premium"].isWaiting == false)
        #expect(world.machine.kept.waiting == [])
    }

    @Test func `a consumable finished while the store is read is not listed again`() {
        var machine = EntitlementMachine(settings: TestPurchases.settings(withServer: false))
        let coins = TestPurchases.coins(7)
        func happened(_ event: EntitlementMachine.Event) -> [EntitlementMachine.Action] {
            machine.happened(event, at: TestPurchases.reading())
        }
        _ = happened(.launched)
        _ = happened(.storeRead(StoreReading()))
        let bought = happened(.purchaseEnded(productId: "coins", .bought(coins)))
        #expect(bought.contains(.readStore))
        for case .write(_, let revision) in bought { _ = happened(.written(revision: revision)) }
        #expect(machine.published?.undelivered == [coins])
        #expect(happened(.delivered(transactionId: 7)).contains(.finish(transactionId: 7)))
        _ = happened(.finished(transactionId: 7))
        _ = happened(.storeRead(StoreReading(unfinished: [coins])))
        #expect(machine.published?.undelivered == [])
    }

    /// An Apple TV may remove the file, and StoreKit keeps no history of a consumable.
    @Test func `a consumable in a file that can be removed is finished after the commit`() {
        var world = SimulatedWorld(withServer: true, isFileLasting: false)
        world.launch()
        world.isReachable = false
        let (coins, pro) = (TestPurchases.coins(7), TestPurchases.subscription(8))
        world.unfinished = [coins, pro]
        world.statuses = [TestPurchases.status(pro)]
        world.send(.purchaseEnded(productId: "coins", .bought(coins)))
        #expect(world.finished == [8])
        world.isReachable = true
        world.send(.foregrounded)
        #expect(world.finished == [8, 7])
        #expect(world.lost == [])
    }

    @Test func `without a transaction the environment is that of the app's own record`() {
        func asked(_ store: StoreReading) -> [TideoverCore.Environment] {
            var machine = EntitlementMachine(settings: TestPurchases.settings(withServer: true))
            _ = machine.happened(.launched, at: TestPurchases.reading())
            return machine.happened(.storeRead(store), at: TestPurchases.reading()).compactMap {
                if case .reconcile(_, _, _, let environment) = $0 { environment } else { nil }
            }
        }
        #expect(asked(StoreReading(environment: .sandbox)) == [.sandbox])
        #expect(asked(StoreReading()) == [.production])
        let bought = TestPurchases.status(TestPurchases.subscription(7))
        #expect(asked(StoreReading(statuses: [bought], environment: .sandbox)) == [.production])
    }

    @Test func `a cancelled purchase causes another read of the store`() {
        var world = SimulatedWorld(withServer: false)
        world.launch()
        world.statuses = [TestPurchases.status(TestPurchases.subscription(7))]
        world.send(.purchaseEnded(productId: "pro", .cancelled))
        #expect(world.shown.last?["premium"].access == .granted)
    }

    @Test(arguments: [true, false])
    func `a restore synchronises only if it found nothing`(hasPurchase: Bool) {
        var world = SimulatedWorld(withServer: false)
        if hasPurchase { world.statuses = [TestPurchases.status(TestPurchases.subscription(7))] }
        world.launch()
        world.send(.restoreAsked)
        #expect(world.syncs == (hasPurchase ? 0 : 1))
        #expect(world.restores == [hasPurchase ? .found : .nothingFound])
    }

    @Test func `a cancelled restore ends`() {
        var machine = EntitlementMachine(settings: TestPurchases.settings(withServer: false))
        _ = machine.happened(.launched, at: TestPurchases.reading())
        _ = machine.happened(.storeRead(StoreReading()), at: TestPurchases.reading())
        _ = machine.happened(.restoreAsked, at: TestPurchases.reading())
        let asked = machine.happened(.storeRead(StoreReading()), at: TestPurchases.reading())
        #expect(asked.contains(.sync))
        let ended = machine.happened(.syncFailed, at: TestPurchases.reading())
        #expect(ended.contains(.endRestore(.notSynchronised)))
    }

    @Test func `access ends at its date without a message`() {
        var world = SimulatedWorld(withServer: false)
        world.statuses = [TestPurchases.status(TestPurchases.subscription(7), renews: false)]
        world.launch()
        #expect(world.shown.last?["premium"].access == .granted)
        world.now = TestPurchases.start + TestPurchases.month
        world.send(.clockSeen)
        #expect(world.shown.last?["premium"].access == .denied)
    }

    @Test func `evidence beyond one request's limit is sent in pages`() {
        let statuses = (UInt64(1)...50).map { TestPurchases.status(TestPurchases.subscription($0)) }
        let pages = EvidencePage.pages(of: [], and: statuses)
        #expect(pages.allSatisfy { $0.transactions.count + $0.renewalInfos.count <= 32 })
        #expect(pages.reduce(0) { $0 + $1.transactions.count } == 50)
        #expect(EvidencePage.pages(of: [], and: []).map(\.saysNothing) == [true])
    }

    @Test func `the server can read a conclusion with many unfinished renewals`() throws {
        let settings = TestPurchases.settings(withServer: true)
        let renewals = (UInt64(1)...40).map { TestPurchases.subscription($0) }
        let store = StoreReading(unfinished: renewals)
        let start = TestPurchases.start
        let decision = DeviceFacts(store, and: [], settings: settings, at: start)
            .decide(settings: settings, environment: .production, readAt: start, at: start)
        let document = DeviceConclusionDocument(
            decision,
            unfinished: renewals,
            unverified: [],
            askedAt: start,
            deviceTime: start
        )
        let conclusion = try DeviceConclusion(json: JSONDocument(document.json).root)
        #expect(conclusion.words["premium"]?.access == true)
        #expect(conclusion.words["premium"]?.unfinished.count == 32)
    }

    @Test(arguments: ["https://billing.example.com/t", "https://billing.example.com/t//"])
    func `a slash at the end of the server's address changes nothing`(url: String) {
        let server = Tideover.Server(app: "cards", apiKey: "key", url: url)
        #expect(server.base == "https://billing.example.com/t")
    }

    @Test func `only the response to the last page counts`() {
        var world = SimulatedWorld(withServer: true)
        world.statuses = (UInt64(1)...50).map {
            TestPurchases.status(TestPurchases.subscription($0))
        }
        world.launch()
        #expect(world.committed.count == 50)
        let answered = world.shown.filter(\.isAnswered)
        #expect(answered.count == 1)
        #expect(answered.last?["premium"].access == .granted)
    }

    @Test func `an unverifiable transaction is presented once`() {
        var world = SimulatedWorld(withServer: true)
        let forged = TestPurchases.subscription(7, isVerified: false)
        world.unfinished = [forged]
        world.statuses = [TestPurchases.status(forged)]
        world.launch()
        #expect(world.machine.refusals == [7: "wrong-bundle"])
        let count = world.presented[7]
        world.send(.foregrounded)
        world.send(.foregrounded)
        #expect(world.presented[7] == count)
    }

    @Test func `the stored state is read as it was written`() {
        var kept = KeptState(customer: TestPurchases.customer)
        kept.queue = [
            QueuedPurchase(
                TestPurchases.coins(3),
                of: TestPurchases.customer,
                isRefused: true,
                refusedAt: TestPurchases.start,
                isAnswered: true
            ),
            QueuedPurchase(TestPurchases.coins(4)),
        ]
        kept.pass = "a.b.c"
        kept.candidate = "d.e.f"
        kept.keys = [PassKey(id: "k", bytes: Array(0..<32))]
        kept.lastSeen = TestPurchases.start
        kept.waiting = [WaitingPurchase(productId: "pro", until: TestPurchases.start)]
        kept.granted = [GrantedNote(entitlement: "premium", until: nil)]
        kept.artifacts = [KeptArtifacts(entitlement: "premium", until: TestPurchases.start)]
        #expect(KeptState(json: kept.json) == kept)
        #expect(KeptState(json: Array("{}".utf8)) == nil)
        #expect(KeptState(json: Array(kept.json.dropLast(3))) == nil)
    }

    @Test func `a file of an earlier version loses only which purchases wait for approval`() {
        var kept = KeptState(customer: TestPurchases.customer)
        kept.queue = [QueuedPurchase(TestPurchases.coins(3))]
        kept.waiting = [WaitingPurchase(productId: "pro", until: TestPurchases.start)]
        kept.granted = [GrantedNote(entitlement: "premium", until: nil)]
        let until = TestPurchases.start.millisecondsSince1970
        let text = String(decoding: kept.json, as: UTF8.self)
        let earlier = text.replacing(
            #"[{"productId":"pro","until":\#(until)}]"#,
            with: #"["pro"]"#
        )
        #expect(earlier.contains(#""waiting":["pro"]"#))
        kept.waiting = []
        #expect(KeptState(json: Array(earlier.utf8)) == kept)
    }

    @Test func `a member that cannot be read loses none of the others`() {
        var kept = KeptState(customer: TestPurchases.customer)
        kept.queue = [3, 4].map { QueuedPurchase(TestPurchases.coins($0)) }
        kept.pass = "a.b.c"
        kept.lastSeen = TestPurchases.start
        var text = String(decoding: kept.json, as: UTF8.self)
        text = text.replacing(#""a.b.c""#, with: "7").replacing(#""3""#, with: #""three""#)
        text = text.replacing("\(TestPurchases.start.millisecondsSince1970)", with: #""noon""#)
        text = text.replacing(#""waiting":[]"#, with: #""waiting":{}"#)
        kept.queue.removeFirst()
        kept.pass = nil
        kept.lastSeen = nil
        #expect(KeptState(json: Array(text.utf8)) == kept)
    }
}
