import TideoverCore

extension Law {
    static let unknownWords = Law(
        name: "unknown-words",
        sentence: "a fact of an unknown kind changes no answer"
    ) { life, trial in
        var random = trial.random
        var disturbed = life
        for fact in life.facts.shuffled(using: &random).prefix(4) {
            let said =
                fact.assertedAt + .seconds(Int64.random(in: -90_000...90_000, using: &random))
            for assertion in unknown(beside: fact.assertion) { disturbed.say(assertion, at: said) }
        }
        return life.difference(from: disturbed) { _ in true }
    }

    private static func unknown(beside assertion: Assertion) -> [Assertion] {
        let type = Assertion.unrecognised(Unrecognised(field: "notificationType", value: "NEW"))
        switch assertion {
        case .condition(let condition):
            return [
                type,
                .condition(
                    Condition(status: .unrecognised("9"), renewalDate: condition.renewalDate)
                ),
            ]
        case .playSubscription(var read):
            read.state = .unrecognised("SUBSCRIPTION_STATE_NEW")
            return [type, .playSubscription(read)]
        case .playNotice(var notice):
            notice.kind = .unrecognised("99")
            return [type, .playNotice(notice)]
        case .term, .outlook, .revocation, .reversal, .grant, .move, .inferredOwner, .inquiry,
            .pending, .playPurchase, .playVoidedOrder, .playReplacement, .unrecognised:
            return [type]
        }
    }

    // MARK: Older observations

    static let olderWords = Law(
        name: "older-words",
        sentence: "a fact older than the newest on its subject changes nothing later"
    ) { life, trial in
        var random = trial.random
        for _ in 0..<3 {
            guard let newest = life.facts.randomElement(using: &random),
                let first = life.word(on: newest.assertion, before: newest.assertedAt),
                let older = another(like: first.assertion, &random)
            else { continue }
            let said = Instant.random(in: first.assertedAt..<newest.assertedAt, &random)
            var disturbed = life
            // Received last, like a history that is read late.
            disturbed.say(older, at: said, learned: Answers.late)
            let fault = life.difference(from: disturbed) { $0 >= newest.assertedAt }
            if let fault { return "\(older.summary) said at \(said.rfc3339): \(fault)" }
        }
        return nil
    }

    /// Returns another observation of the same subject with different content and no failure. A
    /// failure lasts until another term starts, and a grace end until another one is stated.
    fileprivate static func another(
        like assertion: Assertion,
        _ random: inout SeededRandom
    ) -> Assertion? {
        switch assertion {
        case .term(var term):
            term.productId = "basic"
            term.end = term.end.map { $0 + .days(Int64.random(in: 0...40, using: &random)) }
            term.offer = nil
            return term.isRevoked || term.isUpgraded ? nil : .term(term)
        case .outlook(var outlook):
            outlook.willRenew = Bool.random(using: &random)
            outlook.renewsInto = "basic"
            outlook.isRetrying = nil
            outlook.graceEnd = nil
            outlook.lapse = outlook.willRenew == false ? .cancelled : nil
            return .outlook(outlook)
        case .condition(var condition):
            condition.status = Bool.random(using: &random) ? .active : .expired
            condition.notice = nil
            return .condition(condition)
        case .playSubscription(var read):
            let isOn = Bool.random(using: &random)
            read.items[0].plan = .autoRenewing(isOn: isOn)
            if read.state == .active || read.state == .cancelled {
                read.state = isOn ? .active : .cancelled
            }
            return .playSubscription(read)
        case .revocation, .reversal, .grant, .move, .inferredOwner, .inquiry, .pending,
            .playPurchase, .playVoidedOrder, .playReplacement, .playNotice, .unrecognised:
            return nil
        }
    }

    // MARK: Rank

    static let lowerRank = Law(
        name: "lower-rank",
        sentence: "a fact of a lower rank overrules no fact of the store"
    ) { life, trial in
        var random = trial.random
        if life.lastRead != nil { return noticeBeforeRead(life, &random) }
        var disturbed = life
        for fact in life.facts.shuffled(using: &random).prefix(4) {
            guard let other = contradiction(to: fact.assertion, &random) else { continue }
            let later = fact.assertedAt + .hours(Int64.random(in: 0...1000, using: &random))
            disturbed.say(other, at: later, rank: .relayed)
        }
        return life.difference(from: disturbed) { _ in true }
    }

    /// A bare notification has no effect once the store has been read.
    private static func noticeBeforeRead(
        _ life: Life,
        _ random: inout SeededRandom
    ) -> String? {
        let kinds: [PlayNotice.Kind] = [
            .cancelled, .deferred, .expired, .onHold, .paused, .recovered, .renewed, .restarted,
            .revoked,
        ]
        guard let asked = life.facts.randomElement(using: &random),
            case .playSubscription(let read) = asked.assertion,
            let before = life.word(on: asked.assertion, before: asked.assertedAt),
            let kind = kinds.randomElement(using: &random)
        else { return nil }
        let said = Instant.random(in: before.assertedAt..<asked.assertedAt, &random)
        var disturbed = life
        disturbed.notice(kind, at: said, read.token.id, product: read.items.first?.productId)
        let fault = life.difference(from: disturbed) { $0 >= asked.assertedAt }
        return fault.map { "\(kind) said at \(said.rfc3339): \($0)" }
    }

    /// Returns a relay's contradicting report.
    private static func contradiction(
        to assertion: Assertion,
        _ random: inout SeededRandom
    ) -> Assertion? {
        switch assertion {
        case .term(var term):
            term.productId = "basic"
            term.end = term.end.map { $0 + .days(Int64.random(in: -20...40, using: &random)) }
            if Bool.random(using: &random) {
                return .revocation(Revocation(term: term.key, date: term.start, cause: .refund))
            }
            return .term(term)
        case .outlook(var outlook):
            outlook.willRenew = outlook.willRenew != true
            outlook.lapse = outlook.willRenew == false ? .cancelled : nil
            return .outlook(outlook)
        case .condition(var condition):
            condition.status = .expired
            condition.notice = .expired
            return .condition(condition)
        case .revocation, .reversal, .grant, .move, .inferredOwner, .inquiry, .pending,
            .playSubscription, .playPurchase, .playVoidedOrder, .playReplacement, .playNotice,
            .unrecognised:
            return nil
        }
    }
}

extension Life {
    /// Returns the life with some contradicting store observations at the same instant. Which of
    /// two counts is arbitrary, and must not depend on the order of arrival.
    func contradicted(_ trial: Law.Trial) -> Life {
        var contradicted = self
        for fact in facts {
            var random = SeededRandom(seed: trial.seed, fact.evidence.hex)
            guard Int.random(in: 0..<8, using: &random) == 0,
                let other = Law.another(like: fact.assertion, &random)
            else { continue }
            contradicted.say(other, at: fact.assertedAt)
        }
        return contradicted
    }

    /// Returns a different answer of another life at the given instants; nil if there is none.
    func difference(from other: Life, where counts: (Instant) -> Bool) -> String? {
        let (mine, others) = (history, other.history)
        for instant in mine.probes(policy) where counts(instant) {
            let (a, b) = (
                mine.standing(at: instant, policy: policy),
                others.standing(at: instant, policy: policy)
            )
            if !a.isSame(as: b) { return "at \(instant.rfc3339) \(b.line), not \(a.line)" }
        }
        return nil
    }

    /// Returns the last observation of the same subject before an instant; nil if there is none.
    func word(on assertion: Assertion, before instant: Instant) -> Fact? {
        facts.filter { $0.assertedAt < instant && $0.assertion.isOnTheSame(as: assertion) }
            .max { ($0.assertedAt, $0.evidence) < ($1.assertedAt, $1.evidence) }
    }
}

extension Assertion {
    fileprivate func isOnTheSame(as other: Assertion) -> Bool {
        switch (self, other) {
        case (.term(let a), .term(let b)): a.key == b.key
        case (.outlook(let a), .outlook(let b)): a.renewalDate == b.renewalDate
        case (.condition(let a), .condition(let b)): a.renewalDate == b.renewalDate
        case (.playSubscription(let a), .playSubscription(let b)): a.token == b.token
        default: false
        }
    }
}

extension Standing {
    fileprivate var line: String {
        let ends = [accessUntil, graceUntil].compactMap { $0?.rfc3339 }
        return ([told] + ends + [productId ?? "", willRenew == true ? "renews" : ""])
            .joined(separator: " ")
    }

    /// Returns whether the answers are equal. The past end of access is ignored.
    fileprivate func isSame(as other: Standing) -> Bool {
        var (a, b) = (self, other)
        if !access { (a.accessUntil, b.accessUntil) = (nil, nil) }
        return a == b
    }
}
