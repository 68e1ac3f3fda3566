import TideoverCore

/// An event of one purchase, with what names it.
struct RelayedPurchase {
    let lineage: Lineage
    private let event: RevenueCatEvent
    private let catalogue: Catalogue
    private let productId: String
    private let term: Term

    /// Nil where an essential part is missing.
    init?(
        _ event: RevenueCatEvent,
        _ store: RevenueCatStore,
        in environment: Environment,
        _ catalogue: Catalogue
    ) {
        guard let product = event.productId, let transaction = event.transactionId,
            let start = event.purchasedAt,
            let lineage = Lineage(
                relayedFrom: store,
                in: environment,
                original: event.originalTransactionId,
                transaction: transaction,
                ownership: event.isFamilyShare == true ? .familyShared : .purchased
            )
        else { return nil }
        self.event = event
        self.catalogue = catalogue
        self.lineage = lineage
        productId = store.productId(of: product, in: catalogue)
        term = Term(
            transactionId: transaction,
            productId: productId,
            plan: event.plan(of: productId, catalogue),
            start: start,
            end: event.expiresAt,
            offer: event.periodType?.known?.offer
        )
    }

    func words(of kind: RevenueCatEvent.EventType) -> RelayedStatements {
        switch kind {
        case .initialPurchase: bought(.purchase)
        // RevenueCat calls a new purchase after a lapse a renewal too.
        case .renewal: bought(event.isTrialConversion == true ? .renewal : .unstated)
        case .nonRenewingPurchase: bought(.purchase)
        case .subscriptionExtended: stated(.unstated)
        case .cancellation: cancelled
        case .uncancellation: recalled + [outlook(Outlook(willRenew: true))]
        case .billingIssue: failed
        case .expiration: expired
        case .subscriptionPaused: recalled
        case .productChange: changesProduct
        case .refundReversed: reversed
        case .test, .transfer, .invoiceIssuance, .virtualCurrencyTransaction,
            .experimentEnrollment, .subscriberAlias, .temporaryEntitlementGrant:
            RelayedStatements()
        }
    }

    // MARK: Terms

    private func stated(_ origin: Term.Origin) -> RelayedStatements {
        var term = term
        term.origin = origin
        term.price = event.price.flatMap { $0.milliunits < 0 ? nil : $0 }
        return RelayedStatements(statements: [
            Statement(lineage, .term(term), from: term.start, at: event.timestamp)
        ])
    }

    /// What was bought to renew is going to, until RevenueCat says otherwise.
    private func bought(_ origin: Term.Origin) -> RelayedStatements {
        let renews = term.plan == .autoRenewable && term.end != nil
        return stated(origin) + (renews ? [outlook(Outlook(willRenew: true))] : [])
    }

    /// The term as an event of something else has it: a purchase whose own event was lost is known
    /// all the same.
    ///
    /// It is stamped with the purchase, not with the event. What RevenueCat says of a term while it
    /// speaks of something else must neither move an end that it stated nor, long after a refund, pass
    /// for a read that has none.
    private var recalled: RelayedStatements {
        guard term.end != nil else { return RelayedStatements() }
        let at = min(term.start, event.timestamp)
        return RelayedStatements(statements: [
            Statement(lineage, .term(term), from: term.start, at: at)
        ])
    }

    // MARK: What is to become of it

    /// An outlook on the term's end, as the event states it.
    private func outlook(_ outlook: Outlook) -> Statement {
        var outlook = outlook
        outlook.renewalDate = term.end
        return said(outlook)
    }

    private func said(_ outlook: Outlook) -> Statement {
        var outlook = outlook
        outlook.productId = productId
        return Statement(lineage, .outlook(outlook), at: event.timestamp)
    }

    private func said(_ condition: Condition) -> Statement {
        Statement(lineage, .condition(condition), at: event.timestamp)
    }

    private var cancelled: RelayedStatements {
        guard let reason = event.cancelReason, let known = reason.known else {
            return recalled
        }
        switch known {
        case .unsubscribe: return recalled + [outlook(Outlook(willRenew: false))]
        case .priceIncrease, .developerInitiated, .unknown, .subscriptionPaused:
            return recalled
                + [outlook(Outlook(willRenew: false, lapse: Outlook.Lapse(reason)))]
        case .customerSupport: return refunded
        // Past due, not cancelled: the billing issue beside it says whether there is grace. Before the
        // end it says no more than that, and what end it names then is not certain.
        case .billingError: return isOver ? RelayedStatements(statements: [failing]) : .init()
        }
    }

    /// A failed payment. Grace ends when the store says that it does; the end of the period is no end
    /// of grace.
    private var failed: RelayedStatements {
        let grace = event.gracePeriodExpiresAt
        // Where RevenueCat has moved the end of the period to that of grace, the period's is unknown.
        let isMoved = term.end.map { grace?.isWithin(.seconds(1), of: $0) ?? false } ?? false
        let end = isMoved ? nil : term.end
        let outlook = Outlook(renewalDate: end, isRetrying: true, graceEnd: grace)
        let condition = Condition(status: grace == nil ? .retry : .grace, renewalDate: end)
        let known = isMoved ? RelayedStatements() : recalled
        return known + [said(outlook), said(condition)]
    }

    /// The end of access. After a failed payment it is no end of the subscription, which its store may
    /// recover for weeks; and the end that the event names may be that of grace. So it then speaks of
    /// the term that was over.
    private var expired: RelayedStatements {
        guard let reason = event.expirationReason else { return ended(nil) }
        switch reason.known {
        case .billingError:
            return RelayedStatements(statements: [failing, said(Condition(status: .retry))])
        case .customerSupport: return ended(reason) + refunded.statements
        case .unsubscribe, .developerInitiated, .priceIncrease, .subscriptionPaused, .unknown, nil:
            return ended(reason)
        }
    }

    /// It is told as an outlook and not as the store's own condition: where the store stated grace, a
    /// relay's word does not end it.
    private func ended(_ reason: Stated<RevenueCatReason>?) -> RelayedStatements {
        let lapse = reason.map { Outlook.Lapse($0) } ?? .other
        return RelayedStatements(statements: [outlook(Outlook(willRenew: false, lapse: lapse))])
    }

    /// A failing word on whichever term was over by then.
    private var failing: Statement {
        said(Outlook(isRetrying: true, lapse: .billingError))
    }

    private var isOver: Bool { term.end.map { $0 <= event.timestamp } ?? false }

    private var changesProduct: RelayedStatements {
        guard let changed = event.newProductId, let store = event.store?.known else {
            return recalled
        }
        let next = store.productId(of: changed, in: catalogue)
        let outlook = Outlook(renewsInto: next, willRenew: true)
        return recalled + [self.outlook(outlook)]
    }

    // MARK: Refunds

    /// A refund takes the term back where RevenueCat has ended it. One of a term that goes on is of an
    /// earlier term, or leaves this one to run out.
    private var refunded: RelayedStatements {
        let isTakenBack = term.end.map { $0 <= event.timestamp + .seconds(1) } ?? true
        guard isTakenBack else {
            var words = recalled + [outlook(Outlook(willRenew: false, lapse: .other))]
            words.notes = [.refundTakesNothingBack]
            return words
        }
        let date = min(term.end ?? event.timestamp, event.timestamp)
        let revocation = Revocation(term: term.key, date: date, cause: .refund)
        return RelayedStatements(statements: [
            Statement(lineage, .revocation(revocation), from: date, at: event.timestamp)
        ])
    }

    private var reversed: RelayedStatements {
        let reversal = Reversal(term: term.key)
        return recalled
            + [Statement(lineage, .reversal(reversal), at: event.timestamp)]
    }
}

extension RevenueCatEvent {
    fileprivate func plan(of productId: String, _ catalogue: Catalogue) -> Term.Plan {
        if type.known == .nonRenewingPurchase || (expiresAt == nil && isOneTime) {
            return catalogue.plan(ofNonRenewing: productId, endingAt: expiresAt)
        }
        return periodType?.known == .prepaid ? .nonRenewing : .autoRenewable
    }

    /// Refunds and transfers speak of what was bought once too, and name no end of it.
    private var isOneTime: Bool {
        type.known == .cancellation || type.known == .refundReversed
    }
}

extension RelayedStatements {
    static func + (words: RelayedStatements, more: [Statement]) -> RelayedStatements {
        var words = words
        words.statements += more
        return words
    }
}
