import TideoverCore
import TideoverHTTP

/// Carries out the machine's actions on the main actor. It makes no decisions itself.
@MainActor
final class KitRuntime {
    private let settings: KitSettings
    private let effects: KitEffects
    private let publish: @MainActor (EntitlementState) -> Void
    /// Nil until the first attempt to read the kept file has ended.
    private var machine: EntitlementMachine?
    /// Events before that.
    private var early: [EntitlementMachine.Event] = []
    /// Events that occurred while actions were carried out.
    private var nested: [EntitlementMachine.Event] = []
    private var isCarryingOut = false
    private(set) var isStopped = false
    private var restores: [CheckedContinuation<RestoreOutcome, Never>] = []
    private var listening: Task<Void, Never>?
    private var messages: Task<Void, Never>?
    private var display: (@MainActor (StoreMessage) -> Bool)?
    private var waking: Task<Void, Never>?
    /// The latest write; each begins after the previous one has ended.
    private var writing: Task<Void, Never>?
    /// The number of pending effects, and the tasks that wait for them.
    private var underWay = 0
    private var settling: [CheckedContinuation<Void, Never>] = []

    /// The environment of the last reconcile.
    private var environment: TideoverCore.Environment?
    /// The latest reported prompt.
    private var reported: (prompt: RecoveryPrompt, exposure: PromptExposure)?

    init(
        _ settings: KitSettings,
        _ effects: KitEffects,
        publish: @escaping @MainActor (EntitlementState) -> Void
    ) {
        self.settings = settings
        self.effects = effects
        self.publish = publish
    }

    deinit {
        listening?.cancel()
        messages?.cancel()
        waking?.cancel()
    }

    /// Ends it although something may still hold it: later events change nothing. Returns the
    /// writes that have been requested.
    func stop() -> Task<Void, Never>? {
        isStopped = true
        listening?.cancel()
        messages?.cancel()
        waking?.cancel()
        endRestore(.notAnswered)
        return writing
    }

    var customer: CustomerID { settings.customer }

    var now: Instant {
        let reading = effects.clock()
        return machine?.clock.now(reading) ?? reading.clock
    }

    /// Subscribes to updates first, so that a transaction that arrives while the file is read is
    /// not lost.
    func start() async {
        guard listening == nil, !isStopped else { return }
        let updates = effects.source.updates()
        listening = Task { [weak self] in
            for await update in updates { self?.receive(update) }
        }
        do {
            machine = EntitlementMachine(settings: settings, kept: try await effects.file.state())
        } catch {
            machine = EntitlementMachine(settings: settings, isKeptRead: false)
        }
        send(.launched)
        let events = early
        early = []
        for event in events { send(event) }
    }

    private func receive(_ update: StoreSource.Update) {
        switch update {
        case .transaction(let purchase): send(.transactionUpdated(purchase))
        case .statusChanged: send(.statusChanged)
        }
    }

    /// Takes over the store's messages; a later call replaces the display of an earlier one.
    func controlMessages(
        _ source: AsyncStream<StoreMessage>,
        display: @escaping @MainActor (StoreMessage) -> Bool
    ) {
        guard !isStopped else { return }
        self.display = display
        messages?.cancel()
        messages = Task { [weak self] in
            for await message in source { self?.send(.messageReceived(message)) }
        }
    }

    func restore() async -> RestoreOutcome {
        guard !isStopped else { return .notAnswered }
        return await withCheckedContinuation { continuation in
            restores.append(continuation)
            send(.restoreAsked)
        }
    }

    /// Handles an event. One that occurs while actions are carried out, such as a call of the app
    /// from `onChange`, waits for the rest of them: an older answer must not follow a newer one.
    func send(_ event: EntitlementMachine.Event) {
        guard !isStopped else { return }
        guard machine != nil else {
            early.append(event)
            return
        }
        nested.append(event)
        guard !isCarryingOut else { return }
        isCarryingOut = true
        defer { isCarryingOut = false }
        while !isStopped, !nested.isEmpty {
            let actions = machine?.happened(nested.removeFirst(), at: effects.clock()) ?? []
            // One of them can end this object: an app starts another store while it is informed.
            for action in actions where !isStopped { carryOut(action) }
        }
    }

    // MARK: - Actions

    private func carryOut(_ action: EntitlementMachine.Action) {
        switch action {
        case .readStore: later { .storeRead(await $0.source.read()) }
        case .readKept:
            later {
                do {
                    return .keptRead(try await $0.file.state())
                } catch {
                    return .keptUnreadable
                }
            }
        case .write(let kept, let revision): write(kept.json, revision)
        case .reconcile(let round, let page, let evidence, let environment):
            reconcile(round, page, evidence, environment)
        case .finish(let id):
            later {
                await $0.source.finish(id)
                return .finished(transactionId: id)
            }
        case .sync:
            later {
                do {
                    try await $0.source.sync()
                    return .synced
                } catch {
                    return .syncFailed
                }
            }
        case .verifyPass(let document, let key): verify(document, key)
        case .fetchKeys: fetchKeys()
        case .publish(let state):
            // The same prompt that appears again after a pause is another one.
            if state.prompt == nil { reported = nil }
            publish(state)
        case .display(let message): show(message)
        case .wake(let instant): wake(at: instant)
        case .endRestore(let outcome): endRestore(outcome)
        }
    }

    private func later(
        _ effect: @escaping @Sendable (KitEffects) async -> EntitlementMachine.Event
    ) {
        underWay += 1
        Task { [weak self, effects] in
            let event = await effect(effects)
            self?.ended(with: event)
        }
    }

    private func ended(with event: EntitlementMachine.Event) {
        send(event)
        underWay -= 1
        guard underWay == 0 else { return }
        let waiting = settling
        settling = []
        for continuation in waiting { continuation.resume() }
    }

    /// Returns when no effect is pending.
    func settled() async {
        guard underWay > 0 else { return }
        await withCheckedContinuation { settling.append($0) }
    }

    private func write(_ bytes: [UInt8], _ revision: Int) {
        let before = writing
        underWay += 1
        writing = Task { [weak self, effects] in
            await before?.value
            do {
                try await effects.file.write(bytes)
                self?.ended(with: .written(revision: revision))
            } catch {
                self?.ended(with: .writingFailed(revision: revision))
            }
        }
    }

    private func reconcile(
        _ round: Int,
        _ page: Int,
        _ evidence: EvidencePage,
        _ environment: TideoverCore.Environment
    ) {
        guard let server = settings.server else { return }
        self.environment = environment
        let request = evidence.request(
            to: server,
            customer: (evidence.customer ?? settings.customer).text,
            environment: environment.rawValue
        )
        later { effects in
            guard let response = try? await effects.network(request) else {
                return .reconcileFailed(round: round, page: page)
            }
            return .reconciled(response, round, page, evidence)
        }
    }

    /// Reports a prompt once when it appears, and again with the customer's response.
    func report(
        _ prompt: RecoveryPrompt,
        _ response: PromptExposure.Response?,
        in environment: TideoverCore.Environment
    ) {
        guard !isStopped, let server = settings.server else { return }
        let known = reported.flatMap { $0.prompt == prompt ? $0.exposure : nil }
        if known != nil, response == nil { return }
        var exposure =
            known
            ?? PromptExposure(
                id: "\(prompt.kind.rawValue)-\(now.millisecondsSince1970)",
                kind: PromptExposure.Kind(prompt.kind),
                shownAt: now
            )
        exposure.response = response
        reported = (prompt, exposure)
        send(exposure, to: server, in: environment)
    }

    /// Shows a message of the store, and reports one about a payment or a price that was shown, so
    /// that the server does not ask for the same.
    private func show(_ message: StoreMessage) {
        guard let display, display(message), let server = settings.server, message != .other
        else { return }
        let exposure = PromptExposure(
            id: "store-\(now.millisecondsSince1970)",
            kind: .store,
            shownAt: now
        )
        send(exposure, to: server, in: environment ?? settings.environment)
    }

    private func send(
        _ exposure: PromptExposure,
        to server: ServerIdentity,
        in environment: TideoverCore.Environment
    ) {
        let request = server.report(
            exposure,
            customer: settings.customer.text,
            environment: environment.rawValue
        )
        later { effects in
            _ = try? await effects.network(request)
            return .clockSeen
        }
    }

    private func fetchKeys() {
        guard let request = settings.server?.keysRequest else { return }
        later { effects in
            guard let response = try? await effects.network(request), response.status == 200,
                let keys = PassKey.keys(ofSet: response.body)
            else { return .keysFailed }
            return .keysReceived(keys)
        }
    }

    private func verify(_ document: PassDocument, _ key: PassKey) {
        let claims = document.claims(verifiedWith: key, by: effects.verify)
        send(
            claims.map { .passVerified(compact: document.compact, claims: $0) }
                ?? .passForged(compact: document.compact)
        )
    }

    private func wake(at instant: Instant) {
        waking?.cancel()
        // A longer wait is requested again when this one has ended.
        let delay = min(Milliseconds(max(0, (instant - now).count)), .days(1))
        waking = Task { [weak self, effects] in
            do {
                try await effects.sleep(delay)
            } catch {
                return
            }
            self?.send(.clockSeen)
        }
    }

    private func endRestore(_ outcome: RestoreOutcome) {
        let waiting = restores
        restores = []
        for continuation in waiting { continuation.resume(returning: outcome) }
    }
}

extension KeptFile {
    /// Reads the kept state; nil if there is no file, or if it has another format.
    fileprivate func state() async throws -> KeptState? {
        try await read().flatMap(KeptState.init(json:))
    }
}

extension EntitlementMachine.Event {
    /// Converts the response to a page into an event. After a failure, or a response of an unknown
    /// server, the page is retried.
    static func reconciled(
        _ response: Response,
        _ round: Int,
        _ page: Int,
        _ evidence: EvidencePage
    ) -> EntitlementMachine.Event {
        switch response.status {
        case 200:
            guard let reply = try? ServerReply(response.body, to: evidence) else {
                return .reconcileFailed(round: round, page: page)
            }
            return .reconcileAccepted(round: round, page: page, reply)
        case 400..<500: return .reconcileRefused(round: round, page: page, status: response.status)
        default: return .reconcileFailed(round: round, page: page)
        }
    }
}
