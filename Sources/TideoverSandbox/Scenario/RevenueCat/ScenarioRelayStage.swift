import TideoverHTTP
import TideoverJSON

/// The RevenueCat part of a scenario run.
struct ScenarioRelayStage: Sendable {
    let relay: SimulatedRevenueCat
    let isAlone: Bool
    var losesWebhooks = false
    private let path: String

    init(
        _ part: ScenarioRevenueCat,
        of scenario: Scenario,
        beside googlePlay: ScenarioPlayStage?,
        _ target: ScenarioRelayTarget
    ) async {
        relay = SimulatedRevenueCat(
            part.setup,
            seed: scenario.seed,
            now: scenario.start,
            readPlay: { token in await googlePlay?.store.subscriptionWithPause(token: token) }
        )
        isAlone = part.isAlone
        path = fill(target.deliverPath, ["app": scenario.app.id]) { $0 }
        await target.meetRevenueCat(relay.api)
    }

    /// Skips RevenueCat's pending work if the system under test also receives the stores'
    /// notifications.
    var lastFirstAttempt: Int64? {
        get async { await relay.lastFirstAttempt(awaitingWords: isAlone) }
    }

    func request(for attempt: SimulatedRevenueCat.Attempt) -> Request {
        Request(method: "POST", path: path, headers: attempt.headers, body: attempt.body)
    }
}

// The RevenueCat steps of a scenario run.

extension ScenarioPlay {
    /// RevenueCat's id of a customer: the one that the app set.
    private func id(of name: String?) -> String? {
        customer(name).map { $0.appAccountToken ?? $0.name }
    }

    /// Sends an App Store notification to RevenueCat too. Returns whether RevenueCat is the only
    /// receiver.
    func relay(_ notification: AppStoreNotification) async -> Bool {
        guard let revenueCat else { return false }
        if let id = id(of: notification.customer) {
            await revenueCat.relay.hear(notification, of: id, at: now)
        }
        return revenueCat.isAlone
    }

    /// Publishes a Google Play message to RevenueCat too. Returns whether RevenueCat is the only
    /// receiver.
    func relay(_ message: PlayMessage) async -> Bool {
        guard let revenueCat else { return false }
        if let id = id(of: message.customer) {
            await revenueCat.relay.hear(message, of: id, at: now)
        }
        return revenueCat.isAlone
    }

    mutating func perform(_ action: ScenarioRelayAction, _ step: ScenarioStep) async {
        let words: String
        switch action {
        case .loseWebhooks(let isLosing):
            revenueCat?.losesWebhooks = isLosing
            words = isLosing ? "Webhooks are lost from now on." : "Webhooks arrive again."
        case .transfer(let other):
            guard let from = id(of: step.customer), let to = id(of: other) else { return }
            await revenueCat?.relay.transfer(from: from, to: to, at: now)
            words = "\(other) restores what \(step.customer ?? "no customer") bought."
        }
        let deed = StepResult(
            line: step.line,
            words: words,
            note: step.note,
            refusal: nil,
            verdict: nil
        )
        note(step.customer, .action(deed))
    }

    mutating func hand(_ attempt: SimulatedRevenueCat.Attempt) async {
        guard let revenueCat else { return }
        guard !revenueCat.losesWebhooks else { return await revenueCat.relay.end(attempt, 200) }
        await target.setClock(now)
        let request = revenueCat.request(for: attempt)
        let status = try? await target.deliver(request).status
        await revenueCat.relay.end(attempt, status)
        let customer = scenario.customers.first { id(of: $0.name) == attempt.event.customer }
        var reading: Reading?
        if let customer { reading = await read(customer) }
        let webhook = RelayedWebhook(event: attempt.event, status: status, reading: reading)
        note(customer?.name, .webhook(webhook))
    }

    /// Checks RevenueCat's own answer against a step's requirements.
    func verdicts(
        on relayed: [ScenarioStep.Relayed],
        of customer: StoreCustomer
    ) async -> [Verdict] {
        guard let revenueCat, let id = id(of: customer.name) else { return [] }
        var verdicts: [Verdict] = []
        for relayed in relayed {
            let isActive = await revenueCat.relay.isActive(relayed.entitlement, of: id, at: now)
            verdicts.append(
                Verdict(
                    label: "revenueCat.\(relayed.entitlement)",
                    expected: "\(relayed.isActive)",
                    actual: .bool(isActive),
                    holds: isActive == relayed.isActive
                )
            )
        }
        return verdicts
    }
}
