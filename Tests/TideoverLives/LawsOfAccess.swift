import TideoverCore

extension Law {
    static let refund = Law(
        name: "refund",
        sentence: "a refund of the running term ends it until the refund is reversed"
    ) { life, trial in
        switch life.lineage.store {
        case .googlePlay: refundOnPlay(life, trial)
        case .appStore, .revenueCat, .tideover: refundOnAppStore(life, trial)
        }
    }

    private static func refundOnAppStore(_ life: Life, _ trial: Trial) -> String? {
        var random = trial.random
        let terms = life.terms
        guard let chosen = terms.randomElement(using: &random), let end = chosen.term.end else {
            return nil
        }
        let first = max(chosen.term.start, chosen.said)
        guard first < end else { return nil }
        let refunded = Instant.random(in: first..<end, &random)
        var known = life
        known.facts = life.facts.filter { $0.assertedAt <= refunded }
        let before = known.history
        guard before.standing(at: refunded, policy: life.policy).rule == .inTerm,
            let governing = known.terms.filter({ $0.term.start <= refunded }).max(by: {
                $0.term.start < $1.term.start
            }), governing.term.key == chosen.term.key
        else { return nil }
        let revocation = Revocation(term: chosen.term.key, date: refunded, cause: .refund)
        known.say(.revocation(revocation), at: refunded)
        let next = known.terms.map(\.term.start).filter { $0 > refunded }.min() ?? .distantFuture
        if let fault = known.firstAccess(from: refunded, until: next) { return fault }
        let reversed = refunded + .hours(Int64.random(in: 1...500, using: &random))
        known.say(.reversal(Reversal(term: chosen.term.key)), at: reversed)
        if let fault = known.firstAccess(from: refunded, until: min(next, reversed)) {
            return fault
        }
        let after = known.history
        for instant in after.probes(life.policy) where instant >= reversed {
            let restored = after.standing(at: instant, policy: life.policy)
            let never = before.standing(at: instant, policy: life.policy)
            if restored != never {
                return
                    "after the reversal, at \(instant.rfc3339): \(restored.told), not \(never.told)"
            }
        }
        return nil
    }

    /// The store's next read reports a refund. A later active read reports that it was reversed.
    private static func refundOnPlay(_ life: Life, _ trial: Trial) -> String? {
        var random = trial.random
        guard let fact = life.facts.randomElement(using: &random),
            case .playSubscription(var read) = fact.assertion, read.state == .active,
            let item = read.items.first, let expiry = item.expiresAt, fact.assertedAt < expiry
        else { return nil }
        let refunded = Instant.random(in: fact.assertedAt..<expiry, &random)
        var known = life
        known.facts = life.facts.filter { $0.assertedAt <= refunded }
        guard known.lastRead == fact else { return nil }
        let void = PlayVoidedOrder(token: read.token, orderId: item.orderId, date: refunded)
        known.say(.playVoidedOrder(void), at: refunded)
        read.state = .expired
        read.items[0].expiresAt = refunded
        read.askedAt = refunded
        known.say(.playSubscription(read), at: refunded)
        if let fault = known.firstAccess(from: refunded, until: .distantFuture) { return fault }
        let reversed = refunded + .hours(1)
        guard reversed < expiry else { return nil }
        read.state = .active
        read.items[0].expiresAt = expiry
        read.askedAt = reversed
        known.say(.playSubscription(read), at: reversed)
        let standing = known.standing(reversed)
        return standing.access ? nil : "after the reversal \(standing.told)"
    }

    // MARK: Grace

    static let grace = Law(
        name: "grace",
        sentence: "a subscription in stated grace that renews and is not revoked has access"
    ) { life, trial in
        // Without any term, no purchase is known.
        for lossy in life.withLosses(trial) where !lossy.terms.isEmpty || lossy.lastRead != nil {
            if let fault = lossy.firstDenial(where: lossy.statesGrace) { return fault }
        }
        return nil
    }

    // MARK: Bound

    static let bound = Law(
        name: "bound",
        sentence: "access ends at the latest at the newest stated date plus the stated bounds"
    ) { life, trial in
        for lossy in life.withLosses(trial) {
            let history = lossy.history
            let probes = history.probes(life.policy)
            for instant in probes + probes.map({ $0 + .days(70) }) {
                let standing = history.standing(at: instant, policy: life.policy)
                let bound = lossy.bound(at: instant)
                guard standing.access else { continue }
                if instant >= bound { return "at \(instant.rfc3339) \(standing.told)" }
                guard let until = standing.accessUntil, until <= bound else {
                    return "at \(instant.rfc3339) access until after \(bound.rfc3339)"
                }
            }
        }
        return nil
    }
}

extension Instant {
    static func random(in range: Range<Instant>, _ random: inout SeededRandom) -> Instant {
        let (low, high) = (range.lowerBound, range.upperBound)
        return Instant(
            millisecondsSince1970: .random(
                in: low.millisecondsSince1970..<high.millisecondsSince1970,
                using: &random
            )
        )
    }
}

extension LineageHistory {
    /// Returns both sides of every boundary.
    func probes(_ policy: Policy) -> [Instant] {
        Set(boundaries(policy: policy)).sorted().bothSides
    }
}

extension Life {
    var terms: [(term: Term, said: Instant)] {
        facts.compactMap { fact in
            if case .term(let term) = fact.assertion { (term, fact.assertedAt) } else { nil }
        }
    }

    var lastRead: Fact? {
        facts.last { if case .playSubscription = $0.assertion { true } else { false } }
    }

    /// Returns the life as it is, and three copies that each lack all facts asserted at one
    /// instant.
    func withLosses(_ trial: Law.Trial) -> [Life] {
        var random = trial.random
        let instants = Set(facts.map(\.assertedAt)).sorted()
        return [self]
            + (0..<3).compactMap { _ in
                guard let lost = instants.randomElement(using: &random) else { return nil }
                var lossy = self
                lossy.facts = facts.filter { $0.assertedAt != lost }
                return lossy.facts.isEmpty ? nil : lossy
            }
    }

    /// Returns the first instant in a time range with access; nil if there is none.
    func firstAccess(from start: Instant, until end: Instant) -> String? {
        let history = history
        for instant in [start] + history.probes(policy) where instant >= start && instant < end {
            let standing = history.standing(at: instant, policy: policy)
            if standing.access { return "at \(instant.rfc3339) \(standing.told)" }
        }
        return nil
    }

    /// Returns the first probe without access at which access is expected; nil if there is none.
    func firstDenial(where isEntitled: (Instant) -> Bool) -> String? {
        let history = history
        for instant in history.probes(policy) where isEntitled(instant) {
            let standing = history.standing(at: instant, policy: policy)
            if !standing.access { return "at \(instant.rfc3339) \(standing.told)" }
        }
        return nil
    }

    // MARK: Grace

    /// Returns whether the newest observations by an instant state a grace that runs then. The
    /// customer must still renew, or the store's own condition must preserve it, and nothing may be
    /// revoked.
    func statesGrace(at instant: Instant) -> Bool {
        let said = facts.filter { $0.assertedAt <= instant }.sorted {
            ($0.assertedAt, $0.evidence) < ($1.assertedAt, $1.evidence)
        }
        var outlook: (Outlook, Instant)?
        var condition: (Condition, Instant)?
        var read: PlaySubscription?
        for fact in said {
            switch fact.assertion {
            case .outlook(let word): outlook = (word, fact.assertedAt)
            case .condition(let word): condition = (word, fact.assertedAt)
            case .playSubscription(let word): read = word
            case .revocation, .playVoidedOrder: return false
            case .term, .reversal, .grant, .move, .inferredOwner, .inquiry, .pending,
                .playPurchase, .playReplacement, .playNotice, .unrecognised:
                break
            }
        }
        if let read {
            return read.state == .inGrace && (read.items.first?.expiresAt ?? instant) > instant
        }
        guard let (outlook, outlookSaid) = outlook, let grace = outlook.graceEnd, grace > instant
        else {
            return false
        }
        let isUpheld =
            condition.map { $0.0.status == .grace && $0.1 >= outlookSaid } ?? false
        return outlook.willRenew != false || isUpheld
    }

    // MARK: Bound

    /// Returns the latest end of access that the reports by an instant support. Grace counts
    /// whenever it was stated; paid time counts from its beginning.
    func bound(at instant: Instant) -> Instant {
        let dates = facts.flatMap { fact -> [Instant?] in
            let isSaid = fact.assertedAt <= instant
            switch fact.assertion {
            case .term(let term) where isSaid || term.start <= instant:
                return [term.start, term.end]
            case .outlook(let outlook):
                return [isSaid ? outlook.renewalDate : nil, outlook.graceEnd]
            case .playSubscription(let read)
            where isSaid || read.startedAt.map { $0 <= instant } ?? false:
                return read.items.map(\.expiresAt)
            // Three days of grace are assumed if the store states no date.
            case .condition(let condition) where isSaid && condition.status == .grace:
                return [condition.renewalDate.map { $0 + .days(3) - policy.renewalLeeway }]
            // It has no date. The catalogue's month is assumed, from a due date at most two days
            // away.
            case .playNotice where isSaid: return [fact.assertedAt + .days(33)]
            default: return []
            }
        }
        let newest = dates.compactMap(\.self).max() ?? .distantPast
        // The store retries for two days on Google Play; elsewhere the policy's leeway applies.
        return newest + (lineage.store == .googlePlay ? .days(2) : policy.renewalLeeway)
    }
}
