import TideoverCore

/// An event about one purchase, with the identifiers of the purchase.
struct RelayedPurchase {
    let lineage: Lineage
    private let event: RevenueCatEvent
    private let catalogue: Catalogue
    private let productId: String
    private var term: Term

    /// Nil if an essential part is missing.
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
            offer: event.offer,
            storefront: event.storefront(of: lineage.store)
        )
    }

    func words(of kind: RevenueCatEvent.EventType) -> RelayedStatements {
        switch kind {
        case .initialPurchase: bought(.purchase)
        // RevenueCat also uses this type for a new purchase after a lapse.
        case .renewal: bought(event.isTrialConversion == true ? .renewal : .unstated)
        case .nonRenewingPurchase: bought(.purchase)
        case .subscriptionExtended: stated(.unstated)
        case .cancellation: cancelled
        case .uncancellation: recalled + [outlook(Outlook(willRenew: true))]
        case .billingIssue: failed
        case .expiration: expired
        case .subscriptionPaused: recalled + [outlook(paused)]
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

    /// An auto-renewable purchase is expected to renew until RevenueCat reports otherwise.
    private func bought(_ origin: Term.Origin) -> RelayedStatements {
        let renews = term.plan == .autoRenewable && term.end != nil
        return stated(origin) + (renews ? [outlook(Outlook(willRenew: true))] : [])
    }

    /// Returns the term from an event about another subject, in case the purchase's own event was
    /// lost.
    ///
    /// The statement has the date of the purchase, not of the event. The term in such an event must
    /// not replace an end that RevenueCat stated before. Long after a refund, it must also not
    /// count as a current read without a refund.
    private var recalled: RelayedStatements {
        term.end == nil ? RelayedStatements() : recalled(term)
    }

    private func recalled(_ term: Term) -> RelayedStatements {
        let at = min(term.start, event.timestamp)
        return RelayedStatements(statements: [
            Statement(lineage, .term(term), from: term.start, at: at)
        ])
    }

    // MARK: Outlook

    /// Returns an outlook for the term's end that the event states.
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
        case .subscriptionPaused: return recalled + [outlook(paused)]
        case .priceIncrease, .developerInitiated, .unknown:
            return recalled
                + [outlook(Outlook(willRenew: false, lapse: Outlook.Lapse(reason)))]
        case .customerSupport: return refunded
        // A billing error is not a cancellation: a separate billing issue event states the grace
        // period. Before the term's end it adds nothing, and the end it names is uncertain.
        case .billingError: return isOver ? RelayedStatements(statements: [failing]) : .init()
        }
    }

    /// Returns the statements of a failed payment. Only the store's grace date ends grace; the end
    /// of the period does not.
    private var failed: RelayedStatements {
        let grace = event.gracePeriodExpiresAt
        // If the event's end equals the end of grace, RevenueCat replaced the end of the period,
        // which is then unknown.
        let isMoved = term.end.map { grace?.isWithin(.seconds(1), of: $0) ?? false } ?? false
        let end = isMoved ? nil : term.end
        let outlook = Outlook(renewalDate: end, isRetrying: true, graceEnd: grace)
        let condition = Condition(status: grace == nil ? .retry : .grace, renewalDate: end)
        let known = isMoved ? endless : recalled
        return known + [said(outlook), said(condition)]
    }

    /// The term without the end that RevenueCat replaced by that of grace. Any statement of the end
    /// completes it; without one, the rules presume that it ended when the payment failed.
    private var endless: RelayedStatements {
        var term = term
        term.end = nil
        return recalled(term)
    }

    /// Returns the statements of an expiration. After a failed payment the subscription continues,
    /// since the store may recover it for weeks. The end in the event may then be that of grace.
    /// The outlook and the condition therefore name no end: they apply to the term that was over.
    /// The outlook of a pause does so too.
    private var expired: RelayedStatements {
        guard let reason = event.expirationReason else { return ended(nil) }
        switch reason.known {
        case .billingError: return over + [failing, said(Condition(status: .retry))]
        case .customerSupport: return ended(reason) + refunded.statements
        case .subscriptionPaused: return over + [said(paused)]
        case .unsubscribe, .developerInitiated, .priceIncrease, .unknown, nil:
            return ended(reason)
        }
    }

    /// A pause from the end of the term. Only a subscription that renews can be paused.
    private var paused: Outlook {
        Outlook(willRenew: true, lapse: .paused, resumesAt: event.autoResumesAt)
    }

    /// Returns an outlook rather than a store condition: a relay must not end grace that the store
    /// stated.
    private func ended(_ reason: OpenEnum<RevenueCatReason>?) -> RelayedStatements {
        let lapse = reason.map { Outlook.Lapse($0) } ?? .other
        return over + [outlook(Outlook(willRenew: false, lapse: lapse))]
    }

    /// Returns the term with the date of the event, because it may end before the end that
    /// RevenueCat stated earlier. The expiration of a temporary grant is about no term of a store.
    private var over: RelayedStatements {
        guard hasEnded, event.temporaryGrantEnd(in: lineage.environment) == nil else {
            return RelayedStatements()
        }
        return current
    }

    /// The term as it is at the event.
    private var current: RelayedStatements {
        RelayedStatements(statements: [
            Statement(lineage, .term(term), from: term.start, at: event.timestamp)
        ])
    }

    /// A billing error for the term that was over by then.
    private var failing: Statement {
        said(Outlook(isRetrying: true, lapse: .billingError))
    }

    private var isOver: Bool { term.end.map { $0 <= event.timestamp } ?? false }

    /// Whether the event's end had passed, except for the rounding of its instants.
    private var hasEnded: Bool {
        term.end.map { $0 <= event.timestamp + .seconds(1) } ?? false
    }

    private var changesProduct: RelayedStatements {
        guard let changed = event.newProductId, let store = event.store?.known else {
            return recalled
        }
        let next = store.productId(of: changed, in: catalogue)
        let outlook = Outlook(renewsInto: next, willRenew: true)
        return recalled + [self.outlook(outlook)]
    }

    // MARK: Refunds

    /// A refund revokes the term if RevenueCat has ended it. Otherwise the refund is for an earlier
    /// term, or this term continues until its end.
    private var refunded: RelayedStatements {
        guard hasEnded || term.end == nil else {
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

    /// Returns the reversal with the term. An end that is still ahead counts from the event,
    /// because an expiration may have stated the date of the refund as the end.
    private var reversed: RelayedStatements {
        let reversal = Reversal(term: term.key)
        let isAhead = term.end != nil && !hasEnded
        return (isAhead ? current : recalled)
            + [Statement(lineage, .reversal(reversal), at: event.timestamp)]
    }
}

extension RevenueCatEvent {
    /// The offer of the period, with the code that the customer redeemed. A prepaid period is no
    /// offer of a subscription.
    fileprivate var offer: Offer? {
        let offer = periodType?.known?.offer
        guard periodType?.known != .prepaid, let offerCode, !offerCode.isEmpty,
            offerCode.isStorableName
        else { return offer }
        return Offer(kind: .code, discount: offer?.discount, identifier: offerCode)
    }

    /// The country as the store itself names it; nil for an unknown code.
    fileprivate func storefront(of store: Store) -> String? {
        let country = countryCode.flatMap(CountryCode.alpha3)
        return store == .appStore ? country : country.flatMap(CountryCode.alpha2)
    }

    fileprivate func plan(of productId: String, _ catalogue: Catalogue) -> Term.Plan {
        let isExpired = type.known == .expiration && catalogue.lacksRenewal(of: productId)
        if isExpired || type.known == .nonRenewingPurchase || (expiresAt == nil && isOneTime) {
            return catalogue.plan(ofNonRenewing: productId, endingAt: expiresAt)
        }
        return periodType?.known == .prepaid ? .nonRenewing : .autoRenewable
    }

    /// Refunds also occur for one-time purchases, and then state no end.
    private var isOneTime: Bool {
        type.known == .cancellation || type.known == .refundReversed
    }
}

extension Catalogue {
    /// Whether it lists a product as one that does not renew.
    fileprivate func lacksRenewal(of productId: String) -> Bool {
        self[productId].map { $0.kind != .autoRenewable } ?? false
    }
}

extension RelayedStatements {
    static func + (words: RelayedStatements, more: [Statement]) -> RelayedStatements {
        var words = words
        words.statements += more
        return words
    }
}
