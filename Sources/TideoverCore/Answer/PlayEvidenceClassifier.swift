/// Classifies facts for decisions by the rules on Google Play products. Requires `facts` sorted
/// oldest first.
struct PlayEvidenceClassifier: EvidenceClassifier {
    private let facts: [Fact]
    private let now: PlayRuleContext
    private let standing: Standing
    /// The statement on the period of the product in the answer, if that is a former product.
    private let former: PlayStatement?

    init(facts: [Fact], now: PlayRuleContext, standing: Standing) {
        self.facts = facts
        self.now = now
        self.standing = standing
        let statements = now.play.tokens.flatMap(\.items).flatMap(\.statements)
        former =
            standing.reason == .changedProduct
            ? statements.last { $0.productId == standing.productId && $0.from <= now.instant } : nil
    }

    // MARK: Roles of a fact

    func roles(of fact: Fact) -> [Explanation.Role] {
        switch fact.assertion {
        case .playSubscription(let read): roles(of: read, in: fact)
        case .playNotice: rolesOfNotice(fact)
        case .playVoidedOrder(let void):
            standing.reason == .refunded && void.token == now.token?.token
                && fact.assertedAt <= now.instant ? [.reason] : []
        case .playReplacement(let replacement):
            standing.rule == .replaced && replacement.token == now.token?.token
                ? [.replacement] : []
        case .inquiry:
            now.isUnreachable && standing.confidence != .confirmed
                && fact.assertedAt == lastInquiry ? [.inquiry] : []
        default: []
        }
    }

    private var lastInquiry: Instant? {
        now.history.inquiries.instants.last { $0 <= now.instant }
    }

    private func roles(of read: PlaySubscription, in fact: Fact) -> [Explanation.Role] {
        var roles: [Explanation.Role] = []
        if isSaid(now.statement, by: fact) { roles.append(.read) }
        if isBasis(fact) { roles.append(.basis) }
        // A read of a hold also proves the grace before it.
        if now.state == .inGrace || standing.state == .grace,
            now.statement?.periodEvidence == fact.evidence
        {
            roles.append(.grace)
        }
        if isFirstFailure(fact) { roles.append(.failure) }
        if isSaid(former, by: fact) || isSaid(now.lastWords, by: fact) { roles.append(.former) }
        if isAnnouncement(fact) { roles.append(.announcement) }
        if standing.rule == .replaced, read.replaces != nil,
            read.replaces == now.token?.token || read.token == now.token?.token
        {
            roles.append(.replacement)
        }
        return roles
    }

    private func rolesOfNotice(_ fact: Fact) -> [Explanation.Role] {
        var roles: [Explanation.Role] = []
        if isSaid(now.statement, by: fact) { roles.append(.notice) }
        if isBasis(fact) { roles.append(.basis) }
        if isFirstFailure(fact) { roles.append(.failure) }
        if isSaid(former, by: fact) || isSaid(now.lastWords, by: fact) { roles.append(.former) }
        if isAnnouncement(fact) { roles.append(.announcement) }
        return roles
    }

    private func isSaid(_ statement: PlayStatement?, by fact: Fact) -> Bool {
        guard let statement else { return false }
        return statement.evidence == fact.evidence && statement.said == fact.assertedAt
    }

    private func isBasis(_ fact: Fact) -> Bool {
        now.statement?.basis.contains(fact.evidence) ?? false
    }

    private func isFirstFailure(_ fact: Fact) -> Bool {
        guard !now.isRunning, let record = now.record, record.firstFailure == fact.assertedAt else {
            return false
        }
        return record.outlooks.contains {
            $0.evidence == fact.evidence && $0.value.isRetrying == true
        }
    }

    private func isAnnouncement(_ fact: Fact) -> Bool {
        standing.rule == .notStarted
            && isSaid(now.play.tokens.first?.items.first?.statements.first, by: fact)
    }

    // MARK: Reasons against a fact

    func reason(against fact: Fact) -> Explanation.SetAsideReason {
        if case .unrecognised = fact.assertion { return .unknownWord }
        if fact.saysUnknownState { return .unknownWord }
        if fact.assertedAt > now.instant { return .notAssertedYet }
        switch fact.assertion {
        case .playSubscription: return reasonAgainstToken(of: fact) ?? .olderWord
        case .playNotice(let notice):
            if notice.kind.unrecognisedValue != nil { return .unknownWord }
            return reasonAgainstToken(of: fact)
                ?? (isAnswered(fact) ? .lowerRank : isCounted(fact) ? .olderWord : .noEffect)
        case .term, .outlook, .condition, .revocation, .reversal: return .lowerRank
        case .move: return .olderWord
        default: return reasonAgainstToken(of: fact) ?? .noEffect
        }
    }

    /// Returns why a fact was not used, decided by its token alone.
    private func reasonAgainstToken(of fact: Fact) -> Explanation.SetAsideReason? {
        guard let token = fact.playToken, token != now.token?.token else { return nil }
        let record = now.play.tokens.first { $0.token == token }
        return record?.isRetired(at: now.instant) ?? false ? .replaced : .otherTerm
    }

    /// Whether the store was read after a notification arrived.
    private func isAnswered(_ notice: Fact) -> Bool {
        facts.contains { fact in
            guard case .playSubscription(let read) = fact.assertion,
                fact.playToken == notice.playToken
            else { return false }
            return read.askedAt >= notice.learnedAt
        }
    }

    private func isCounted(_ fact: Fact) -> Bool {
        now.play.tokens.flatMap(\.items).flatMap(\.statements).contains {
            isSaid($0, by: fact)
        }
    }
}
