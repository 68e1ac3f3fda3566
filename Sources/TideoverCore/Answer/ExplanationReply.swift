/// Sentences that a support person can paste into a reply to the customer.
struct Reply {
    let decision: Snapshot.Entitlement
    /// The situation of the lineage that decided; nil when nothing is known.
    let now: Situation?

    private var standing: Standing { decision.standing }
    private var isShared: Bool { standing.lineage?.ownership == .familyShared }

    var sentences: [String] {
        guard let now else { return unknownPurchase }
        switch standing.reason {
        case .notEntitled: return ["What you have bought does not include this."]
        case .changedProduct: return changedProduct
        default: return sentences(now)
        }
    }

    private func sentences(_ now: Situation) -> [String] {
        switch standing.rule {
        case .noFacts: unknownPurchase
        case .unlinked:
            ["We know of \(your) subscription, but no payment for it has been confirmed to us yet."]
        case .notStarted: coming(now)
        case .revoked: [takenBack]
        case .inTerm: restored(now) + running(now)
        case .superseded: changed + ["You keep access in the meantime."]
        case .renewedUnseen:
            [
                "The store told us that \(your) subscription renewed.",
                "You have access\(until(standing.accessUntil)); a full confirmation is still to come.",
            ]
        case .inGrace, .graceUnstated, .retryKept: failed(now) + keptAccess
        case .inRetry: failed(now) + suspended(now)
        case .renewalDue: due(now) + ["You keep access in the meantime."]
        case .unconfirmed:
            (now.isUpgradedAway ? changed : due(now)) + [
                "If you were charged for it, please send us the order number from the store's "
                    + "receipt, so that we can find it. There is no need to buy again."
            ]
        case .endedStated, .ended: ended(now)
        }
    }

    // MARK: Words in common

    private var your: String { isShared ? "the shared" : "your" }
    private var yourAtStart: String { isShared ? "The shared" : "Your" }

    private func thing(_ term: TermRecord?) -> String {
        term?.term.plan == .autoRenewable ? "subscription" : "purchase"
    }

    /// The day, and the time of day where periods are too short for days.
    private func day(_ instant: Instant) -> String {
        Words.instant(instant, showsTime: now.map { $0.history.pace != .real } ?? false)
    }

    private func until(_ instant: Instant?) -> String { instant.map { " until \(day($0))" } ?? "" }
    private func on(_ instant: Instant?) -> String { instant.map { " on \(day($0))" } ?? "" }

    // MARK: One situation each

    private var unknownPurchase: [String] {
        [
            "We cannot find a purchase that belongs to your account.",
            "If you have paid, please send us the order number from the store's receipt, so that we "
                + "can find it.",
        ]
    }

    private var changed: [String] {
        [
            "\(yourAtStart) subscription was changed to another one, and the store has not confirmed "
                + "that one to us yet."
        ]
    }

    private var changedProduct: [String] {
        [
            "Your access to this ended\(on(standing.accessUntil)), when the subscription changed.",
            "What you have now does not include it.",
        ]
    }

    private func coming(_ now: Situation) -> [String] {
        let start = now.history.terms.first?.term.start
        return ["\(yourAtStart) purchase begins\(on(start)); there is no access before."]
    }

    private var takenBack: String {
        switch standing.reason {
        case .refunded:
            "The store refunded \(your) purchase\(on(standing.accessUntil)), and access to it ended "
                + "with that."
        case .familyAccessRemoved:
            "Family Sharing of this purchase ended\(on(standing.accessUntil)), and your access "
                + "ended with it."
        case .assignmentRemoved:
            "The purchase was assigned to you by an organisation and taken back"
                + "\(on(standing.accessUntil))."
        default:
            "The store took \(your) purchase back\(on(standing.accessUntil)), and access ended with "
                + "that."
        }
    }

    /// A refund that was taken back.
    private func restored(_ now: Situation) -> [String] {
        guard let revocation = now.term?.newestRevocation(at: now.instant)?.value,
            let undone = now.term?.lastUndoing(by: now.instant, pace: now.history.pace)
        else { return [] }
        switch revocation.cause {
        case .refund, .proratedRefund:
            return ["A refund was taken back on \(day(undone)), and access is restored."]
        case .familyAccessRemoved, .assignmentRemoved, .withdrawn, .unrecognised:
            return ["Access had been withdrawn, and is restored since \(day(undone))."]
        }
    }

    private func running(_ now: Situation) -> [String] {
        guard let record = now.term else { return [] }
        guard let end = record.end else {
            return ["\(yourAtStart) purchase of \(day(record.term.start)) has no end."]
        }
        if standing.reason == .trial {
            return ["\(yourAtStart) free trial began on \(day(record.term.start))."]
                + renewal(after: end)
        }
        return ["\(began(record)) and is paid until \(day(end))."] + renewal(after: end)
    }

    private func renewal(after end: Instant) -> [String] {
        switch standing.willRenew {
        case true?:
            [
                standing.reason == .trial
                    ? "It becomes a paid subscription on \(day(end)) unless it is cancelled before."
                    : "It renews on \(day(end)) unless it is cancelled before."
            ]
        case false?:
            ["It will not renew; you keep access\(until(decision.accessUntil))."]
        case nil:
            standing.reason == .trial ? ["You have access\(until(decision.accessUntil))."] : []
        }
    }

    /// The beginning of a sentence about a term that was seen.
    private func began(_ record: TermRecord) -> String {
        let verb = record.term.origin == .renewal ? "renewed" : "began"
        return "\(yourAtStart) \(thing(record)) \(verb) on \(day(record.term.start))"
    }

    private func failed(_ now: Situation) -> [String] {
        let before = now.term.flatMap { $0.isUnseen ? nil : "\(began($0))." }
        let failure =
            "The payment due\(on(now.term?.end)) did not go through, and the store tries it again."
        return [before, failure].compactMap(\.self)
    }

    private var keptAccess: [String] {
        let isDated = standing.confidence == .confirmed
        let last = isDated ? until(decision.accessUntil) : " for now"
        let kept = "You keep full access\(last)."
        guard !isShared else { return [kept] }
        return [
            kept,
            "If you update your payment method in the store \(isDated ? "before that" : "soon"), "
                + "nothing is interrupted.",
        ]
    }

    private func suspended(_ now: Situation) -> [String] {
        let stopped = "Access is paused\(standing.accessUntil.map { " since \(day($0))" } ?? "")."
        guard !isShared else { return [stopped, "It comes back when the payment succeeds."] }
        let last = now.end(plus: Situation.retry).map { " by \(day($0))" } ?? ""
        return [
            stopped,
            "If you update your payment method in the store\(last), access comes back as soon as "
                + "the payment succeeds. There is no need to buy again.",
        ]
    }

    private func due(_ now: Situation) -> [String] {
        [
            "\(yourAtStart) subscription was due to renew\(on(now.term?.end)), and the store has not "
                + "confirmed it to us yet."
        ]
    }

    private func ended(_ now: Situation) -> [String] {
        let cause =
            switch standing.reason {
            case .cancelled: " because it was cancelled"
            case .billingError: " because the payment could not be collected"
            case .priceIncrease: " because the new price was not accepted"
            case .productUnavailable: " because it is no longer sold"
            default: ""
            }
        return ["\(yourAtStart) \(thing(now.term)) ended\(on(standing.accessUntil))\(cause)."]
    }
}
