/// One rule of standing: when it applies it decides.
public struct Rule: Sendable {
    public enum ID: String, Hashable, Sendable, CaseIterable {
        case noFacts = "no-facts"
        case unlinked
        case notStarted = "not-started"
        case revoked
        case inTerm = "in-term"
        case superseded
        case renewedUnseen = "renewed-unseen"
        case endedStated = "ended-stated"
        case inGrace = "in-grace"
        case graceUnstated = "grace-unstated"
        case retryKept = "retry-kept"
        case inRetry = "in-retry"
        case renewalDue = "renewal-due"
        case unconfirmed
        case ended
    }

    public let id: ID
    /// What it says, for whoever asks why.
    public let sentence: String
    let decide: @Sendable (Situation) -> Standing?

    /// The rules for App Store lineages and one-time purchases; the first that applies decides.
    public static let all: [Rule] = [
        Rule(id: .noFacts, sentence: "Nothing is known of this purchase.") { now in
            guard now.history.terms.isEmpty, !now.history.hasWords else { return nil }
            return now.never(.noFacts, .unknown, .unknown)
        },
        Rule(
            id: .unlinked,
            sentence: "The store has spoken of this subscription, but never of a term of it."
        ) { now in
            guard now.history.terms.isEmpty else { return nil }
            return now.never(.unlinked, .unlinked, .unknown, asks: true)
        },
        Rule(id: .notStarted, sentence: "No term had begun yet.") { now in
            now.term == nil ? now.never(.notStarted, .notStarted, .confirmed) : nil
        },
        Rule(id: .revoked, sentence: "The store took the purchase back.") { now in
            now.revoked()
        },
        Rule(id: .inTerm, sentence: "The period paid for is running.") { now in
            guard let term = now.term, now.isRunning, !term.isUnseen, !now.isUpgradedAway else {
                return nil
            }
            return now.access(
                .inTerm,
                .active,
                now.reasonOfTerm,
                until: term.end,
                confidence: term.rank == .store ? .confirmed : .presumed
            )
        },
        Rule(
            id: .superseded,
            sentence: "The customer upgraded to a term that we have not seen yet."
        ) { now in
            guard let term = now.term, now.isRunning, now.isUpgradedAway else { return nil }
            return now.access(
                .superseded,
                .active,
                .paid,
                until: term.end,
                confidence: .presumed,
                asks: true
            )
        },
        Rule(
            id: .renewedUnseen,
            sentence: "The store told of a renewal whose transaction we have not seen yet."
        ) { now in
            if let announced = now.announcedStart {
                return now.access(
                    .renewedUnseen,
                    .active,
                    .paid,
                    until: announced,
                    confidence: .presumed,
                    asks: true,
                    product: now.nextProduct
                )
            }
            guard let term = now.term, term.isUnseen, now.isRunning, !now.hasFailed else {
                return nil
            }
            return now.access(
                .renewedUnseen,
                .active,
                .paid,
                until: term.end,
                confidence: .presumed,
                asks: true
            )
        },
        Rule(id: .endedStated, sentence: "The store said that the subscription has expired.") {
            now in
            guard now.condition?.value.saysExpired == true else { return nil }
            return now.expired(.endedStated, now.reasonOfEnd, at: now.lastAccess)
        },
        Rule(id: .inGrace, sentence: "A payment failed; the store keeps access during grace.") {
            now in
            guard let grace = now.graceEnd, grace > now.instant, now.keepsGrace else { return nil }
            return now.access(.inGrace, .grace, .billingIssue, until: grace)
        },
        Rule(
            id: .graceUnstated,
            sentence: "The store says grace without a date; three days are assumed."
        ) { now in
            guard now.graceEnd == nil, now.saysGrace, now.keepsGrace,
                let until = now.end(plus: .days(3)), now.instant < until
            else { return nil }
            return now.access(
                .graceUnstated,
                .grace,
                .billingIssue,
                until: until,
                confidence: .presumed,
                asks: true
            )
        },
        Rule(
            id: .retryKept,
            sentence: "The store retries the payment; the operator's policy keeps access."
        ) { now in
            guard case .keep(let length) = now.policy.billingRetry, now.isRetrying,
                let from = now.coveredUntil
            else { return nil }
            let until = from + now.history.pace.scale(length)
            guard now.instant < until else { return nil }
            return now.access(.retryKept, .grace, .keptByPolicy, until: until)
        },
        Rule(
            id: .inRetry,
            sentence: "A payment failed and grace is over or was never given; the store retries."
        ) { now in
            guard now.isRetrying else { return nil }
            return now.standing(.inRetry, .hold, .billingRetry, until: now.coveredUntil)
        },
        Rule(
            id: .renewalDue,
            sentence: "The renewal is due and the store has not spoken; a short leeway is given."
        ) { now in
            guard now.awaitsRenewal, let until = now.leewayEnd, now.instant < until else {
                return nil
            }
            return now.access(
                .renewalDue,
                .active,
                .renewalDue,
                until: until,
                confidence: .presumed,
                asks: true,
                product: now.nextProduct
            )
        },
        Rule(
            id: .unconfirmed,
            sentence: "The renewal was due and the store has stayed silent past the leeway."
        ) { now in
            guard now.awaitsRenewal || now.isUpgradedAway else { return nil }
            return now.standing(
                .unconfirmed,
                .expired,
                .unconfirmed,
                until: now.leewayEnd,
                confidence: .unknown,
                asks: true
            )
        },
        Rule(id: .ended, sentence: "The purchase has ended.") { now in
            now.expired(.ended, now.reasonOfEnd, at: now.lastAccess)
        },
    ]

}

extension Rule.ID {
    /// What the rule says, for whoever asks why.
    public var sentence: String {
        Rule.all.first { $0.id == self }?.sentence ?? ""
    }
}

extension LineageHistory {
    /// The answer for this lineage at an instant: pure, total, no clock.
    public func standing(at instant: Instant, policy: Policy) -> Standing {
        let now = Situation(history: self, instant: instant, policy: policy)
        for rule in Rule.all {
            if let standing = rule.decide(now) { return standing }
        }
        preconditionFailure("the last rule of standing always decides")
    }
}
