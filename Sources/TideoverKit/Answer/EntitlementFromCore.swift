import TideoverCore

extension Entitlement {
    /// Creates an entitlement from the core's decision on this device.
    init(_ decided: Snapshot.Entitlement) {
        let standing = decided.standing
        self.init(
            name: decided.name,
            access: standing.access ? .granted : .denied,
            state: standing.state,
            reason: standing.reason.rawValue,
            confidence: standing.confidence,
            productId: standing.productId,
            until: decided.accessUntil,
            graceUntil: standing.graceUntil,
            willRenew: standing.willRenew,
            trial: standing.trial.map {
                RunningTrial(startedAt: $0.startedAt, endsAt: $0.endsAt, cancelBy: $0.cancelBy)
            },
            words: decided.guidance.wording.map(ScreenWords.init)
        )
        offer = decided.guidance.trialOffer.map {
            OfferedTrial(
                productId: $0.productId,
                length: $0.length,
                eligibility: $0.eligibility,
                price: $0.price
            )
        }
        isWaiting = !decided.pending.isEmpty
    }

    /// Creates an entitlement from a pass.
    init(_ stated: Pass.Entitlement, confidence: Confidence) {
        self.init(
            name: stated.name,
            access: stated.access ? .granted : .denied,
            state: stated.state,
            reason: stated.reason,
            confidence: confidence,
            productId: stated.productId,
            until: stated.accessUntil,
            graceUntil: stated.graceUntil,
            willRenew: stated.willRenew
        )
    }
}

extension ScreenWords {
    init(_ wording: Wording) {
        self.init(
            key: wording.screen.key.rawValue,
            title: wording.title,
            message: wording.message,
            label: wording.label,
            arguments: Dictionary(
                uniqueKeysWithValues: wording.screen.arguments.map { ($0.name.rawValue, $0.value) }
            )
        )
    }
}

extension RecoveryPrompt {
    init(_ prompt: Prompt) {
        self.init(
            kind: prompt.kind,
            entitlement: prompt.entitlement,
            words: ScreenWords(prompt.wording),
            url: prompt.action.url,
            until: prompt.until
        )
    }
}
