import TideoverCalendar

/// One subscription in the store, from the first purchase through every lapse and return.
struct AppStoreSubscription: Hashable, Codable, Sendable {
    /// The identifiers that the store assigns to a term.
    struct TermIds: Hashable, Codable, Sendable {
        let transactionId: String
        let webOrderLineItemId: String
        /// The number on the customer's receipt.
        let orderId: String
    }

    /// A paid or free period.
    struct Term: Hashable, Codable, Sendable {
        let ids: TermIds
        let product: AppStoreProduct
        let start: Int64
        var end: Int64
        /// The offer that reduced the price.
        let offer: AppStoreOffer?
        let isRenewal: Bool
        /// The amount paid; zero for a trial.
        let price: StorePrice
        /// When the store created or last changed this transaction.
        var modifiedAt: Int64
        var isUpgraded = false
        var revocation: Revocation?

        var isTrial: Bool { offer?.mode == .freeTrial }
    }

    /// The product and price of the next renewal.
    struct Plan: Hashable, Codable, Sendable {
        let product: AppStoreProduct
        var price: StorePrice
    }

    /// A higher price for the next renewal.
    struct PriceIncrease: Hashable, Codable, Sendable {
        let price: StorePrice
        var isAccepted: Bool
    }

    /// Apple's `inAppOwnershipType`.
    var ownershipType: String { sharedFrom == nil ? "PURCHASED" : "FAMILY_SHARED" }

    struct Revocation: Hashable, Codable, Sendable {
        let at: Int64
        let reason: AppStoreAction.RefundReason
        /// Whether it revokes a family member's share; that member gets no money back.
        var isOfShare = false
        /// The refunded part of the price, from 1 to 99 percent; nil for all of it.
        var percent: Int64?

        init(at instant: Int64, reason: AppStoreAction.RefundReason, isOfShare: Bool = false) {
            at = instant
            self.reason = reason
            self.isOfShare = isOfShare
        }

        /// Refunds the payment or a part of it. A partial refund ends access too: Apple's documents
        /// do not state that access would continue.
        init(refundAt instant: Int64, reason: AppStoreAction.RefundReason, percent: Int64) {
            precondition((1...100).contains(percent), "a refund is of 1 to 100 percent")
            self.init(at: instant, reason: reason)
            self.percent = percent == 100 ? nil : percent
        }
    }

    enum Phase: Hashable, Codable, Sendable {
        /// The newest term has not ended.
        case running
        case grace(until: Int64)
        case retry
        case ended(Intent)
    }

    /// Apple's `expirationIntent`.
    enum Intent: Int64, Hashable, Codable, Sendable {
        case customerCancelled = 1
        case billingError = 2
        case priceIncrease = 3
        case productUnavailable = 4
        case other = 5
    }

    /// Counts the ends of terms from an anchor, so that short months do not move the billing day
    /// for good.
    struct Cycle: Hashable, Codable, Sendable {
        let anchor: Int64
        var count: Int
    }

    /// The changes that fall due by the passing of time alone.
    enum Due: Hashable, Sendable {
        case charge
        case voluntaryEnd
        /// The customer has not accepted the higher price.
        case priceEnd
        case graceEnd
        case retryEnd
    }

    /// A past interval with one state.
    struct Span: Hashable, Codable, Sendable {
        let from: Int64
        let truth: AppStoreExpectedState
    }

    /// The token of the purchase's owner, set by the app, or by its server through the API.
    var appAccountToken: String?
    /// Never empty; in the order bought.
    private(set) var terms: [Term]
    private(set) var phase: Phase = .running
    private(set) var renews = true
    /// The last grace end that the store stated for the current term; kept after the grace has
    /// ended.
    private(set) var statedGraceEnd: Int64?
    private(set) var recentStart: Int64
    private(set) var plan: Plan
    private(set) var priceIncrease: PriceIncrease?
    /// The redeemed offer, which reduces the next payments.
    private var redeemed: AppStoreOffer?
    /// How many more payments the offer of the current term covers.
    private var offerPaymentsLeft = 0
    /// The term with a requested refund that is not yet decided. It stays the requested one when
    /// the subscription renews meanwhile.
    private(set) var requestedTerm: Int?
    /// The purchase that a family member's share follows; nil for a purchase.
    let sharedFrom: AppStoreMachine.Place?
    /// Whether the purchaser stopped sharing.
    private(set) var isUnshared = false
    /// How many of the purchaser's terms a share has recorded.
    private var termsSeen = 0
    private let tempo: StoreBillingSpeed
    private var cycle: Cycle
    /// The instants at which the renewal date was extended.
    private var extensions: [Int64] = []
    private var history: [Span] = []

    init(_ purchase: Purchase, appAccountToken: String?, _ tempo: StoreBillingSpeed) {
        self.appAccountToken = appAccountToken
        self.tempo = tempo
        sharedFrom = nil
        plan = purchase.plan
        terms = [purchase.term]
        recentStart = purchase.term.start
        cycle = purchase.cycle
        offerPaymentsLeft = purchase.offerPaymentsLeft
        record(at: purchase.term.start)
    }

    var original: Term { terms[0] }
    var current: Term { terms[terms.count - 1] }
    var retryEnd: Int64 { current.end + tempo.retryLength }
    var isRevoked: Bool { current.revocation != nil }

    /// Whether it is running, or a payment for it is still being retried.
    var isAlive: Bool {
        switch phase {
        case .running, .grace, .retry: !isRevoked
        case .ended: false
        }
    }

    /// The next change that the store makes by itself, and its instant.
    var due: (at: Int64, what: Due)? {
        guard !isRevoked, sharedFrom == nil else { return nil }
        switch phase {
        case .running: return (current.end, dueAtEnd)
        case .grace(let until): return (until, .graceEnd)
        case .retry: return (retryEnd, .retryEnd)
        case .ended: return nil
        }
    }

    private var dueAtEnd: Due {
        if !renews || isRenewedOut { return .voluntaryEnd }
        return priceIncrease?.isAccepted == false ? .priceEnd : .charge
    }

    /// Whether it has renewed as often as the environment allows.
    private var isRenewedOut: Bool {
        guard let most = tempo.mostRenewals else { return false }
        return terms.reversed().prefix(while: \.isRenewal).count >= most
    }

    func truth(at instant: Int64) -> AppStoreExpectedState {
        history.last { $0.from <= instant }?.truth ?? .never
    }

    private mutating func record(at instant: Int64) {
        history.append(Span(from: instant, truth: truth))
    }

    private var truth: AppStoreExpectedState {
        if isRevoked { return .revoked }
        switch phase {
        case .running: return .active(until: current.end)
        case .grace(let until): return .grace(until: until)
        case .retry: return .retry(until: retryEnd)
        case .ended: return .expired
        }
    }
}

// MARK: - Buying and paying

extension AppStoreSubscription {
    /// A first term and its billing cycle.
    struct Purchase {
        let term: Term
        let cycle: Cycle
        let plan: Plan
        let offerPaymentsLeft: Int

        init(
            of product: AppStoreProduct,
            offer: AppStoreOffer?,
            at instant: Int64,
            ids: TermIds,
            _ tempo: StoreBillingSpeed
        ) {
            let length = offer?.length(of: product) ?? product.period
            let end = tempo.period(length).end(of: 1, from: instant)
            plan = Plan(product: product, price: product.price)
            term = Term(
                ids: ids,
                product: product,
                start: instant,
                end: end,
                offer: offer,
                isRenewal: false,
                price: offer?.price ?? product.price,
                modifiedAt: instant
            )
            cycle =
                length == product.period
                ? Cycle(anchor: instant, count: 1) : Cycle(anchor: end, count: 0)
            offerPaymentsLeft = (offer?.payments ?? 1) - 1
        }
    }

    /// The offer that reduces the next payment.
    var nextOffer: AppStoreOffer? {
        redeemed ?? (offerPaymentsLeft > 0 ? current.offer : nil)
    }

    /// Renews after the charge at the end of the current term succeeded.
    mutating func renew(_ ids: TermIds) -> AppStoreEvent {
        let ended = current
        begin(nextTerm(ids, startingAt: ended.end))
        return .renewed(until: current.end, endedTrial: ended.isTrial)
    }

    /// Records that the charge at the end of the current term failed. Sets the grace end, which
    /// never changes later.
    mutating func failToRenew() -> AppStoreEvent {
        let hasGrace = current.product.graceScope == .allRenewals || !current.isTrial
        let graceEnd = hasGrace ? tempo.grace(of: current.product).map { current.end + $0 } : nil
        statedGraceEnd = graceEnd
        phase = graceEnd.map { .grace(until: $0) } ?? .retry
        record(at: current.end)
        return .failedToRenew(graceUntil: graceEnd, retryUntil: retryEnd)
    }

    /// Records that an outstanding charge succeeded. In grace the billing cycle continues
    /// unchanged; after grace a new cycle begins.
    mutating func recover(at instant: Int64, _ ids: TermIds) -> AppStoreEvent {
        let inGrace = if case .grace = phase { true } else { false }
        if inGrace {
            begin(nextTerm(ids, startingAt: current.end), at: instant)
        } else {
            cycle = Cycle(anchor: instant, count: 0)
            begin(nextTerm(ids, startingAt: instant), at: instant)
        }
        return .recovered(until: current.end, inGrace: inGrace)
    }

    /// Starts it again with a new purchase after it had ended.
    mutating func resubscribe(_ purchase: Purchase) -> AppStoreEvent {
        let gap = purchase.term.start - current.end
        if gap > tempo.longestGap { recentStart = purchase.term.start }
        cycle = purchase.cycle
        plan = purchase.plan
        offerPaymentsLeft = purchase.offerPaymentsLeft
        redeemed = nil
        priceIncrease = nil
        renews = true
        begin(purchase.term)
        return .subscribed(until: current.end, trial: current.isTrial, again: true)
    }

    private mutating func nextTerm(_ ids: TermIds, startingAt start: Int64) -> Term {
        if plan.product != current.product { cycle = Cycle(anchor: start, count: 0) }
        let offer = nextOffer
        offerPaymentsLeft = (redeemed?.payments ?? max(offerPaymentsLeft, 1)) - 1
        redeemed = nil
        plan.price = priceIncrease?.price ?? plan.price
        priceIncrease = nil
        return Term(
            ids: ids,
            product: plan.product,
            start: start,
            end: nextEnd(of: offer, startingAt: start),
            offer: offer,
            isRenewal: true,
            price: offer?.price ?? plan.price,
            modifiedAt: start
        )
    }

    /// Returns the end of a term that begins at `start`. After an offer of another length, the
    /// billing cycle begins anew.
    private mutating func nextEnd(of offer: AppStoreOffer?, startingAt start: Int64) -> Int64 {
        let length = offer?.length(of: plan.product) ?? plan.product.period
        guard length == plan.product.period else {
            let end = tempo.period(length).end(of: 1, from: start)
            cycle = Cycle(anchor: end, count: 0)
            return end
        }
        cycle.count += 1
        return tempo.period(length).end(of: cycle.count, from: cycle.anchor)
    }

    private mutating func begin(_ term: Term, at instant: Int64? = nil) {
        precondition(term.start < term.end, "a term ends after it starts")
        terms.append(term)
        terms[terms.count - 1].modifiedAt = instant ?? term.start
        phase = .running
        statedGraceEnd = nil
        record(at: instant ?? term.start)
    }
}

// MARK: - Changing

extension AppStoreSubscription {
    /// Changes to another product now, and refunds the unused part of the old payment.
    mutating func upgrade(_ purchase: Purchase, at instant: Int64) -> AppStoreEvent {
        let old = current
        let refund = StorePrice(
            milliunits: share(of: old.price.milliunits, old.end - instant, of: old.end - old.start),
            currency: old.price.currency
        )
        terms[terms.count - 1].isUpgraded = true
        terms[terms.count - 1].modifiedAt = instant
        cycle = purchase.cycle
        plan = purchase.plan
        offerPaymentsLeft = purchase.offerPaymentsLeft
        redeemed = nil
        priceIncrease = nil
        renews = true
        begin(purchase.term)
        return .upgraded(to: current.product.id, until: current.end, refund: refund)
    }

    private func share(of amount: Int64, _ part: Int64, of whole: Int64) -> Int64 {
        whole.dividingFullWidth(amount.multipliedFullWidth(by: part)).quotient
    }

    /// Selects another product for the next renewal, or selects the current one again.
    mutating func planRenewal(into product: AppStoreProduct) -> AppStoreEvent {
        plan = Plan(product: product, price: product.price)
        redeemed = nil
        offerPaymentsLeft = product == current.product ? offerPaymentsLeft : 0
        priceIncrease = nil
        renews = true
        return product == current.product
            ? .changeDropped(to: product.id) : .downgraded(to: product.id, at: current.end)
    }

    /// Redeems an offer, which reduces the next payment and the others that it covers.
    mutating func redeem(_ offer: AppStoreOffer, for product: AppStoreProduct) -> AppStoreEvent {
        let isSame = product == current.product
        plan = Plan(product: product, price: product.price)
        redeemed = offer
        priceIncrease = nil
        renews = true
        return .offerRedeemed(isSame ? .atRenewal : .downgrade)
    }

    /// Raises the price of the next renewal. If consent is required, it renews only with consent.
    mutating func raisePrice(to price: StorePrice, needsConsent: Bool) -> AppStoreEvent {
        priceIncrease = PriceIncrease(price: price, isAccepted: !needsConsent)
        return .priceRaised(to: price, needsConsent: needsConsent)
    }

    mutating func acceptPrice() -> AppStoreEvent {
        priceIncrease?.isAccepted = true
        return .priceAccepted
    }

    mutating func endForPrice() -> AppStoreEvent {
        end(.priceIncrease, at: current.end)
        return .expired(.priceIncrease)
    }

    /// Ends it, because the product was no longer for sale at the renewal.
    mutating func endUnavailable() -> AppStoreEvent {
        end(.productUnavailable, at: current.end)
        return .expired(.productUnavailable)
    }

    mutating func requestRefund(_ reason: AppStoreAction.RefundRequestReason) -> AppStoreEvent {
        requestedTerm = terms.count - 1
        return .refundRequested(reason)
    }

    mutating func declineRefund() -> AppStoreEvent {
        requestedTerm = nil
        return .refundDeclined
    }
}

// MARK: - Extending

extension AppStoreSubscription {
    /// The number of extensions of a renewal date that `extensionWindow` allows.
    private static let mostExtensions = 2
    private static let extensionWindow = 365 * CivilDate.millisecondsPerDay

    /// Only a running paid period can be extended.
    var isExtendable: Bool { phase == .running && !isRevoked && !current.isTrial }

    func hasExtensionsLeft(at instant: Int64) -> Bool {
        let since = instant - AppStoreSubscription.extensionWindow
        return extensions.count { $0 > since } < AppStoreSubscription.mostExtensions
    }

    /// Moves the renewal date and the billing cycle.
    mutating func extend(byDays days: Int64, at instant: Int64) -> AppStoreEvent {
        extensions.append(instant)
        let end = current.end + days * CivilDate.millisecondsPerDay
        terms[terms.count - 1].end = end
        terms[terms.count - 1].modifiedAt = instant
        cycle = Cycle(anchor: end, count: 0)
        record(at: instant)
        return .renewalExtended(until: end)
    }
}

// MARK: - Ending

extension AppStoreSubscription {
    mutating func endGrace() -> AppStoreEvent {
        if case .grace(let until) = phase {
            phase = .retry
            record(at: until)
        }
        return .graceEnded(retryUntil: retryEnd)
    }

    mutating func endRetry() -> AppStoreEvent {
        end(.billingError, at: retryEnd)
        return .expired(.billingRetry)
    }

    mutating func endVoluntarily() -> AppStoreEvent {
        end(.customerCancelled, at: current.end)
        return .expired(.voluntary)
    }

    /// Turns renewal off. During a running term, only the renewal outlook changes. With a charge
    /// outstanding, the store ends its attempts and the stated grace at once.
    mutating func turnRenewalOff(at instant: Int64) -> [AppStoreEvent] {
        renews = false
        guard phase != .running else { return [.renewalTurnedOff(endsAt: current.end)] }
        statedGraceEnd = nil
        end(.customerCancelled, at: instant)
        return [.renewalTurnedOff(endsAt: instant), .expired(.voluntary)]
    }

    mutating func turnRenewalOn() -> AppStoreEvent {
        renews = true
        return .renewalTurnedOn(renewsAt: current.end)
    }

    /// The term with the payment that the next refund returns: the requested one, or the newest.
    var termToRefund: Int { requestedTerm ?? terms.count - 1 }

    /// The term with a refund that the store can reverse: the newest one, or an earlier one that
    /// was over when the newest began.
    var refundedTerm: Int? {
        terms.indices.last {
            terms[$0].revocation != nil
                && ($0 == terms.count - 1 || terms[$0].end <= current.start)
        }
    }

    /// Refunds a payment. Only the refund of the newest one ends access, and the retries of an
    /// outstanding charge.
    mutating func refund(
        _ reason: AppStoreAction.RefundReason,
        percent: Int64,
        at instant: Int64
    ) -> AppStoreEvent {
        let term = termToRefund
        requestedTerm = nil
        terms[term].revocation = Revocation(refundAt: instant, reason: reason, percent: percent)
        terms[term].modifiedAt = instant
        guard term == terms.count - 1 else { return .refunded(reason: reason) }
        switch phase {
        case .running, .ended: record(at: instant)
        case .grace, .retry: end(.other, at: instant)
        }
        return .refunded(reason: reason)
    }

    /// Reverses the refund of a term; the renewal date does not change.
    mutating func reverseRefund(of term: Int, at instant: Int64) -> AppStoreEvent {
        terms[term].revocation = nil
        terms[term].modifiedAt = instant
        guard term == terms.count - 1 else { return .refundReversed(until: terms[term].end) }
        if phase == .running, current.end <= instant {
            end(.other, at: instant)
        } else {
            record(at: instant)
        }
        return .refundReversed(until: current.end)
    }

    private mutating func end(_ intent: Intent, at instant: Int64) {
        phase = .ended(intent)
        renews = false
        record(at: instant)
    }
}

// MARK: - Sharing

extension AppStoreSubscription {
    /// Creates a family member's share of a purchase, from an instant on.
    init(
        sharing owner: AppStoreSubscription,
        from place: AppStoreMachine.Place,
        _ ids: TermIds,
        at instant: Int64
    ) {
        sharedFrom = place
        tempo = owner.tempo
        plan = owner.plan
        cycle = owner.cycle
        renews = owner.renews
        recentStart = instant
        termsSeen = owner.terms.count
        terms = [owner.current.shared(ids, startingAt: instant, isRenewal: false, at: instant)]
        record(at: instant)
    }

    /// Whether the purchaser has a term that this share has not recorded.
    func lacksTerm(of owner: AppStoreSubscription) -> Bool { owner.terms.count > termsSeen }

    /// Updates the share to the state of the purchase; returns nil if there is no event to report.
    mutating func follow(
        _ owner: AppStoreSubscription,
        _ ids: TermIds?,
        at instant: Int64
    ) -> AppStoreEvent? {
        let event = event(in: owner)
        let term = owner.current
        if let ids {
            if isUpgraded(in: owner) {
                terms[terms.count - 1].isUpgraded = true
                terms[terms.count - 1].modifiedAt = instant
            }
            terms.append(
                term.shared(ids, startingAt: term.start, isRenewal: term.isRenewal, at: instant)
            )
            termsSeen = owner.terms.count
        }
        terms[terms.count - 1].end = term.end
        terms[terms.count - 1].revocation = term.revocation.map {
            Revocation(at: $0.at, reason: .other, isOfShare: true)
        }
        (phase, renews, plan) = (owner.phase, owner.renews, owner.plan)
        statedGraceEnd = owner.statedGraceEnd
        guard let event else { return nil }
        terms[terms.count - 1].modifiedAt = instant
        record(at: instant)
        return event
    }

    /// Returns the event of the purchase since this share was last updated.
    private func event(in owner: AppStoreSubscription) -> AppStoreEvent? {
        let end = owner.current.end
        if lacksTerm(of: owner) { return renewal(in: owner) }
        if owner.isRevoked != isRevoked {
            return owner.isRevoked ? .shareRevoked : .refundReversed(until: end)
        }
        guard owner.phase == phase else { return change(to: owner) }
        return end == current.end ? nil : .renewalExtended(until: end)
    }

    /// Whether an upgrade by the purchaser replaced the newest term of this share.
    private func isUpgraded(in owner: AppStoreSubscription) -> Bool {
        !isRevoked && owner.terms[termsSeen - 1].isUpgraded
    }

    private func renewal(in owner: AppStoreSubscription) -> AppStoreEvent {
        let term = owner.current
        if isUpgraded(in: owner) {
            let nothing = StorePrice(milliunits: 0, currency: term.price.currency)
            return .upgraded(to: term.product.id, until: term.end, refund: nothing)
        }
        // The purchaser bought again after a refund, or has a product again that is shared.
        if isRevoked { return .subscribed(until: term.end, trial: term.isTrial, again: true) }
        switch phase {
        case .ended: return .subscribed(until: term.end, trial: term.isTrial, again: true)
        case .grace: return .recovered(until: term.end, inGrace: true)
        case .retry: return .recovered(until: term.end, inGrace: false)
        case .running: return .renewed(until: term.end, endedTrial: current.isTrial)
        }
    }

    private func change(to owner: AppStoreSubscription) -> AppStoreEvent {
        switch owner.phase {
        case .running: .subscribed(until: owner.current.end, trial: false, again: true)
        case .grace(let until): .failedToRenew(graceUntil: until, retryUntil: owner.retryEnd)
        case .retry where phase == .running:
            .failedToRenew(graceUntil: nil, retryUntil: owner.retryEnd)
        case .retry: .graceEnded(retryUntil: owner.retryEnd)
        case .ended(.billingError): .expired(.billingRetry)
        case .ended(.priceIncrease): .expired(.priceIncrease)
        case .ended(.productUnavailable): .expired(.productUnavailable)
        case .ended(.customerCancelled), .ended(.other): .expired(.voluntary)
        }
    }

    /// Stops the sharing; the share ends for good.
    mutating func unshare(at instant: Int64) -> AppStoreEvent {
        isUnshared = true
        return loseProduct(at: instant)
    }

    /// Ends the share until the purchaser has a product again that can be shared.
    mutating func loseProduct(at instant: Int64) -> AppStoreEvent {
        terms[terms.count - 1].revocation = Revocation(at: instant, reason: .other, isOfShare: true)
        terms[terms.count - 1].modifiedAt = instant
        record(at: instant)
        return .shareRevoked
    }
}

extension AppStoreSubscription.Term {
    /// Returns the same period as a transaction of a family member, who pays nothing.
    fileprivate func shared(
        _ ids: AppStoreSubscription.TermIds,
        startingAt start: Int64,
        isRenewal: Bool,
        at instant: Int64
    ) -> AppStoreSubscription.Term {
        AppStoreSubscription.Term(
            ids: ids,
            product: product,
            start: start,
            end: end,
            offer: offer,
            isRenewal: isRenewal,
            price: StorePrice(milliunits: 0, currency: price.currency),
            modifiedAt: instant
        )
    }
}
