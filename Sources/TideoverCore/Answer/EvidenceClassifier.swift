/// Divides the facts of the deciding lineage into those that the answer rests on and the rest.
struct ClassifiedEvidence {
    let used: [Explanation.UsedFact]
    let setAside: [Explanation.SetAsideFact]

    /// Classifies facts. `movedAt` is the start of the operator's move that decides the owner; nil
    /// if something else does.
    init(facts: [Fact], decisionBasis: DecisionBasis, standing: Standing, movedAt: Instant?) {
        let facts = facts.sorted { Self.order($0) < Self.order($1) }
        let classifier: any EvidenceClassifier =
            switch decisionBasis {
            case .term(let now): TermEvidenceClassifier(facts: facts, now: now, standing: standing)
            case .item(let now): PlayEvidenceClassifier(facts: facts, now: now, standing: standing)
            }
        var used: [Explanation.UsedFact] = []
        var setAside: [Explanation.SetAsideFact] = []
        for fact in facts {
            let roles = fact.isMove(from: movedAt) ? [.owner] : classifier.roles(of: fact)
            if roles.isEmpty {
                setAside.append(.init(fact: fact, reason: classifier.reason(against: fact)))
            } else {
                used.append(.init(fact: fact, roles: roles))
            }
        }
        (self.used, self.setAside) = (used, setAside)
    }

    private static func order(_ fact: Fact) -> (Instant, Instant, EvidenceID, String) {
        (fact.assertedAt, fact.envelopeSignedAt, fact.evidence, fact.assertion.word)
    }
}

/// Returns a fact's contribution to an answer, or why it has none.
protocol EvidenceClassifier {
    /// Returns the roles of a fact; empty if the answer does not rest on it.
    func roles(of fact: Fact) -> [Explanation.Role]
    /// Returns why a fact without a role was not used.
    func reason(against fact: Fact) -> Explanation.SetAsideReason
}

/// Classifies facts for decisions by the rules on terms. Requires `facts` sorted oldest first.
struct TermEvidenceClassifier: EvidenceClassifier {
    private let facts: [Fact]
    private let now: RuleContext
    private let rule: Rule.ID
    private let names: TermNames
    /// The newest observation of the highest rank on each term.
    private let newest: [TermKey: Fact]
    /// The older observations of the governing term that fill in missing fields of newer ones.
    private let basis: Set<Fact>
    private let announced: TermKey?
    private let former: TermKey?
    private let revocation: Observation<Revocation>?
    /// When that revocation was undone.
    private let undoneAt: Instant?

    init(facts: [Fact], now: RuleContext, standing: Standing) {
        self.facts = facts
        self.now = now
        rule = standing.rule
        let stated = facts.compactMap { fact in fact.term.map { (fact, $0) } }
        let names = TermNames(stated.map(\.1))
        self.names = names
        let terms = Self.counted(stated, among: facts, names)
        newest = terms.reduce(into: [:]) { newest, word in
            let key = names.key(of: word.1)
            if let found = newest[key], found.rank > word.0.rank { return }
            newest[key] = word.0
        }
        basis = Self.basis(terms.filter { names.key(of: $0.1) == now.term?.key })
        announced = now.announcedTerm(of: standing.rule)
        former = now.formerTerm(of: standing)
        revocation = now.term?.newestRevocation(at: now.instant)
        let isInForce = now.term?.revocation(at: now.instant, pace: now.history.pace) != nil
        undoneAt =
            revocation == nil || isInForce
            ? nil : now.term?.lastUndoing(by: now.instant, pace: now.history.pace)
    }

    /// Returns the observations of terms without the ends that a relay may not set, in order for
    /// each term.
    private static func counted(
        _ stated: [(fact: Fact, term: Term)],
        among facts: [Fact],
        _ names: TermNames
    ) -> [(fact: Fact, term: Term)] {
        guard stated.contains(where: { $0.fact.rank < .store }) else { return stated }
        let ends = RelayedEnds(
            facts.compactMap { fact in fact.outlook.map { Observation($0, of: fact) } },
            facts.compactMap { fact in fact.condition.map { Observation($0, of: fact) } },
            refunds: facts.compactMap(\.revocation),
            names
        )
        return Dictionary(grouping: stated) { names.key(of: $0.term) }.flatMap { key, words in
            ends.counted(words, of: key) { ($0.term, $0.fact.assertedAt, $0.fact.rank) }
        }
    }

    /// Returns the basis among the observations of one term, oldest first.
    private static func basis(_ words: [(fact: Fact, term: Term)]) -> Set<Fact> {
        guard let rank = words.map(\.fact.rank).max() else { return [] }
        let counted = words.reversed().filter { $0.fact.rank == rank }
        guard var known = counted.first?.term else { return [] }
        var basis: Set<Fact> = []
        for (fact, term) in counted.dropFirst() {
            let completed = known.completed(by: term)
            if completed != known { basis.insert(fact) }
            known = completed
        }
        return basis
    }

    // MARK: Roles of a fact

    func roles(of fact: Fact) -> [Explanation.Role] {
        switch fact.assertion {
        case .term(let term): roles(of: term, in: fact)
        case .grant(let grant): roles(of: grant.term, in: fact)
        case .outlook(let outlook): roles(of: Observation(outlook, of: fact))
        case .condition(let condition): roles(of: Observation(condition, of: fact))
        case .revocation(let value):
            value == revocation?.value && Observation(value, of: fact).isSame(as: revocation)
                ? [.revocation] : []
        case .reversal(let reversal):
            names.key(reversal.term) == now.term?.key && fact.assertedAt == undoneAt
                ? [.reversal] : []
        case .pending:
            (rule == .pending || rule == .calledOff) && fact.assertedAt <= now.instant
                ? [.pending] : []
        case .inquiry:
            rule == .storeUnreachable && fact.assertedAt == lastInquiry ? [.inquiry] : []
        case .playPurchase, .playVoidedOrder, .playNotice: rolesOfPurchase(fact)
        case .move, .inferredOwner, .playSubscription, .playReplacement, .unrecognised: []
        }
    }

    private var lastInquiry: Instant? {
        now.history.inquiries.instants.last { $0 <= now.instant }
    }

    /// Returns the roles of an observation of a one-time purchase. It counts as a term or revokes
    /// one.
    private func rolesOfPurchase(_ fact: Fact) -> [Explanation.Role] {
        if rule == .pending || rule == .calledOff {
            return fact.assertedAt <= now.instant ? [.pending] : []
        }
        guard let name = now.term?.term.webOrderLineItemId, let token = fact.playToken,
            name.hasPrefix("\(token.id):")
        else { return [] }
        var roles: [Explanation.Role] = []
        let reads = facts.filter { $0.playToken == token && $0.saysPurchased }
        if fact == reads.last(where: { $0.assertedAt <= now.instant }) ?? reads.first {
            roles.append(.term)
        }
        if let revocation, revocation.evidence == fact.evidence,
            revocation.assertedAt == fact.assertedAt
        {
            roles.append(.revocation)
        }
        if fact.saysPurchased, fact.assertedAt == undoneAt { roles.append(.reversal) }
        return roles
    }

    private func roles(of term: Term, in fact: Fact) -> [Explanation.Role] {
        let key = names.key(of: term)
        let isNewest = newest[key] == fact
        var roles: [Explanation.Role] = []
        if rule == .notRenewed, fact.source == .appReceipt,
            fact.assertedAt == now.receiptWithoutRenewal
        {
            roles.append(.reason)
        }
        if key == announced, isNewest { roles.append(.announcement) }
        if key == former, isNewest { roles.append(.former) }
        guard let governing = now.term, governing.key == key else { return roles }
        if isNewest { roles.append(.term) }
        if basis.contains(fact) { roles.append(.basis) }
        let isMoved = governing.effectiveStart != governing.term.start
        if isMoved, fact.assertedAt == governing.firstTold { roles.append(.start) }
        if !term.isRevoked, fact.assertedAt == undoneAt { roles.append(.reversal) }
        return roles
    }

    private func roles(of word: Observation<Outlook>) -> [Explanation.Role] {
        guard let term = now.term, term.outlooks.contains(where: word.isSame(as:)) else {
            return word.isSame(as: now.chargeOutlook) ? [.outlook] : []
        }
        var roles: [Explanation.Role] = []
        if term.isUnseen, word.isSame(as: term.outlooks.first) { roles.append(.announcement) }
        if !term.isUnseen, term.effectiveStart != term.term.start,
            word.assertedAt == term.firstTold
        {
            roles.append(.start)
        }
        if !isAhead, word.isSame(as: now.outlook) { roles.append(.outlook) }
        guard !now.isRunning else { return roles }
        let stated = term.outlooks.last { $0.value.graceEnd != nil }
        if now.graceEnd != nil, word.isSame(as: stated) { roles.append(.grace) }
        if now.hasFailed, word.assertedAt == term.firstFailure,
            word.value.isFailing(termEnd: term.end)
        {
            roles.append(.failure)
        }
        return roles
    }

    /// Whether the outlook on the next charge is about a renewal that has not begun.
    private var isAhead: Bool { announced != nil && rule == .inTerm }

    private func roles(of word: Observation<Condition>) -> [Explanation.Role] {
        guard let term = now.term, term.conditions.contains(where: word.isSame(as:)),
            !word.value.isUnknown
        else { return [] }
        var roles: [Explanation.Role] = []
        if word.isSame(as: now.condition) { roles.append(.condition) }
        if !now.isRunning, now.hasFailed, word.assertedAt == term.firstFailure,
            word.value.isFailing
        {
            roles.append(.failure)
        }
        return roles
    }

    // MARK: Reasons against a fact

    func reason(against fact: Fact) -> Explanation.SetAsideReason {
        let isLater = fact.assertedAt > now.instant
        switch fact.assertion {
        case .unrecognised: return .unknownWord
        case .term(let term): return reason(against: term, in: fact, isLater)
        case .grant(let grant): return reason(against: grant.term, in: fact, isLater)
        case .outlook(let outlook):
            if isLater { return .notAssertedYet }
            return reason(against: Observation(outlook, of: fact), in: \.outlooks, now.outlook)
        case .condition(let condition):
            if condition.isUnknown { return .unknownWord }
            if isLater { return .notAssertedYet }
            return reason(
                against: Observation(condition, of: fact),
                in: \.conditions,
                now.condition
            )
        case .revocation(let revocation):
            return reason(against: revocation, in: fact)
        case .reversal(let reversal):
            if isLater { return .notAssertedYet }
            return reason(against: names.key(reversal.term)) ?? .noEffect
        case .playSubscription, .playPurchase:
            if fact.saysUnknownState { return .unknownWord }
            return isLater ? .notAssertedYet : .olderWord
        case .move: return isLater ? .notAssertedYet : .olderWord
        case .inferredOwner, .inquiry, .pending, .playVoidedOrder, .playReplacement, .playNotice:
            return isLater ? .notAssertedYet : .noEffect
        }
    }

    /// Returns why a term was not used. Its observations count from the term's start, whenever they
    /// were signed.
    private func reason(
        against term: Term,
        in fact: Fact,
        _ isLater: Bool
    ) -> Explanation.SetAsideReason {
        let key = names.key(of: term)
        let record = now.history.terms.first { $0.key == key }
        if let record, record.effectiveStart > now.instant {
            return isLater ? .notAssertedYet : .notBegun
        }
        guard let governing = now.term, let record else { return .otherTerm }
        if key == governing.key {
            return fact.rank < governing.rank ? .lowerRank : .olderWord
        }
        let isOutranked =
            record.rank < governing.rank && record.effectiveStart >= governing.effectiveStart
        return isOutranked ? .lowerRank : .otherTerm
    }

    private func reason<Value>(
        against word: Observation<Value>,
        in words: KeyPath<TermRecord, [Observation<Value>]>,
        _ counts: Observation<Value>?
    ) -> Explanation.SetAsideReason {
        if let term = now.term, term[keyPath: words].contains(where: word.isSame(as:)) {
            return word.rank < counts?.rank ?? word.rank ? .lowerRank : .olderWord
        }
        let records = now.history.terms + now.history.unseen
        let isBound = records.contains { $0[keyPath: words].contains(where: word.isSame(as:)) }
        return isBound ? .otherTerm : .unbound
    }

    private func reason(against revocation: Revocation, in fact: Fact)
        -> Explanation.SetAsideReason
    {
        if let reason = reason(against: names.key(revocation.term)) { return reason }
        if revocation.date > now.instant { return .notBegun }
        let isCounted =
            now.term?.counts(Observation(revocation, of: fact), at: now.instant) ?? false
        return isCounted ? .olderWord : .upgrade
    }

    /// Returns why a fact was not used, decided by its term alone.
    private func reason(against key: TermKey) -> Explanation.SetAsideReason? {
        if key == now.term?.key { return nil }
        return now.history.terms.contains { $0.key == key } ? .otherTerm : .unbound
    }
}

extension RuleContext {
    /// Returns the term that a rule used from an announcement.
    fileprivate func announcedTerm(of rule: Rule.ID) -> TermKey? {
        switch rule {
        case .inTerm where chargeOutlook !== outlook: chargedRenewal?.key
        case .notStarted: history.terms.first?.key
        case .renewedUnseen:
            announcedStart.flatMap { start in history.terms.first { $0.term.start == start }?.key }
        default: nil
        }
    }

    /// Returns the last term that unlocked an entitlement that the present product does not unlock.
    fileprivate func formerTerm(of standing: Standing) -> TermKey? {
        guard standing.reason == .changedProduct else { return nil }
        return history.terms.last {
            $0.effectiveStart <= instant && $0.term.productId == standing.productId
                && !history.isOvertaken($0)
        }?.key
    }
}

extension Observation {
    /// Whether it is the same observation, even if others have completed one of the two since.
    fileprivate func isSame(as other: Observation?) -> Bool {
        guard let other else { return false }
        return assertedAt == other.assertedAt && envelopeSignedAt == other.envelopeSignedAt
            && evidence == other.evidence
            && rank == other.rank
    }
}

extension Condition {
    /// Whether this version recognises nothing in it.
    fileprivate var isUnknown: Bool { status?.unrecognisedValue != nil && notice == nil }
}

extension Fact {
    /// Whether it is an operator's move of the purchase that begins at an instant.
    fileprivate func isMove(from instant: Instant?) -> Bool {
        if case .move(let move) = assertion { move.from == instant } else { false }
    }

    /// The term that it describes.
    fileprivate var term: Term? {
        switch assertion {
        case .term(let term): term
        case .grant(let grant): grant.term
        default: nil
        }
    }

    fileprivate var outlook: Outlook? {
        if case .outlook(let outlook) = assertion { outlook } else { nil }
    }

    fileprivate var condition: Condition? {
        if case .condition(let condition) = assertion { condition.known } else { nil }
    }

    fileprivate var revocation: Revocation? {
        if case .revocation(let revocation) = assertion { revocation } else { nil }
    }

    /// The purchase token that it concerns.
    var playToken: PlayToken? {
        switch assertion {
        case .playSubscription(let read): read.token
        case .playPurchase(let read): read.token
        case .playVoidedOrder(let void): void.token
        case .playReplacement(let replacement): replacement.token
        case .playNotice(let notice): notice.token
        default: nil
        }
    }

    /// Whether it reports that a one-time purchase was paid.
    fileprivate var saysPurchased: Bool {
        switch assertion {
        case .playPurchase(let read): read.state == .purchased || read.completedAt != nil
        case .playNotice(let notice): notice.kind == .oneTimePurchased
        default: false
        }
    }

    /// Whether it is a read with a state that this version does not recognise.
    var saysUnknownState: Bool {
        switch assertion {
        case .playSubscription(let read): read.state.unrecognisedValue != nil
        case .playPurchase(let read): read.state.unrecognisedValue != nil
        default: false
        }
    }
}
