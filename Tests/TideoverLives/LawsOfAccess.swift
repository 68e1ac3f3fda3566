import TideoverCore

extension Law {
    static let refund = Law(
        name: "refund",
        sentence: "a refund of the term that runs ends it until the refund is reversed"
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

    /// The store's next read tells of a refund; of a read that says active again, that it was taken
    /// back.
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
        sentence: "whoever is inside a stated grace, still renews and was not taken back has access"
    ) { life, trial in
        // Without any term nobody knows that anything was bought.
        for lossy in life.withLosses(trial) where !lossy.terms.isEmpty || lossy.lastRead != nil {
            if let fault = lossy.firstDenial(where: lossy.statesGrace) { return fault }
        }
        return nil
    }

    // MARK: Bound

    static let bound = Law(
        name: "bound",
        sentence: "access never outlasts the newest date that any fact gives plus the stated bounds"
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
    /// Both sides of every boundary.
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

    /// The life as it is, and three times with everything missing that was said at some instant.
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

    /// The first instant in a stretch of time that has access; nil if none has.
    func firstAccess(from start: Instant, until end: Instant) -> String? {
        let history = history
        for instant in [start] + history.probes(policy) where instant >= start && instant < end {
            let standing = history.standing(at: instant, policy: policy)
            if standing.access { return "at \(instant.rfc3339) \(standing.told)" }
        }
        return nil
    }

    /// The first probe without access at which access is expected; nil if there is none.
    func firstDenial(where isEntitled: (Instant) -> Bool) -> String? {
        let history = history
        for instant in history.probes(policy) where isEntitled(instant) {
            let standing = history.standing(at: instant, policy: policy)
            if !standing.access { return "at \(instant.rfc3339) \(standing.told)" }
        }
        return nil
    }

    // MARK: Grace

    /// Whether the newest words by an instant state a grace that runs then, for a customer who still
    /// renews or whom the store's own condition upholds, and of whom nothing was taken back.
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
            case .term, .reversal, .grant, .inquiry, .pending, .playPurchase, .playReplacement,
                .playNotice, .unrecognised:
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

    /// Until when words said by an instant vouch for access at most. Grace counts whenever it was
    /// stated; what was paid for counts from when it began.
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
            // Three days of grace are assumed where the store names no date.
            case .condition(let condition) where isSaid && condition.status == .grace:
                return [condition.renewalDate.map { $0 + .days(3) - policy.renewalLeeway }]
            // It gives no date: the catalogue's month is assumed, from a due date two days off at most.
            case .playNotice where isSaid: return [fact.assertedAt + .days(33)]
            default: return []
            }
        }
        let newest = dates.compactMap(\.self).max() ?? .distantPast
        // The store goes on trying for two days on Google Play; elsewhere a day is waited.
        return newest + (lineage.store == .googlePlay ? .days(2) : policy.renewalLeeway)
    }
}
