/// Sentences that support staff can paste into a reply to the customer.
struct Reply {
    let decision: Snapshot.Entitlement
    /// The basis of the deciding lineage's standing; nil if nothing is known.
    let decisionBasis: DecisionBasis?
    let catalogue: Catalogue
    /// A purchase for it that was the customer's before; nil if there is none.
    let former: FormerPurchase?
    /// The access given by hand that ended after the deciding purchase; nil if there is none.
    let given: Standing?
    /// Whether a payment for another purchase of the customer failed.
    let hasUnpaid: Bool
    /// Whether a purchase is known, and not only access given by hand.
    let hasBought: Bool

    /// A purchase that belonged to the customer and belongs to another account now.
    enum FormerPurchase {
        /// The app's policy may return it to the customer who restores it.
        case restorable
        /// Only an operator can return it.
        case fixed
    }

    private var standing: Standing { decision.standing }
    private var isShared: Bool { standing.lineage?.ownership == .familyShared }

    var sentences: [String] {
        if let former, standing.rule == .noFacts || standing.reason == .notEntitled {
            return moved(former)
        }
        guard let decisionBasis else { return unknownPurchase }
        switch standing.reason {
        case .notEntitled:
            return hasBought ? ["What you have bought does not include this."] : unknownPurchase
        case .changedProduct: return changedProduct + givenSince
        case .unknownProduct where !standing.access: return unlisted
        default: return sentences(decisionBasis.history) + givenSince
        }
    }

    private func sentences(_ history: LineageHistory) -> [String] {
        switch standing.rule {
        case .noFacts: unknownPurchase
        case .unlinked:
            ["We know of \(your) subscription, but no payment for it has been confirmed to us yet."]
        case .pending: waiting
        case .calledOff:
            ["\(yourAtStart) purchase was declined or called off, and nothing was charged for it."]
        case .notStarted: coming(history)
        case .replaced:
            ["\(yourAtStart) subscription was replaced by another one\(on(standing.accessUntil))."]
        case .revoked: takenBack
        case .inTerm, .prepaid, .cancelled: restored + running
        case .superseded: changed + ["You keep access in the meantime."]
        case .renewedUnseen:
            [
                "The store reported that \(your) subscription renewed.",
                "You have access\(until(standing.accessUntil)); a full confirmation is still to "
                    + "come.",
            ]
        case .inGrace, .graceUnstated, .gracePresumed, .retryKept: failed + keptAccess
        case .inRetry, .onHold, .holdPresumed: failed + suspended
        case .paused, .resumeDue: paused
        case .renewalDue, .silentGrace, .storeUnreachable:
            due + ["You keep access in the meantime."]
        case .unconfirmed where isLosing && !isUpgradedAway: dueToChange
        case .unconfirmed: (isUpgradedAway ? changed : due) + unconfirmed
        case .endedStated, .notRenewed, .ended, .expired: ended
        }
    }

    // MARK: Subject

    private var term: TermRecord? { decisionBasis?.term }

    /// The end of the next period, if it is paid already.
    private var chargedUntil: Instant? { decisionBasis?.chargedUntil }

    private var isUnchargedTrial: Bool { standing.reason == .trial && chargedUntil == nil }

    private var isUpgradedAway: Bool {
        if case .term(let now) = decisionBasis { now.isUpgradedAway } else { false }
    }

    /// When the awaited payment was due.
    private var dueAt: Instant? {
        switch decisionBasis {
        case .term(let now): now.term?.end
        case .item(let now): now.statement?.periodEnd ?? now.statement?.expiry
        case nil: nil
        }
    }

    /// Until when the store retries a failed payment. The length of a hold on Google Play is
    /// unknown: the base plan sets it, and no response states it.
    private var retriedUntil: Instant? {
        guard case .term(let now) = decisionBasis else { return nil }
        return now.end(plus: RuleContext.retry)
    }

    private var isLosing: Bool {
        decisionBasis?.isLosing(decision.name, standing, in: catalogue) ?? false
    }

    /// Whether a cancellation does not stop the next payment, because more payments are agreed.
    private var isCommitted: Bool {
        switch decisionBasis {
        case .term(let now):
            standing.committedUntil.map { $0 > now.term?.end ?? $0 } ?? false
        case .item(let now): now.statement?.item?.installments?.remainingPayments ?? 0 > 0
        case nil: false
        }
    }

    /// When the store or an operator took the purchase back; nil if neither did.
    private var takenBackAt: Instant? {
        switch decisionBasis {
        case .term(let now): now.taken?.since
        case .item(let now): now.refundedAt
        case nil: nil
        }
    }

    // MARK: Common text

    private var your: String { isShared ? "the shared" : "your" }
    private var yourAtStart: String { isShared ? "The shared" : "Your" }

    private func thing(_ term: TermRecord?) -> String {
        term?.term.plan == .autoRenewable ? "subscription" : "purchase"
    }

    /// Returns the day; adds the time of day if periods are too short for days.
    private func day(_ instant: Instant) -> String {
        MessageFormats.english.date(
            instant,
            showsTime: decisionBasis.map { $0.history.pace != .real } ?? false
        )
    }

    private func until(_ instant: Instant?) -> String { instant.map { " until \(day($0))" } ?? "" }
    private func since(_ instant: Instant?) -> String { instant.map { " since \(day($0))" } ?? "" }
    private func on(_ instant: Instant?) -> String { instant.map { " on \(day($0))" } ?? "" }

    /// The end of access given by hand after the deciding purchase.
    private var givenSince: [String] {
        guard let given, let stopped = given.accessUntil else { return [] }
        let verb = given.rule == .revoked ? "was taken back" : "ended"
        return ["The access that we had given you \(verb)\(on(stopped))."]
    }

    // MARK: Replies by state

    private var unknownPurchase: [String] {
        [
            "We cannot find a purchase that belongs to your account.",
            "If you have paid, choose Restore Purchases in the app on a device with the store "
                + "account that bought it.",
            "If that does not help, please send us the order number from the store's receipt, so "
                + "that we can find it.",
        ]
    }

    private func moved(_ former: FormerPurchase) -> [String] {
        let known = [
            "A purchase that was yours belongs to another account of this app now.",
            "If that account is yours too, please sign in with it.",
        ]
        return switch former {
        case .restorable:
            known + [
                "To have it back, choose Restore Purchases in the app on a device with the store "
                    + "account that bought it. If it does not come back, please write to us."
            ]
        case .fixed: known + ["If it should be yours, please write to us."]
        }
    }

    private var changed: [String] {
        [
            "\(yourAtStart) subscription was changed to another one, and the store has not "
                + "confirmed that one to us yet."
        ]
    }

    private var changedProduct: [String] {
        let stopped = "Your access to this ended\(on(standing.accessUntil))"
        guard standing.confidence == .confirmed else {
            return [
                "\(stopped), when the subscription was due to change to one that does not "
                    + "include it.",
                "The store has not confirmed that change to us yet.",
            ]
        }
        return ["\(stopped), and what you have bought since does not include it."]
    }

    private var dueToChange: [String] {
        [
            "\(yourAtStart) subscription was due to change\(on(dueAt)) to one that does not "
                + "include this, and the store has not confirmed that to us yet.",
            "Your access to this ended then.",
        ]
    }

    private var unlisted: [String] {
        guard standing.hasUnlistedProduct else {
            return [
                "We know of \(your) purchase, but its product is not set up on our side.",
                "The purchase is not active at the moment.",
            ]
        }
        return [
            "\(yourAtStart) purchase is there, but its product is not set up on our side, so it "
                + "does not unlock this yet.",
            "This is our mistake, and we correct it. There is no need to buy again.",
        ]
    }

    private var waiting: [String] {
        [
            "\(yourAtStart) purchase waits for approval or for its payment.",
            "Access begins as soon as the store confirms it.",
        ]
    }

    private func coming(_ history: LineageHistory) -> [String] {
        let start = history.seenTerms.first?.term.start
        return ["\(yourAtStart) purchase begins\(on(start)); there is no access before."]
    }

    private var takenBack: [String] {
        let (cause, consequence) = causeOfTaking
        guard let taken = takenBackAt, let stopped = standing.accessUntil, taken != stopped else {
            return ["\(cause)\(on(standing.accessUntil))\(consequence)."]
        }
        let verb = stopped < taken ? "had already ended" : "ended"
        return ["\(cause)\(on(taken)).", "Access \(verb)\(on(stopped))."]
    }

    private var causeOfTaking: (cause: String, consequence: String) {
        guard standing.grantedEntitlement == nil else {
            return ("The access that we had given you was taken back", "")
        }
        return switch standing.reason {
        case .refunded:
            ("The store refunded \(your) purchase", ", and access to it ended with that")
        case .familyAccessRemoved:
            ("Family Sharing of this purchase ended", ", and your access ended with it")
        case .assignmentRemoved:
            ("The purchase was assigned to you by an organisation and taken back", "")
        default: ("The store took \(your) purchase back", ", and access ended with that")
        }
    }

    /// Sentences for a reversed refund.
    private var restored: [String] {
        guard case .term(let now) = decisionBasis,
            let revocation = now.term?.newestRevocation(at: now.instant)?.value,
            let undone = now.term?.lastUndoing(by: now.instant, pace: now.history.pace)
        else { return [] }
        switch revocation.cause {
        case .refund, .proratedRefund:
            return ["A refund was reversed on \(day(undone)), and access is restored."]
        case .familyAccessRemoved, .assignmentRemoved, .withdrawn, .unrecognised:
            return ["Access had been withdrawn, and is restored since \(day(undone))."]
        }
    }

    private var running: [String] {
        guard let record = term else { return [] }
        guard standing.grantedEntitlement == nil else { return given(record) }
        guard let end = chargedUntil ?? standing.accessUntil else {
            return ["\(yourAtStart) purchase of \(day(record.term.start)) has no end."]
        }
        if isUnchargedTrial {
            return ["\(yourAtStart) free trial began on \(day(record.term.start))."]
                + renewal(after: end)
        }
        return [paid(record, until: end)] + renewal(after: end)
    }

    /// Returns a sentence on the paid period. After a cancellation in grace, access lasts longer:
    /// to the end of grace.
    private func paid(_ record: TermRecord, until end: Instant) -> String {
        guard case .item(let now) = decisionBasis, let paid = now.statement?.periodEnd, paid < end
        else { return "\(began(record)) and is paid until \(day(end))." }
        let verb = paid <= now.instant ? "was" : "is"
        return "\(began(record)) and \(verb) paid until \(day(paid))."
    }

    private func given(_ record: TermRecord) -> [String] {
        let period = "\(until(standing.accessUntil)), since \(day(record.term.start))"
        let granted = "We have given you access\(period)."
        guard hasUnpaid else { return [granted] }
        return [
            granted,
            "The last payment for your subscription did not go through, and the store tries it "
                + "again.",
            "To keep the subscription, please update your payment method in the store.",
        ]
    }

    private func renewal(after end: Instant) -> [String] {
        switch standing.willRenew {
        case _ where decisionBasis?.isPaused ?? false: [pausing(on: end)]
        case true? where isLosing:
            [
                "The subscription is set to change on \(day(end)) to one that does not include "
                    + "this; you keep access\(until(decision.accessUntil))."
            ]
        case true?: renewing(on: end)
        case false?:
            ["It will not renew; you keep access\(until(decision.accessUntil))."]
        case nil:
            isUnchargedTrial ? ["You have access\(until(decision.accessUntil))."] : []
        }
    }

    private func pausing(on end: Instant) -> String {
        let resumes = decisionBasis?.resumesAt.map { " and to resume on \(day($0))" } ?? ""
        return "It is set to pause on \(day(end))\(resumes)."
    }

    private func renewing(on end: Instant) -> [String] {
        let verb = isUnchargedTrial ? "becomes a paid subscription" : "renews"
        let condition = isCommitted ? "" : " unless it is cancelled before"
        let renews = "It \(verb) on \(day(end))\(condition)."
        guard standing.awaitsConsent else { return [renews] }
        let purchaser = isShared ? "its purchaser accepts" : "you accept"
        guard let later = decisionBasis?.laterPrice(than: end) else {
            return [
                "It \(verb) on \(day(end)) only if \(purchaser) the higher price in the store; "
                    + "otherwise it ends then."
            ]
        }
        return [
            renews,
            "From \(day(later)) it continues only if \(purchaser) the higher price in the store; "
                + "otherwise it ends then.",
        ]
    }

    /// Returns the start of a sentence about a seen term.
    private func began(_ record: TermRecord) -> String {
        let verb = record.term.origin == .renewal ? "renewed" : "began"
        return "\(yourAtStart) \(thing(record)) \(verb) on \(day(record.term.start))"
    }

    private var failed: [String] {
        let before = term.flatMap { $0.isUnseen ? nil : "\(began($0))." }
        let failure =
            "The payment due\(on(dueAt)) did not go through, and the store tries it again."
        return [before, failure].compactMap(\.self)
    }

    /// Until when access is certain without the payment, also if it is known that the payment
    /// succeeded after the instant. Google Play moves the expiry during grace.
    private var keptUntil: Instant? {
        guard standing.confidence == .confirmed else { return nil }
        switch decisionBasis {
        case .item: return standing.graceUntil
        case .term(let now):
            let unpaid = [standing.graceUntil, now.keptUntil].compactMap(\.self).max()
            return [unpaid, decision.accessUntil].compactMap(\.self).min()
        case nil: return decision.accessUntil
        }
    }

    private var keptAccess: [String] {
        let isDated = keptUntil != nil
        let last = isDated ? until(keptUntil) : " for now"
        let kept = "You keep full access\(last)."
        guard !isShared else { return [kept] }
        guard !isLosing else {
            return [kept, "The subscription is set to change to one that does not include this."]
        }
        return [
            kept,
            "If you update your payment method in the store \(isDated ? "before that" : "soon"), "
                + "nothing is interrupted.",
        ]
    }

    private var paused: [String] {
        let stopped = "\(yourAtStart) subscription is paused\(since(standing.accessUntil))."
        guard let resumes = decisionBasis?.resumesAt else {
            return [stopped, "You can resume it in the store at any time."]
        }
        return [
            standing.rule == .paused
                ? "\(stopped.dropLast()) and resumes automatically on \(day(resumes))."
                : "It was to resume on \(day(resumes)), and the store has not confirmed that yet.",
            "You can resume it in the store at any time.",
        ]
    }

    private var unconfirmed: [String] {
        [
            "If you were charged for it, please send us the order number from the store's "
                + "receipt, so that we can find it. There is no need to buy again."
        ]
    }

    private var suspended: [String] {
        let stopped = "Access is paused\(since(decision.accessUntil))."
        guard !isLosing else {
            return [
                stopped,
                "The subscription is set to change to one that does not include this, so access to "
                    + "this may not come back when the payment succeeds.",
            ]
        }
        guard !isShared else { return [stopped, "It comes back when the payment succeeds."] }
        let last = retriedUntil.map { " by \(day($0))" } ?? ""
        return [
            stopped,
            "If you update your payment method in the store\(last), access comes back as soon as "
                + "the payment succeeds. There is no need to buy again.",
        ]
    }

    private var due: [String] {
        [
            "\(yourAtStart) subscription was due to renew\(on(dueAt)), and the store has not "
                + "confirmed it to us yet."
        ]
    }

    private var ended: [String] {
        guard standing.grantedEntitlement == nil else {
            return ["The access that we had given you ended\(on(standing.accessUntil))."]
        }
        let cause =
            switch standing.reason {
            case .cancelled: " because it was cancelled"
            case .billingError: " because the payment could not be collected"
            case .priceIncrease: " because the new price was not accepted"
            case .productUnavailable: " because it is no longer sold"
            case .refunded: " because the store refunded it"
            default: ""
            }
        let stopped = "\(yourAtStart) \(thing(term)) ended\(on(standing.accessUntil))"
        guard standing.reason == .refunded, let refunded = takenBackAt,
            let end = standing.accessUntil, end < refunded
        else { return ["\(stopped)\(cause)."] }
        return ["\(stopped).", "The store refunded it\(on(refunded))."]
    }
}
