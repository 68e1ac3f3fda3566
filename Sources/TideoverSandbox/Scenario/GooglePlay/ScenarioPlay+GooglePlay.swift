import TideoverHTTP
import TideoverJSON

// The Google Play part of a running scenario.

extension ScenarioPlay {
    mutating func perform(_ action: ScenarioPlayAction, _ step: ScenarioStep) async {
        guard let googlePlay else { return }
        if case .loseNotifications(let isLosing) = action.deed { losesPushes = isLosing }
        let refused = await googlePlay.perform(action.deed, by: step.customer)?.reason
        let deed = StepResult(
            line: step.line,
            words: action.deed.words(step.customer ?? "no customer"),
            note: step.note,
            refusal: nil,
            verdict: verdict(refused, expected: action.refusal)
        )
        note(step.customer, .action(deed))
    }

    private func verdict(
        _ actual: GooglePlayRefusal.Reason?,
        expected: GooglePlayRefusal.Reason?
    ) -> Verdict? {
        guard actual != nil || expected != nil else { return nil }
        return Verdict(
            label: "refused",
            expected: expected?.rawValue ?? "done",
            actual: .string(actual?.rawValue ?? "done"),
            holds: actual == expected
        )
    }

    mutating func push(_ attempt: SimulatedGooglePlay.Attempt) async {
        guard let googlePlay else { return }
        let message = attempt.message
        let isKeptBack = await relay(message)
        guard !losesPushes, !isKeptBack, target.googlePlay.isPushedTo else {
            return await googlePlay.store.end(attempt, 200)
        }
        await tellClock()
        let status = await status(of: googlePlay.request(for: attempt))
        await googlePlay.store.end(attempt, status)
        let fault = attempt.fault
        var pushed = PushedMessage(message: message, fault: fault, status: status, reading: nil)
        if pushed.isAcknowledged, let name = message.customer,
            let expiry = await googlePlay.expiry(told: message)
        {
            hearNaively(["expiresDate": .integer(expiry)], of: name)
        }
        if let customer = customer(message.customer) {
            let reading = await read(customer)
            pushed = PushedMessage(
                message: message,
                fault: fault,
                status: status,
                reading: reading
            )
        }
        note(message.customer, .push(pushed))
    }

    private func status(of request: Request) async -> Int? {
        do {
            return try await target.deliver(request).status
        } catch {
            return nil
        }
    }
}

extension [TraceEntry] {
    /// Returns the same moments. Each push records whether its message was accepted later.
    var withPushesTakenLater: [TraceEntry] {
        var taken: Set<String> = []
        var moments = self
        for index in moments.indices.reversed() {
            guard case .push(var push) = moments[index].happening else { continue }
            push.isTakenLater = taken.contains(push.message.id)
            if push.isAcknowledged { taken.insert(push.message.id) }
            moments[index].happening = .push(push)
        }
        return moments
    }
}
