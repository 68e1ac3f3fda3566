/// A rule on one product of a Google Play subscription.
struct PlayRule: Sendable {
    let id: Rule.ID
    let decide: @Sendable (PlayRuleContext) -> Standing?

    static let all: [PlayRule] = beforeAnyPayment + whileItRuns + afterItsExpiry

    private static let beforeAnyPayment: [PlayRule] = [
        PlayRule(id: .replaced) { now in
            guard now.statement == nil, now.token != nil else { return nil }
            return now.standing(.replaced, .expired, .replaced, until: now.lastAccess)
        },
        PlayRule(id: .notStarted) { now in
            now.statement == nil ? now.never(.notStarted, .notStarted) : nil
        },
        PlayRule(id: .pending) { now in
            now.state == .pending ? now.never(.pending, .pending) : nil
        },
        PlayRule(id: .calledOff) { now in
            now.state == .pendingCancelled ? now.never(.calledOff, .calledOff) : nil
        },
    ]

    private static let whileItRuns: [PlayRule] = [
        PlayRule(id: .prepaid) { now in
            now.isRunning && now.isPrepaid ? now.running(.prepaid, .prepaid) : nil
        },
        PlayRule(id: .cancelled) { now in
            guard now.isRunning, now.state == .cancelled else { return nil }
            return now.running(.cancelled, now.reasonOfPeriod)
        },
        PlayRule(id: .inTerm) { now in
            now.isRunning ? now.running(.inTerm, now.reasonOfPeriod) : nil
        },
        PlayRule(id: .inGrace) { now in
            guard now.isInGrace else { return nil }
            var standing = now.standing(.inGrace, .grace, .billingIssue, until: now.expiry)
            standing.graceUntil = now.statement?.graceUntil
            return standing
        },
    ]

    private static let afterItsExpiry: [PlayRule] = [
        PlayRule(id: .silentGrace) { now in
            guard now.awaitsRenewal, now.instant < now.silentGraceEnd else { return nil }
            return now.assumed(.silentGrace, .active, .renewalDue, until: now.silentGraceEnd)
        },
        PlayRule(id: .storeUnreachable) { now in
            guard now.awaitsRenewal, now.isUnreachable, now.instant < now.unreachableEnd else {
                return nil
            }
            return now.assumed(.storeUnreachable, .active, .renewalDue, until: now.unreachableEnd)
        },
        PlayRule(id: .gracePresumed) { now in
            guard now.state == .inGrace, now.instant < now.gracePresumedUntil else { return nil }
            return now.assumed(
                .gracePresumed,
                .grace,
                .billingIssue,
                until: now.gracePresumedUntil
            )
        },
        PlayRule(id: .holdPresumed) { now in
            guard now.state == .inGrace, now.instant < now.holdPresumedUntil else { return nil }
            return now.standing(
                .holdPresumed,
                .hold,
                .accountHold,
                until: now.lastAccess,
                confidence: .presumed
            )
        },
        PlayRule(id: .onHold) { now in
            guard now.state == .onHold, now.instant < now.holdUntil else { return nil }
            return now.standing(.onHold, .hold, .accountHold, until: now.lastAccess)
        },
        PlayRule(id: .paused) { now in
            guard now.state == .paused, now.instant < now.resumesAt ?? .distantFuture else {
                return nil
            }
            return now.standing(.paused, .hold, .paused, until: now.lastAccess)
        },
        PlayRule(id: .resumeDue) { now in
            guard now.state == .paused, now.instant < now.resumeAwaitedUntil else { return nil }
            return now.standing(
                .resumeDue,
                .hold,
                .paused,
                until: now.lastAccess,
                confidence: .presumed
            )
        },
        PlayRule(id: .unconfirmed) { now in
            let isLost = now.state == .inGrace || now.state == .onHold || now.state == .paused
            guard now.awaitsRenewal || isLost else { return nil }
            return now.standing(
                .unconfirmed,
                .expired,
                .unconfirmed,
                until: now.lastAccess,
                confidence: .unknown
            )
        },
        PlayRule(id: .expired) { now in
            now.standing(.expired, .expired, now.reasonOfEnd, until: now.lastAccess)
        },
    ]

    /// Returns the standing of the first rule that applies.
    static func standing(_ now: PlayRuleContext) -> Standing {
        for rule in all {
            if let standing = rule.decide(now) { return standing }
        }
        preconditionFailure("the last rule of standing always decides")
    }
}
