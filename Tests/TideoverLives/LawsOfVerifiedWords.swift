import TideoverCore

extension Law {
    static let coverage = Law(
        name: "coverage",
        sentence:
            "the period of a verified, unrevoked transaction has access as known now"
    ) { life, trial in
        for lossy in life.withLosses(trial) + life.withPartsLost(trial) {
            if let fault = lossy.firstDenial(where: lossy.termWords.cover) { return fault }
        }
        return nil
    }

    static let told = Law(
        name: "told",
        sentence: "a renewal info without a newer contradiction gives access until its end"
    ) { life, trial in
        for lossy in life.withLosses(trial) + life.withPartsLost(trial) {
            if let fault = lossy.firstDenial(where: lossy.isToldToRun) { return fault }
        }
        return nil
    }

    static let unbroken = Law(
        name: "unbroken",
        sentence: "access lasts until `accessUntil`, and `nextChange` never contradicts it"
    ) { life, trial in
        guard trial.isOneInTen else { return nil }
        var random = trial.random
        for lossy in life.withLosses(trial) {
            let history = lossy.history
            let customer = lossy.customerHistory(of: history)
            let probes = history.probes(life.policy)
            for _ in 0..<4 {
                guard let instant = probes.randomElement(using: &random) else { continue }
                for entitlement in customer.snapshot(at: instant).entitlements
                where entitlement.standing.access {
                    let until = entitlement.accessUntil ?? .distantFuture
                    for later in probes where instant < later && later < until {
                        let then = lossy.standing(of: entitlement.name, in: history, at: later)
                        if !then.access {
                            return "at \(instant.rfc3339) access until \(until.rfc3339), "
                                + "and none at \(later.rfc3339)"
                        }
                    }
                }
            }
        }
        return nil
    }
}

/// The known terms of a life.
private struct TermWords {
    /// The newest observation of each term.
    private var newest: [TermKey: (term: Term, said: Instant)] = [:]
    private var takenBack: Set<TermKey> = []
    private var left: Set<TermKey> = []
    /// Whether the store has reported a revocation without a date.
    private var isRevokedBarely = false

    init(_ facts: [Fact]) {
        for fact in facts {
            switch fact.assertion {
            case .term(let term):
                if term.isUpgraded { left.insert(term.key) }
                if term.isRevoked { takenBack.insert(term.key) }
                if let known = newest[term.key], known.said >= fact.assertedAt { continue }
                newest[term.key] = (term, fact.assertedAt)
            case .revocation(let revocation): takenBack.insert(revocation.term)
            case .condition(let condition):
                isRevokedBarely = isRevokedBarely || condition.status == .revoked
            default: break
            }
        }
    }

    /// Returns whether the newest term begun by an instant covers it, and was never revoked.
    func cover(_ instant: Instant) -> Bool {
        let begun = newest.filter { $0.value.term.start <= instant }
        guard !isRevokedBarely,
            let latest = begun.max(by: { $0.value.term.start < $1.value.term.start })
        else { return false }
        return instant < latest.value.term.end ?? .distantFuture
            && !takenBack.contains(latest.key) && !left.contains(latest.key)
    }
}

extension Life {
    fileprivate var termWords: TermWords { TermWords(facts) }

    /// Returns three copies with single facts missing, as parts of messages can be.
    func withPartsLost(_ trial: Law.Trial) -> [Life] {
        var random = trial.random
        return (0..<3).compactMap { _ in
            var lossy = self
            lossy.facts = facts.filter { _ in Int.random(in: 0..<4, using: &random) > 0 }
            return lossy.facts.isEmpty ? nil : lossy
        }
    }

    /// Returns whether the newest renewal info by an instant reports a running term, and nothing
    /// later reports another term, a revocation or a state.
    fileprivate func isToldToRun(at instant: Instant) -> Bool {
        let outlooks = facts.compactMap { fact -> (Outlook, Instant)? in
            guard case .outlook(let outlook) = fact.assertion, fact.assertedAt <= instant else {
                return nil
            }
            return (outlook, fact.assertedAt)
        }
        guard let (outlook, said) = outlooks.max(by: { $0.1 < $1.1 }),
            outlook.willRenew != false, outlook.isRetrying != true, outlook.graceEnd == nil,
            outlook.lapse == nil, let end = outlook.renewalDate, instant < end
        else { return false }
        // Without a term that has begun, the rules answer `never`.
        guard terms.contains(where: { $0.term.start <= instant }) else { return false }
        let named = terms.filter { $0.term.end == end }.map(\.term.key)
        return !facts.contains { fact in
            switch fact.assertion {
            case .term(let term): term.start > said && term.start <= instant
            case .revocation(let revocation):
                revocation.date >= said || named.contains(revocation.term)
            case .condition(let condition):
                fact.assertedAt > said && fact.assertedAt <= instant
                    || condition.status == .revoked && condition.renewalDate == end
            default: false
            }
        }
    }
}
