package import TideoverCore

// The shown answers: the server's while it is valid, else the pass, else the device's decision.

extension EntitlementMachine {
    /// The environment of the store's signatures, or that of the app itself, or the configured one.
    package var environment: TideoverCore.Environment {
        namedEnvironment ?? settings.environment
    }

    /// The environment that the store names; nil if it has not been able to in this process.
    var namedEnvironment: TideoverCore.Environment? {
        currentFacts?.environment ?? reading?.environment
    }

    /// The facts signed by the store, once the store was read in this process.
    var currentFacts: DeviceFacts? {
        if let facts { return facts }
        guard let reading, let readAt else { return nil }
        return DeviceFacts(reading, and: unanswered, settings: settings, at: readAt)
    }

    /// Returns the device's own decision; nil before the store was read.
    func decision(at reading: ClockReading) -> DeviceDecision? {
        guard let readAt, let facts = currentFacts else { return nil }
        return facts.decide(
            settings: settings,
            environment: environment,
            readAt: readAt,
            at: clock.now(reading)
        )
    }

    mutating func publishIfChanged(at reading: ClockReading) -> [Action] {
        if facts == nil { facts = currentFacts }
        let decision = decision(at: reading)
        let now = clock.now(reading)
        kept.waiting.removeAll { $0.until <= now }
        var state = state(by: decision, at: reading)
        note(&state, at: now)
        var actions: [Action] = []
        if state != published {
            published = state
            actions.append(.publish(state))
        }
        if let next = nextChange(of: state, decision, at: reading) {
            actions += wake(at: next, now: now, uptime: reading.uptime)
        }
        return actions
    }

    /// Requests a wake-up, unless the running timer ends at the same time. When the clock was set
    /// forward, a timer for the same instant ends too late.
    private mutating func wake(
        at instant: Instant,
        now: Instant,
        uptime: Milliseconds
    ) -> [Action] {
        let end = uptime + Milliseconds((instant - now).count)
        guard instant != wakeAt || end + .seconds(1) < timerEnd else { return [] }
        wakeAt = instant
        timerEnd = end
        return [.wake(at: instant)]
    }

    /// Returns all answers at a reading of the clocks.
    func state(by decision: DeviceDecision?, at reading: ClockReading) -> EntitlementState {
        let basis = Basis(self, decision, at: reading)
        // The server may answer a production request from its sandbox, if its policy permits it.
        var state = EntitlementState(environment: reply?.environment ?? environment)
        for name in basis.names {
            var entitlement = basis.answer(on: name)
            entitlement.isWaiting = entitlement.isWaiting || isWaiting(for: name)
            state.entitlements[name] = entitlement
        }
        state.isAnswered = basis.isAnswered
        state.prompt = basis.prompt
        if let prompt = state.prompt { state.entitlements[prompt.entitlement]?.prompt = prompt }
        state.isClockSetBack = clock.isSetBack(reading)
        state.undelivered = undelivered
        return state
    }

    private func isWaiting(for name: String) -> Bool {
        kept.waiting.contains { settings.catalogue.unlocks($0.productId, name) }
    }

    /// Stores which entitlements gave access, and which files of revoked ones are kept.
    private mutating func note(_ state: inout EntitlementState, at now: Instant) {
        guard state.isAnswered else { return mark(&state) }
        for name in state.entitlements.keys.sorted() {
            guard let entitlement = state.entitlements[name] else { continue }
            let former = kept.granted.first { $0.entitlement == name }
            if entitlement.access == .granted {
                kept.artifacts.removeAll { $0.entitlement == name }
            } else if let former, entitlement.isTakenBack {
                let end = settings.artifacts.instant(periodEnd: former.until, now: now)
                kept.artifacts.append(KeptArtifacts(entitlement: name, until: end))
            }
        }
        let former = kept.granted
        kept.granted = state.entitlements.values.sorted { $0.name < $1.name }
            .compactMap { entitlement in
                if entitlement.access == .granted {
                    return GrantedNote(entitlement: entitlement.name, until: entitlement.until)
                }
                // Without an answer of the server, a refund may become known only later.
                guard entitlement.confidence == .unknown else { return nil }
                return former.first { $0.entitlement == entitlement.name }
            }
        kept.artifacts.removeAll { $0.until.map { $0 <= now } ?? false }
        let bought = state.entitlements.values.filter { $0.access == .granted }.map(\.productId)
        kept.waiting.removeAll { bought.contains($0.productId) }
        mark(&state)
    }

    private func mark(_ state: inout EntitlementState) {
        for kept in kept.artifacts { state.entitlements[kept.entitlement]?.keepsArtifacts = true }
    }

    /// Returns when an answer changes by itself, or when a retry is due.
    private func nextChange(
        of state: EntitlementState,
        _ decision: DeviceDecision?,
        at reading: ClockReading
    ) -> Instant? {
        let now = clock.now(reading)
        // A retry that is due has a timer that this one would replace.
        if let due = [retryAt, readKeptAt].compactMap(\.self).min(), due <= now { return now }
        var instants = [retryAt, readKeptAt] + kept.artifacts.map(\.until)
        instants += kept.waiting.map(\.until)
        instants += state.entitlements.values.flatMap {
            [$0.until, $0.trial?.nextTick(after: now)]
        }
        instants += pass?.entitlements.map(\.notAfter) ?? []
        instants += decision?.snapshot.entitlements.map(\.nextChange) ?? []
        instants += reply?.changeInstants ?? []
        return instants.compactMap(\.self).filter { $0 > now }.min()
    }
}

/// The sources of answers at one instant, in order of precedence.
private struct Basis {
    let names: [String]
    let isAnswered: Bool
    private let device: DeviceDecision?
    private let reply: ServerReply?
    private let believedReply: Pass?
    private let pass: Pass?
    private let time: DeviceTime
    private let now: Instant
    private let isAlone: Bool
    private let hasTried: Bool
    /// The products of purchases that are newer than the answer that would otherwise be used, by
    /// entitlement.
    private let newer: [String: Set<String>]
    /// When the newest purchase of each entitlement that no answer includes was signed.
    private let unseen: [String: Instant]

    init(_ machine: EntitlementMachine, _ decision: DeviceDecision?, at reading: ClockReading) {
        let settings = machine.settings
        let catalogue = settings.catalogue
        device = catalogue.products.isEmpty ? nil : decision
        reply = machine.reply
        believedReply = machine.reply?.belief(of: settings.customer, policy: settings.policy)
        pass = machine.pass
        now = machine.clock.now(reading)
        time = machine.clock.passTime(reading)
        isAlone = settings.server == nil
        hasTried = machine.hasTried
        let asOf = machine.reply?.asOf ?? machine.pass?.issued
        let unanswered = Set(machine.unanswered.map { "\($0.transactionId)" })
        let isPass = machine.reply == nil
        let news = (decision?.evidence ?? []).filter { evidence in
            let isUnanswered = unanswered.contains(evidence.transactionId)
            guard let asOf else { return isUnanswered }
            if isUnanswered { return evidence.signedAt > asOf }
            // It was bought on another device after the pass was issued, and finished there.
            return isPass && evidence.wasBought(after: asOf, by: settings.customer)
        }
        newer = Dictionary(
            news.flatMap { evidence in
                (catalogue[evidence.productId]?.entitlements ?? []).map {
                    ($0, Set([evidence.productId]))
                }
            },
            uniquingKeysWith: { $0.union($1) }
        )
        let unseenIds = Set(machine.unseen.map { "\($0)" })
        unseen = Dictionary(
            (decision?.evidence ?? []).filter { unseenIds.contains($0.transactionId) }
                .flatMap { evidence in
                    (catalogue[evidence.productId]?.entitlements ?? [])
                        .map { ($0, evidence.signedAt) }
                },
            uniquingKeysWith: max
        )
        let told = (reply?.entitlements.map(\.name) ?? []) + (pass?.entitlements.map(\.name) ?? [])
        names = Set(catalogue.entitlements + told).sorted()
        var isPassGood = false
        if let pass { isPassGood = time.now < pass.notAfter }
        isAnswered = reply != nil || isPassGood || (device != nil && (isAlone || hasTried))
    }

    func answer(on name: String) -> Entitlement {
        let own = device?.snapshot[name].map(Entitlement.init)
        if isAlone { return own ?? Entitlement(name: name) }
        if let own, overrules(own) { return own }
        if let stated = replied(name) ?? passed(name) { return stated }
        guard var own else { return Entitlement(name: name) }
        // The server may have purchases that this device's store does not show.
        if own.access == .denied {
            guard hasTried else { return Entitlement(name: name) }
            own.confidence = .unknown
        }
        return own
    }

    /// Whether a purchase or refund behind the device's answer is newer than the server's answer. A
    /// purchase that no answer includes gives access whatever its date: the store's clock is not
    /// the server's, and the server may have answered before it received the purchase.
    private func overrules(_ own: Entitlement) -> Bool {
        let stated = replied(own.name) ?? passed(own.name)
        if let products = newer[own.name] {
            guard own.access == .denied else { return true }
            // Without an answer, a denial waits for the first round.
            guard let stated else { return false }
            // A refund or the end of one product does not end access by another one, or by hand.
            guard stated.access == .granted else { return true }
            return stated.productId.map(products.contains) ?? false
        }
        guard own.access == .granted, let signedAt = unseen[own.name], let stated,
            stated.access == .denied
        else { return false }
        // A refund that the server knows from the store may be the refund of this purchase.
        guard stated.isTakenBack else { return true }
        return stated.until.map { signedAt > $0 } ?? false
    }

    private func isOverruled(_ name: String) -> Bool {
        device?.snapshot[name].map { overrules(Entitlement($0)) } ?? false
    }

    private func replied(_ name: String) -> Entitlement? {
        guard var entitlement = reply?[name], let belief = believedReply else { return nil }
        switch belief.answer(on: name, at: DeviceTime(clock: now)) {
        case .stated:
            // The words of a trial change with its days, so that a countdown is shown again.
            if let trial = entitlement.trial, let words = entitlement.words {
                entitlement.words = trial.words(at: now, stated: words)
            }
            return entitlement
        case .presumed:
            if entitlement.confidence == .confirmed { entitlement.confidence = .presumed }
            entitlement.trial = nil
            // They are about a date that has passed.
            entitlement.words = nil
            return entitlement
        case .nothing: return nil
        }
    }

    private func passed(_ name: String) -> Entitlement? {
        guard let answer = pass?.answer(on: name, at: time) else { return nil }
        switch answer {
        case .stated(let entitlement), .presumed(let entitlement):
            return Entitlement(entitlement, confidence: answer.confidence)
        case .nothing: return nil
        }
    }

    /// The server's prompt while its answer is valid, else the device's.
    var prompt: RecoveryPrompt? {
        guard let reply, !isAlone else { return ownPrompt.map(RecoveryPrompt.init) }
        guard let prompt = reply.prompt, !isOverruled(prompt.entitlement),
            replied(prompt.entitlement) != nil, prompt.until.map({ now < $0 }) ?? true
        else { return nil }
        return prompt
    }

    /// The device's prompt, if its reason is the shown answer: the device's own, or the same state
    /// of the pass. The server may delay a soft prompt, or leave it out, so that one waits for the
    /// first round; the customer has access meanwhile.
    private var ownPrompt: Prompt? {
        guard let prompt = device?.snapshot.prompt else { return nil }
        if isAlone || isOverruled(prompt.entitlement) { return prompt }
        guard let stated = passed(prompt.entitlement) else { return hasTried ? prompt : nil }
        guard stated.state == device?.snapshot[prompt.entitlement]?.standing.state else {
            return nil
        }
        return hasTried || prompt.kind == .hard ? prompt : nil
    }
}
