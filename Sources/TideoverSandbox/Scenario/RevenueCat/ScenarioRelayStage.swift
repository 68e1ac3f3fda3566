import TideoverHTTP
import TideoverJSON

/// RevenueCat while a scenario is played.
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
            readPlay: { token in await googlePlay?.store.subscription(token: token) }
        )
        isAlone = part.isAlone
        path = fill(target.deliverPath, ["app": scenario.app.id]) { $0 }
        await target.meetRevenueCat(relay.api)
    }

    /// What lags behind a store that the system under test hears itself is not waited for.
    var lastFirstAttempt: Int64? {
        get async { await relay.lastFirstAttempt(awaitingWords: isAlone) }
    }

    func request(for attempt: SimulatedRevenueCat.Attempt) -> Request {
        Request(method: "POST", path: path, headers: attempt.headers, body: attempt.body)
    }
}

// What of a scenario being played RevenueCat does.

extension ScenarioPlay {
    /// The id by which RevenueCat knows a customer: the one that the app gave.
    private func id(of name: String?) -> String? {
        customer(name).map { $0.appAccountToken ?? $0.name }
    }

    /// The App Store notifies RevenueCat too. Returns whether it notifies nobody else.
    func relay(_ notification: AppStoreNotification) async -> Bool {
        guard let revenueCat else { return false }
        if let id = id(of: notification.customer) {
            await revenueCat.relay.hear(notification, of: id, at: now)
        }
        return revenueCat.isAlone
    }

    /// Google Play publishes to RevenueCat too. Returns whether it publishes to nobody else.
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
            words = "\(other) restores what \(step.customer ?? "nobody") bought."
        }
        let deed = Deed(
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

    /// Whether RevenueCat's own answer is as a step requires.
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
