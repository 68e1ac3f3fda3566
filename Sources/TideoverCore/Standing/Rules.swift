/// One rule of standing. In each table the first rule that applies decides.
public struct Rule: Hashable, Sendable {
    public let id: ID
    public let table: Table

    /// A sentence that explains the rule.
    public var sentence: String { id.sentence }

    /// The subject of a rule.
    public enum Table: String, Hashable, Sendable, CaseIterable {
        /// The governing term of a lineage. Covers App Store purchases, one-time purchases of
        /// either store, purchases that only a relay reports, and an operator's grants.
        case terms
        /// Each product of a Google Play subscription that no other product has replaced.
        case playItems
    }

    /// Every rule; each table is in evaluation order.
    public static let all =
        TermRule.all.map { Rule(id: $0.id, table: .terms) }
        + PlayRule.all.map { Rule(id: $0.id, table: .playItems) }

    public enum ID: String, Hashable, Sendable, CaseIterable {
        case noFacts = "no-facts"
        case pending
        case calledOff = "called-off"
        case unlinked
        case notStarted = "not-started"
        case replaced
        case revoked
        case prepaid
        case cancelled
        case inTerm = "in-term"
        case superseded
        case renewedUnseen = "renewed-unseen"
        case endedStated = "ended-stated"
        case inGrace = "in-grace"
        case graceUnstated = "grace-unstated"
        case gracePresumed = "grace-presumed"
        case retryKept = "retry-kept"
        case inRetry = "in-retry"
        case notRenewed = "not-renewed"
        case onHold = "on-hold"
        case holdPresumed = "hold-presumed"
        case paused
        case resumeDue = "resume-due"
        case renewalDue = "renewal-due"
        case silentGrace = "silent-grace"
        case storeUnreachable = "store-unreachable"
        case unconfirmed
        case expired
        case ended
    }
}

extension Rule.ID {
    /// A sentence that explains the rule.
    public var sentence: String {
        switch self {
        case .noFacts: "No purchase is known."
        case .pending: "The purchase waits for approval or for its first payment."
        case .calledOff: "The purchase was declined or called off before anything was paid."
        case .unlinked:
            "The store has reported this subscription, but no term of it."
        case .notStarted: "No term had begun yet."
        case .replaced: "Another purchase has taken the place of this one."
        case .revoked: "The store took the purchase back."
        case .prepaid: "The time paid for ahead is running; it does not renew by itself."
        case .cancelled: "The subscription is cancelled; what was paid for runs to its end."
        case .inTerm: "The purchase is in effect and has not ended."
        case .superseded: "The customer upgraded to a term that we have not seen yet."
        case .renewedUnseen:
            "The store reported a renewal; its transaction has not arrived yet."
        case .endedStated: "The store said that the subscription has expired."
        case .inGrace: "A payment failed; the store keeps access during grace."
        case .graceUnstated: "The store says grace without a date; three days are assumed."
        case .gracePresumed:
            "A payment failed and the end of grace last stated has passed; the store moves it while "
                + "grace lasts, so a little more is assumed."
        case .retryKept: "The store retries the payment; the operator's policy keeps access."
        case .inRetry:
            "A payment failed and grace is over or was never given; the store retries."
        case .notRenewed: "A receipt made after the end lists no renewal."
        case .onHold: "A payment failed and the store has put the subscription on hold."
        case .holdPresumed:
            "A payment failed and grace should be over; a hold is assumed until the store says more."
        case .paused: "The customer has paused the subscription."
        case .resumeDue: "The pause should be over and the store has reported nothing."
        case .renewalDue:
            "The renewal is due and the store has reported nothing; a short leeway is given."
        case .silentGrace:
            "The renewal is due and the store says active; it goes on trying for up to two days."
        case .storeUnreachable:
            "The renewal is due and the store cannot be reached; what was there is kept for a while."
        case .unconfirmed:
            "The renewal was due and the store has stayed silent past the leeway."
        case .expired: "The subscription has ended in the store."
        case .ended: "The purchase has ended."
        }
    }
}

/// A rule on the governing term.
struct TermRule: Sendable {
    let id: Rule.ID
    let decide: @Sendable (RuleContext) -> Standing?

    static let all: [TermRule] = beforeAnyTerm + ofTerm
    /// The rules that can apply while a seen term governs.
    private static let ofTerm: [TermRule] = whileItRuns + afterItsEnd

    private static let beforeAnyTerm: [TermRule] = [
        TermRule(id: .noFacts) { now in
            guard now.isUnheardOf, now.history.pending.isEmpty else { return nil }
            return now.never(.noFacts, .unknown, .unknown)
        },
        TermRule(id: .pending) { now in
            guard now.isUnheardOf, now.history.isPending(at: now.instant) else { return nil }
            return now.never(.pending, .pending, .confirmed)
        },
        TermRule(id: .calledOff) { now in
            guard now.isUnheardOf, now.history.pending.contains(where: { $0.since <= now.instant })
            else { return nil }
            return now.never(.calledOff, .calledOff, .confirmed)
        },
        TermRule(id: .unlinked) { now in
            guard now.history.terms.isEmpty, now.history.hasWords else { return nil }
            return now.never(.unlinked, .unlinked, .unknown, asks: true)
        },
        TermRule(id: .notStarted) { now in
            now.term == nil ? now.never(.notStarted, .notStarted, .confirmed) : nil
        },
    ]

    private static let whileItRuns: [TermRule] = [
        TermRule(id: .revoked) { $0.revoked() },
        TermRule(id: .inTerm) { now in
            guard let term = now.term, now.isRunning, !term.isUnseen, !now.isUpgradedAway,
                now.taken == nil
            else { return nil }
            return now.access(.inTerm, .active, now.reasonOfTerm, until: term.end)
        },
        TermRule(id: .superseded) { now in
            guard let term = now.term, now.isRunning, now.isUpgradedAway, now.taken == nil else {
                return nil
            }
            return now.access(
                .superseded,
                .active,
                .paid,
                until: term.end,
                confidence: .presumed,
                asks: true
            )
        },
        TermRule(id: .renewedUnseen) { now in
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
            guard let term = now.term, term.isUnseen, now.isRunning, !now.hasFailed,
                now.lapse == nil
            else { return nil }
            return now.access(
                .renewedUnseen,
                .active,
                .paid,
                until: term.end,
                confidence: .presumed,
                asks: true
            )
        },
    ]

    private static let afterItsEnd: [TermRule] = [
        TermRule(id: .endedStated) { now in
            guard let condition = now.condition, condition.value.saysExpired else { return nil }
            return now.expired(
                .endedStated,
                now.reasonOfEnd,
                at: now.keptAccessEnd ?? now.lastAccess,
                by: condition.rank
            )
        },
        TermRule(id: .inGrace) { now in
            guard let grace = now.graceEnd, grace > now.instant, now.keepsGrace else { return nil }
            return now.access(
                .inGrace,
                .grace,
                .billingIssue,
                until: grace,
                by: now.term?.grace?.rank
            )
        },
        TermRule(id: .graceUnstated) { now in
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
        TermRule(id: .retryKept) { now in
            guard now.isRetrying, let until = now.keptUntil, now.instant < until else { return nil }
            return now.access(.retryKept, .grace, .keptByPolicy, until: until, by: now.failed)
        },
        TermRule(id: .inRetry) { now in
            guard now.isRetrying else { return nil }
            return now.standing(
                .inRetry,
                .hold,
                .billingRetry,
                until: now.keptAccessEnd ?? now.coveredUntil,
                by: now.failed
            )
        },
        TermRule(id: .paused) { now in
            guard now.isPaused, now.instant < now.pausedUntil else { return nil }
            return now.standing(
                .paused,
                .hold,
                .paused,
                until: now.lastAccess,
                by: now.outlook?.rank
            )
        },
        TermRule(id: .resumeDue) { now in
            guard now.isPaused, now.instant < now.resumeAwaitedUntil else { return nil }
            return now.standing(
                .resumeDue,
                .hold,
                .paused,
                until: now.lastAccess,
                confidence: .presumed,
                asks: true
            )
        },
        TermRule(id: .notRenewed) { now in
            guard now.awaitsRenewal, now.receiptWithoutRenewal != nil else { return nil }
            return now.standing(
                .notRenewed,
                .expired,
                .ended,
                until: now.lastAccess,
                asks: now.mayBeRetried
            )
        },
        TermRule(id: .renewalDue) { now in
            guard now.awaitsRenewal, let until = now.leewayEnd, now.instant < until else {
                return nil
            }
            return now.awaiting(.renewalDue, until: until)
        },
        TermRule(id: .storeUnreachable) { now in
            guard now.awaitsRenewal, now.isUnreachable,
                let until = now.end(plus: now.policy.unreachable), now.instant < until
            else { return nil }
            return now.awaiting(.storeUnreachable, until: until)
        },
        TermRule(id: .unconfirmed) { now in
            guard now.awaitsRenewal || now.isUpgradedAway else { return nil }
            return now.standing(
                .unconfirmed,
                .expired,
                .unconfirmed,
                until: now.awaitedUntil,
                confidence: .unknown,
                asks: true
            )
        },
        TermRule(id: .ended) { now in
            var standing = now.expired(
                .ended,
                now.reasonOfEnd,
                at: now.keptAccessEnd ?? now.lastAccess,
                by: now.outlook?.rank
            )
            // The store no longer retries the payment, although its newest outlook renews.
            if standing.willRenew == true { standing.willRenew = false }
            return standing
        },
    ]
}

extension TermRule {
    /// Returns the standing of the first rule that applies.
    static func standing(_ now: RuleContext) -> Standing {
        // The other rules do not apply while a seen term governs.
        let isGoverned = now.term.map { !$0.isUnseen } ?? false
        for rule in isGoverned ? ofTerm : all {
            if let standing = rule.decide(now) { return standing }
        }
        preconditionFailure("the last rule of standing always decides")
    }
}
