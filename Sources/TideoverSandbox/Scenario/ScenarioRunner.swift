import TideoverHTTP
import TideoverJSON
public import TideoverSignatures

/// Plays scenarios against a system under test, which it reaches only through two handlers and a
/// clock.
public struct ScenarioRunner: Sendable {
    private let target: ScenarioTarget
    private let authority: SandboxAuthority

    /// Creates a runner with a store that signs with this authority. The target must trust it.
    public init(target: ScenarioTarget, authority: SandboxAuthority) {
        self.target = target
        self.authority = authority
    }

    /// Plays one scenario from start to end. Errors of the other side are recorded in the report.
    ///
    /// - Throws: `tooLarge` if the scenario exceeds the content that one notification can carry.
    public func run(_ scenario: Scenario) async throws(SignatureRefusal) -> ScenarioReport {
        try await runKeepingStores(scenario).report
    }

    /// Plays one scenario as ``run(_:)``, and returns the stores' record of the past as well.
    package func runKeepingStores(
        _ scenario: Scenario
    ) async throws(SignatureRefusal) -> (report: ScenarioReport, stores: ScenarioStores) {
        var play = try await played(scenario)
        let report = play.takeReport()
        let stores = ScenarioStores(
            now: play.now,
            appStore: play.store,
            googlePlay: play.googlePlay?.store
        )
        return (report, stores)
    }

    /// Plays one scenario as ``run(_:)``, and returns a session in which its stores continue after
    /// its end.
    package func runIntoSession(
        _ scenario: Scenario
    ) async throws(SignatureRefusal) -> (report: ScenarioReport, session: ScenarioSession) {
        var play = try await played(scenario)
        let report = play.takeReport()
        return (report, ScenarioSession(continuing: play))
    }

    private func played(_ scenario: Scenario) async throws(SignatureRefusal) -> ScenarioPlay {
        var play = await ScenarioPlay(scenario, target, authority)
        await play.tellClock()
        for step in scenario.steps where !play.isGivenUp { try await play.take(step) }
        try await play.settle()
        return play
    }
}

/// The stores at the end of a scenario.
package struct ScenarioStores: Sendable {
    /// The last instant of the scenario, in milliseconds since 1970.
    package let now: Int64
    let appStore: SimulatedAppStore
    let googlePlay: SimulatedGooglePlay?

    /// Returns whether a customer was entitled to a product at an instant up to `now`.
    package func isEntitled(_ customer: String, at instant: Int64) async -> Bool {
        if await appStore.truth(of: customer, at: instant).isEntitled { return true }
        return await googlePlay?.truth(of: customer, at: instant).isEntitled ?? false
    }
}

/// The state of a scenario run: the stores and the trace so far.
struct ScenarioPlay {
    private(set) var moments: [TraceEntry] = []
    let scenario: Scenario
    let target: ScenarioTarget
    /// The clock that dates the stores' output.
    let dial: StoreTimeScale
    let store: SimulatedAppStore
    /// Nil if the scenario has no Google Play part.
    let googlePlay: ScenarioPlayStage?
    /// Nil if the scenario has no RevenueCat part.
    var revenueCat: ScenarioRelayStage?
    /// The stores' clocks.
    var now: Int64
    /// By the person's id in the system under test.
    var naive: [String: NaiveCheck] = [:]
    /// By customer.
    var devices: [String: ScenarioDevice] = [:]
    var losesNotifications = false
    /// The next background work of the system under test; nil if there is none.
    private var nextUpkeep: Int64?
    /// The next request for missed notifications; nil if none remains.
    private var nextCatchUp: Int64?
    var losesPushes = false
    /// The number of events read, by customer.
    var eventsRead: [String: Int] = [:]
    private var refusals: RefusalCount
    /// The time of the last request; nil before the first.
    private var statedAt: Int64?

    /// Whether the system under test accepts nothing from a store, and the scenario ends early.
    var isGivenUp: Bool { refusals.isFull }

    init(_ scenario: Scenario, _ target: ScenarioTarget, _ authority: SandboxAuthority) async {
        self.scenario = scenario
        self.target = target
        dial = target.pace?.dial(from: scenario.start) ?? .identity
        now = scenario.start
        refusals = RefusalCount(limit: target.refusalLimit)
        store = SimulatedAppStore(
            scenario.app.store,
            seed: scenario.seed,
            now: scenario.start,
            authority: authority.dating(by: dial),
            lag: scenario.lag,
            keys: target.storeKeys,
            // No simulated time passes during a wait.
            wait: { _ in }
        )
        if let play = scenario.googlePlay {
            googlePlay = await ScenarioPlayStage(play, of: scenario, target.googlePlay, dial)
        } else {
            googlePlay = nil
        }
        if let part = scenario.revenueCat {
            revenueCat = await ScenarioRelayStage(
                part,
                of: scenario,
                beside: googlePlay,
                target.revenueCat
            )
        }
        for customer in scenario.customers {
            do {
                try await store.register(customer)
            } catch {
                preconditionFailure("a scenario names each customer once: \(error)")
            }
        }
        await target.meetStore(store.serverAPI)
    }

    /// Returns the report of everything until now.
    fileprivate mutating func takeReport() -> ScenarioReport {
        ScenarioReport(
            scenario: scenario,
            moments: takeMoments().withPushesTakenLater,
            isGivenUp: isGivenUp
        )
    }

    /// Returns the trace entries added since the last call.
    mutating func takeMoments() -> [TraceEntry] {
        defer { moments = [] }
        return moments
    }

    /// Runs a step at its instant, or as soon after it as the answers to the step before were read.
    mutating func take(_ step: ScenarioStep) async throws(SignatureRefusal) {
        let step =
            target.tellsAccessAlone
            ? step.askingForAccess.asking(onlyAbout: target.answeredEntitlements) : step
        try await pass(until: max(step.at, now))
        guard !isGivenUp else { return }
        var visited: Reading?
        if let action = step.action { visited = try await perform(action, step) }
        guard step.isJudged, let customer = customer(step.customer)
        else { return }
        try await settle()
        await check(step, customer, visited)
    }

    /// Waits until everything that the store has issued so far was sent once, and then until what
    /// this caused was sent, too. A store that renews faster than it sends never has nothing to
    /// send, so the waits are limited.
    mutating func settle() async throws(SignatureRefusal) {
        for _ in 0..<10 {
            guard let last = await lastFirstAttempt() else { return }
            try await pass(until: max(last, now))
        }
    }

    /// Includes RevenueCat, which forwards a store's notification only after it has received it.
    private func lastFirstAttempt() async -> Int64? {
        let attempts = [
            await store.lastFirstAttempt, await googlePlay?.store.lastFirstAttempt,
            await revenueCat?.lastFirstAttempt,
        ]
        return attempts.compactMap(\.self).max()
    }

    /// Advances the stores and all deliveries, each event at its own instant.
    mutating func pass(until instant: Int64) async throws(SignatureRefusal) {
        while !isGivenUp, let next = await nextWork(), next < instant {
            try await reach(max(next, now))
        }
        if !isGivenUp { try await reach(instant) }
    }

    /// The next instant at which a store or RevenueCat does something by itself.
    func nextEvent() async -> Int64? {
        let events = [
            await store.nextEvent, await googlePlay?.store.nextEvent,
            await revenueCat?.relay.nextEvent, nextCatchUp,
        ]
        return events.compactMap(\.self).min()
    }

    /// The next instant at which something happens, in the system under test as well.
    private func nextWork() async -> Int64? {
        [await nextEvent(), nextUpkeep].compactMap(\.self).min()
    }

    private mutating func reach(_ instant: Int64) async throws(SignatureRefusal) {
        await target.pace?.wait(until: instant, dial)
        while !isGivenUp, let attempt = try await store.advance(to: instant) {
            now = await store.now
            await deliver(attempt)
        }
        guard !isGivenUp else { return }
        now = instant
        while !isGivenUp, let attempt = try await googlePlay?.store.advance(to: instant) {
            await push(attempt)
        }
        while let attempt = await revenueCat?.relay.advance(to: instant) { await hand(attempt) }
        await keepUp()
        if let nextCatchUp, nextCatchUp <= now { await catchUp() }
    }

    /// Runs the background work of the system under test, which checks once a second for work.
    private mutating func keepUp() async {
        guard let keepUp = target.keepUp else { return }
        await tellClock()
        nextUpkeep = await keepUp().map { max($0, now + 1_000) }
    }

    /// Makes the system under test request missed notifications. If the store asks for a delay, the
    /// request is repeated after it.
    private mutating func catchUp() async {
        await tellClock()
        nextCatchUp = await target.catchUp().map { max($0, now + 1_000) }
        // This is no request to it, from which it could take the time.
        statedAt = nil
    }

    /// Sets the clock of the system under test to the stores' time, or to its own clock at a pace.
    mutating func tellClock() async {
        statedAt = now
        await target.setClock(dial.shown(now))
    }

    /// Sends a request with the stores' time, unless the last request had it. A system that reads
    /// the time from requests, or the stores' clock at intervals, then answers by the new time.
    mutating func stateTime() async {
        guard target.pace == nil, statedAt != now, let first = scenario.customers.first
        else { return }
        _ = await read(first)
    }

    func customer(_ name: String?) -> StoreCustomer? {
        name.flatMap { name in scenario.customers.first { $0.name == name } }
    }

    mutating func note(_ customer: String?, _ happening: TraceEntry.Happening) {
        let entry = TraceEntry(at: now, customer: customer, happening: happening)
        refusals.add(entry)
        moments.append(entry)
    }
}

// MARK: - Acting

extension ScenarioPlay {
    /// Returns the answer to the device if the step has one send a request.
    private mutating func perform(
        _ action: ScenarioAction,
        _ step: ScenarioStep
    ) async throws(SignatureRefusal) -> Reading? {
        switch action {
        case .requestTestNotification:
            note(nil, .action(deed(step, "The operator asks for a test notification.", nil)))
            await store.requestTestNotification()
        case .loseNotifications(let isLosing):
            losesNotifications = isLosing
            let words =
                isLosing ? "Notifications are lost from now on." : "Notifications arrive again."
            note(nil, .action(deed(step, words, nil)))
        case .catchUp:
            note(nil, .action(deed(step, "The store is asked for what was missed.", nil)))
            await catchUp()
        case .disturbNotifications(let rule):
            note(nil, .action(deed(step, "\(rule).", nil)))
            await store.add(rule)
        case .disturbServerAPI(let rule):
            note(nil, .action(deed(step, "\(rule).", nil)))
            await store.add(rule)
        case .endDisturbances:
            note(nil, .action(deed(step, "Nothing goes wrong any more.", nil)))
            await store.clearFaults()
            await store.clearWireFaults()
        case .store(let action):
            guard let customer = step.customer else { return nil }
            await perform(action, by: customer, step)
        case .googlePlay(let action): await perform(action, step)
        case .revenueCat(let action): await perform(action, step)
        case .openApp(let visit):
            guard let customer = customer(step.customer) else { return nil }
            return try await open(visit, customer, step)
        case .showPrompt(let prompt):
            guard let customer = customer(step.customer) else { return nil }
            await show(prompt, to: customer, step)
        case .storeAction(let action):
            guard let customer = customer(step.customer) else { return nil }
            try await carryOut(action, for: customer, step)
        }
        return nil
    }

    private mutating func open(
        _ visit: DeviceVisit,
        _ customer: StoreCustomer,
        _ step: ScenarioStep
    ) async throws(SignatureRefusal) -> Reading {
        var device = devices[customer.name] ?? ScenarioDevice()
        if visit.looks {
            device.look(try await store.device(of: visit.account ?? customer.name), at: now)
        }
        devices[customer.name] = device
        let message = try? await store.openApp(
            customer.name,
            delaysMessages: visit.delaysMessages
        )
        await tellClock()
        var body = device.report(
            visit,
            unlocking: scenario.app.entitlements,
            in: target.environment,
            at: now
        )
        if let googlePlay, scenario.googlePlay?.takes(customer.name) ?? false {
            // The device's conclusions cover only the App Store.
            body["device"] = nil
            let purchases = await googlePlay.purchases(of: customer.name)
            body["purchases"] = .array(purchases)
            if !purchases.isEmpty { body["nothing"] = nil }
        }
        let request = target.reconciliation(
            of: dial.dated(JSONValue.object(body)).encoded(),
            by: customer,
            app: scenario.app.id
        )
        let answer = await answer(to: request)
        let shown = visit.message.map { expected in
            Verdict(
                label: "message",
                expected: expected.rawValue,
                actual: message.map { .string($0.rawValue) },
                holds: message == expected
            )
        }
        let words = "\(customer.name) opens the app."
        note(customer.name, .action(deed(step, words, nil, answer.refusal ?? shown)))
        return await reading(of: customer, answer)
    }

    private mutating func perform(
        _ action: AppStoreAction,
        by customer: String,
        _ step: ScenarioStep
    ) async {
        let words = action.words(customer)
        do {
            try await store.perform(action, by: customer)
            note(customer, .action(deed(step, words, nil)))
        } catch {
            note(customer, .action(deed(step, words, error)))
        }
    }

    func deed(
        _ step: ScenarioStep,
        _ words: String,
        _ refusal: AppStoreRefusal?,
        _ other: Verdict? = nil
    ) -> StepResult {
        StepResult(
            line: step.line,
            words: words,
            note: step.note,
            refusal: refusal,
            verdict: verdict(refusal?.reason, expected: step.refusal) ?? other
        )
    }

    private func verdict(
        _ actual: AppStoreRefusal.Reason?,
        expected: AppStoreRefusal.Reason?
    ) -> Verdict? {
        guard actual != nil || expected != nil else { return nil }
        return Verdict(
            label: "refused",
            expected: expected?.rawValue ?? "done",
            actual: .string(actual?.rawValue ?? "done"),
            holds: actual == expected
        )
    }
}

extension Reading.Answer {
    /// The failed check of an answer without a document: the system under test must accept what a
    /// device sends. Nil for a document.
    fileprivate var refusal: Verdict? {
        let actual: JSONValue
        switch self {
        case .document: return nil
        case .status(let status): actual = .integer(Int64(status))
        case .unreadable(let error): actual = .string("unreadable: \(error)")
        case .failed(let why): actual = .string(why)
        }
        return Verdict(label: "answer", expected: "200", actual: actual, holds: false)
    }
}

// MARK: - Delivering and reading

extension ScenarioPlay {
    private mutating func deliver(_ attempt: SimulatedAppStore.Attempt) async {
        let notification = attempt.notification
        let isKeptBack = await relay(notification)
        guard !losesNotifications, !isKeptBack else { return await store.end(attempt, .success) }
        await tellClock()
        let request = target.delivery(of: attempt.body, app: scenario.app.id)
        let outcome = await outcome(of: request)
        await store.end(attempt, outcome.result)
        let isHeard = outcome.result == .success
        if isHeard, let customer = notification.customer, let heard = notification.transaction {
            hearNaively(heard, of: customer)
        }
        var reading: Reading?
        if let customer = customer(notification.customer) { reading = await read(customer) }
        let delivery = Delivery(
            notification: notification,
            fault: attempt.fault,
            outcome: outcome,
            reading: reading
        )
        note(notification.customer, .notification(delivery))
    }

    /// Passes a purchase to the naive check of a customer, from either store.
    mutating func hearNaively(_ transaction: JSONObject, of customer: String) {
        let person = self.customer(customer)?.person ?? customer
        naive[person, default: NaiveCheck()].hear(transaction)
    }

    private func outcome(of request: Request) async -> Delivery.Outcome {
        do {
            return .answered(status: try await target.deliver(request).status)
        } catch {
            return .failed("\(error)")
        }
    }

    private mutating func check(
        _ step: ScenarioStep,
        _ customer: StoreCustomer,
        _ visited: Reading?
    ) async {
        let reading: Reading
        if let visited { reading = visited } else { reading = await read(customer) }
        var verdicts = step.expectations.map { expectation in
            let expectation = expectation.dated(by: dial)
            let actual = reading.document.flatMap(expectation.actual)
            return Verdict(
                label: expectation.label,
                expected: "\(expectation.requirement)",
                actual: actual,
                holds: reading.document != nil && expectation.holds(for: actual)
            )
        }
        verdicts += await self.verdicts(on: step.relayed, of: customer)
        if let expected = step.consumptions {
            verdicts.append(await verdict(onConsumptions: expected))
        }
        if let expected = step.events { verdicts.append(await events(of: customer, expected)) }
        let readBack = ReadBack(
            line: step.line,
            note: step.action == nil ? step.note : nil,
            reading: reading,
            verdicts: verdicts
        )
        note(customer.name, .readBack(readBack))
    }

    /// Whether an event is a transition, and not a consequence or an advance notice.
    private func isTransition(_ kind: String) -> Bool {
        !["entitlement_changed", "cleanup_due"].contains(kind) && !kind.hasSuffix("_ending")
    }

    /// Checks that exactly these events were published for the customer since the last read.
    private mutating func events(
        of customer: StoreCustomer,
        _ expected: [String]
    ) async -> Verdict {
        var kinds: [String]?
        if let request = target.events(of: scenario.app.id),
            case .document(let feed) = await answer(to: request)
        {
            let id = customer.appAccountToken ?? customer.name
            let all = (feed["events"]?.array ?? []).filter { $0["customer"]?.string == id }
                .map { $0["kind"]?.string ?? "" }.filter(isTransition)
            kinds = Array(all.dropFirst(eventsRead[customer.name] ?? 0))
            eventsRead[customer.name] = all.count
        }
        return Verdict(
            label: "events",
            expected: expected.joined(separator: ", "),
            actual: kinds.map { .array($0.map(JSONValue.string)) },
            holds: kinds == expected
        )
    }

    mutating func read(_ customer: StoreCustomer) async -> Reading {
        await tellClock()
        return await reading(
            of: customer,
            await answer(to: target.question(about: customer, app: scenario.app.id))
        )
    }

    private func reading(of customer: StoreCustomer, _ answer: Reading.Answer) async -> Reading {
        let truth = await truth(of: customer)
        return Reading(
            at: now,
            customer: customer.name,
            answer: answer,
            truth: truth.whole,
            firmTruth: truth.firm,
            naive: naive[customer.person] ?? NaiveCheck()
        )
    }

    /// Returns the state in all stores of the person.
    private func truth(of customer: StoreCustomer) async -> Truth {
        var truths: [Truth] = []
        for own in scenario.customers where own.person == customer.person {
            truths.append(await truth(of: own.name))
        }
        return (
            AppStoreExpectedState(bestOf: truths.map(\.whole)),
            AppStoreExpectedState(bestOf: truths.map(\.firm))
        )
    }

    /// The state in the stores, and the same without Google Play's grace.
    private typealias Truth = (whole: AppStoreExpectedState, firm: AppStoreExpectedState)

    private func truth(of customer: String) async -> Truth {
        let own = await store.truth(of: customer, at: now)
        let others = await googlePlay?.truths(of: customer, by: now) ?? []
        let firm = others.filter { if case .grace = $0 { false } else { true } }
        return (
            AppStoreExpectedState(bestOf: [own] + others),
            AppStoreExpectedState(bestOf: [own] + firm)
        )
    }

    private func answer(to request: Request) async -> Reading.Answer {
        let response: Response
        do {
            response = try await target.readBack(request)
        } catch {
            return .failed("\(error)")
        }
        guard response.status == 200 else { return .status(response.status) }
        do {
            return .document(JSONValue(try JSONDocument(response.body).root))
        } catch {
            return .unreadable(error)
        }
    }
}
