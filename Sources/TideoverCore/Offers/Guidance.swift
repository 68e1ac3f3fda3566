/// The advice and the messages that accompany a standing.
public struct Guidance: Hashable, Sendable {
    /// Nil if there is nothing to do.
    public var advice: Advice?
    /// The message of a screen on this entitlement; nil if none is needed.
    public var wording: Wording?
    /// The free trial that its products offer; nil if there is none.
    public var trialOffer: TrialOffer?
    /// The purchases that each charge for it; empty unless there are at least two.
    public var chargedTwice: [Charge]

    /// A purchase that charges for the same entitlement as another one.
    public struct Charge: Hashable, Sendable {
        public var lineage: Lineage
        public var productId: String?
        public var state: State
        /// The page to cancel it; nil if unknown.
        public var url: String?
    }
}

extension CustomerHistory {
    /// Returns the standings of every lineage that the customer owns at an instant, for advice.
    func counsel(on entitlement: String, at instant: Instant) -> Counsel {
        Counsel(
            standings: standings(of: entitlement, at: instant),
            isPending: !pending(for: entitlement, at: instant).isEmpty
        )
    }

    func history(of standing: Standing) -> LineageHistory? {
        lineageRecords.first { $0.history.lineage == standing.lineage }?.history
    }

    /// Returns the guidance for a customer with this `standing` for an entitlement, from the
    /// counsel on it at the same instant.
    func guidance(
        on entitlement: String,
        _ standing: Standing,
        _ counsel: Counsel,
        at instant: Instant,
        in store: Store? = nil
    ) -> Guidance {
        let package = googlePlayPackage
        let advice = advice(on: entitlement, by: counsel, at: instant, package: package)
        let trialOffer = trialOffer(for: entitlement, at: instant, in: store)
        let charges = counsel.charging(in: catalogue.value(at: instant)).compactMap { standing in
            standing.lineage.map { lineage in
                Guidance.Charge(
                    lineage: lineage,
                    productId: standing.productId,
                    state: standing.state,
                    url: StoreLink.manage(standing, package: package)
                )
            }
        }
        let screen =
            screen(for: entitlement, standing, counsel, advice, at: instant)
            ?? (charges.isEmpty ? nil : .chargedTwice)
            ?? trialOffer.flatMap { $0.screen(for: standing) }
        let isFast = history(of: standing).map { $0.pace != .real } ?? false
        return Guidance(
            advice: advice,
            wording: screen.map { Wording($0, showsTimes: isFast) },
            trialOffer: trialOffer,
            chargedTwice: charges
        )
    }

    // MARK: Advice

    private func advice(
        on entitlement: String,
        by counsel: Counsel,
        at instant: Instant,
        package: String?
    ) -> Advice? {
        guard var (kind, standing) = counsel.advice else { return nil }
        if kind == .purchase,
            let failing = counsel.own.compactMap({ failing($0, for: entitlement, at: instant) })
                .first
        {
            (kind, standing) = (.fixPayment, failing)
        }
        let renewal = renewal(of: standing, for: entitlement, at: instant)
        let catalogue = catalogue.value(at: instant)
        var advice = Advice(
            kind: kind,
            productId: renewal.productId,
            price: renewal.price(in: catalogue)
        )
        switch kind {
        case .reEnableRenewal:
            let charged = decisionBasis(of: standing, for: entitlement, at: instant)?.chargedUntil
            advice.chargedAt = charged ?? standing.accessUntil
            advice.url = StoreLink.manage(standing, package: package)
        case .fixPayment: advice.url = StoreLink.payment(for: standing, package: package)
        case .resume: advice.url = StoreLink.manage(standing, package: package)
        case .purchase:
            let isSold = standing.reason != .productUnavailable
            let product = isSold ? standing.productId.flatMap { catalogue[$0] } : nil
            advice.productId = product == nil ? nil : standing.productId
            advice.price =
                renewal.productId == advice.productId
                ? renewal.fullPrice(in: catalogue) : product?.fullPrice
        case .wait:
            advice.productId = standing.productId
            advice.price = nil
        }
        return advice
    }

    /// Returns the lineage's own standing if a payment failed for a product that unlocks the
    /// entitlement; nil otherwise.
    private func failing(
        _ standing: Standing,
        for entitlement: String,
        at instant: Instant
    ) -> Standing? {
        let own = history(of: standing)?.standing(at: instant, policy: policy)
        guard let own, own.isFailing,
            let product = renewal(of: standing, for: entitlement, at: instant).productId,
            catalogue.value(at: instant).unlocks(product, entitlement)
        else { return nil }
        return own
    }

    private func renewal(
        of standing: Standing,
        for entitlement: String,
        at instant: Instant
    ) -> Renewal {
        decisionBasis(of: standing, for: entitlement, at: instant)?.renewal ?? Renewal()
    }

    private func decisionBasis(
        of standing: Standing,
        for entitlement: String,
        at instant: Instant
    ) -> DecisionBasis? {
        history(of: standing)?.decisionBasis(
            for: entitlement,
            at: instant,
            policy: policy,
            catalogue: catalogue.value(at: instant)
        )
    }

    // MARK: Screens

    private func screen(
        for entitlement: String,
        _ standing: Standing,
        _ counsel: Counsel,
        _ advice: Advice?,
        at instant: Instant
    ) -> MessageContext? {
        let isShared = standing.lineage?.ownership == .familyShared && advice == nil
        switch standing.state {
        case .active: return activeScreen(for: entitlement, standing, advice, at: instant)
        case .grace:
            return isShared ? .graceShared : graceScreen(for: entitlement, standing, at: instant)
        case .hold where standing.isPaused && advice?.kind != .fixPayment: return .paused
        case .hold:
            guard advice?.kind == .fixPayment else { return .holdShared }
            // Another purchase may be the one that waits for its payment.
            return holdScreen(for: entitlement, counsel.advice?.about ?? standing, at: instant)
        case .expired, .never:
            if advice?.kind == .wait { return counsel.isPending ? .pending : .unconfirmed }
            guard standing.state == .expired else { return nil }
            if advice?.kind == .fixPayment { return .hold }
            return isShared ? .expiredShared : .expired(price: advice?.price)
        }
    }

    /// Returns the screen of a failed payment with access. A payment for a lesser product does not
    /// keep the access.
    func graceScreen(
        for entitlement: String,
        _ standing: Standing,
        at instant: Instant
    ) -> MessageContext {
        isLosing(entitlement, standing, at: instant)
            ? .graceChanging : .grace(until: standing.graceUntil)
    }

    /// Returns the screen of a failed payment without access. A payment for a lesser product does
    /// not bring the access back.
    func holdScreen(
        for entitlement: String,
        _ standing: Standing,
        at instant: Instant
    ) -> MessageContext {
        isLosing(entitlement, standing, at: instant) ? .holdChanging : .hold
    }

    /// Returns whether the purchase renews into a product that does not unlock the entitlement.
    private func isLosing(
        _ entitlement: String,
        _ standing: Standing,
        at instant: Instant
    ) -> Bool {
        let catalogue = catalogue.value(at: instant)
        return decisionBasis(of: standing, for: entitlement, at: instant)?
            .isLosing(entitlement, standing, in: catalogue) ?? false
    }

    private func activeScreen(
        for entitlement: String,
        _ standing: Standing,
        _ advice: Advice?,
        at instant: Instant
    ) -> MessageContext? {
        guard standing.lineage?.ownership == .purchased else { return nil }
        let isOff = advice?.kind == .reEnableRenewal
        guard isOff || standing.trial != nil else { return nil }
        let decisionBasis = decisionBasis(of: standing, for: entitlement, at: instant)
        let charged = decisionBasis?.chargedUntil
        // With the next period charged already, a trial is not cancelled.
        guard let trial = standing.trial, charged == nil || !isOff else {
            return (charged ?? standing.accessUntil).map { .cancelled(until: $0) }
        }
        if standing.willRenew == false { return .trialCancelled(endsAt: trial.endsAt) }
        // Without consent nothing is charged, neither the higher price nor the former one.
        if standing.awaitsConsent, decisionBasis?.laterPrice(than: trial.endsAt) == nil {
            return .priceConsent
        }
        let renewal = decisionBasis?.renewal ?? Renewal()
        let price = renewal.price(in: catalogue.value(at: instant))
        if trial.urgent { return .trialEnding(endsAt: trial.endsAt, price: price) }
        return .trialRunning(
            endsAt: trial.endsAt,
            cancelBy: trial.cancelBy,
            daysLeft: trial.daysLeft,
            price: price
        )
    }
}

extension TrialOffer {
    /// Returns the trial offer screen, only if the customer is eligible and had no earlier
    /// standing.
    fileprivate func screen(for standing: Standing) -> MessageContext? {
        guard standing.state == .never, eligibility == .eligible else { return nil }
        return .trialOffer(length: length, price: price)
    }
}
