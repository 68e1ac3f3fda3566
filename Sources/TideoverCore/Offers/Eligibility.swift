extension Offer {
    /// Whether it is a free trial. A paid introductory offer is not; a promotional offer or an
    /// offer code may be.
    public var isTrial: Bool { discount == .freeTrial }
}

/// Whether a customer can get an introductory offer. A store gives one per subscription group.
public enum IntroductoryEligibility: String, Hashable, Sendable, CaseIterable {
    /// All the customer's purchases in the group are known, and none used an offer.
    case eligible
    /// An offer was used. A refund does not restore it.
    case used
    /// The customer's purchases in the group are unknown or incomplete. The store must be queried.
    case unknown
}

/// The free trial that a product offers to a customer.
public struct TrialOffer: Hashable, Sendable {
    /// The store that sells the product.
    public var store: Store
    public var productId: String
    public var length: Period
    public var eligibility: IntroductoryEligibility
    /// The price after the trial, if the catalogue states it.
    public var price: Price?
}

extension CustomerHistory {
    /// Returns whether the customer can get an introductory offer of a subscription group in one
    /// store. `group` is the catalogue's name; nil for `store` counts the purchases of all stores.
    ///
    /// Stores count all purchases of the paying account: the customer's, and those of other
    /// customers that the customer's devices presented. Family-shared purchases do not count.
    /// Unknown purchases cannot be ruled out until a device presented all purchases.
    public func introductoryEligibility(
        in group: String,
        of store: Store? = nil,
        at instant: Instant
    ) -> IntroductoryEligibility {
        let own = ownUses(in: group, of: store, at: instant)
        let account = accountUses(in: group, of: store, at: instant)
        for answer in [IntroductoryEligibility.used, .unknown, .eligible]
        where own.contains(answer) || account.contains(answer) { return answer }
        return hasPresented(to: store, at: instant) ? .eligible : .unknown
    }

    /// Returns the eligibility from each purchase that was ever the customer's; nil from one that
    /// is unrelated to the group.
    private func ownUses(
        in group: String,
        of store: Store?,
        at instant: Instant
    ) -> [IntroductoryEligibility?] {
        let own = lineageRecords.map(\.history).filter { history in
            let isOfStore = [store, .revenueCat].contains(history.lineage.store)
            return history.lineage.ownership == .purchased && (store == nil || isOfStore)
        }
        let groups = GroupNames(own, catalogue.value(at: instant))
        return own.map { $0.introductoryUse(in: group, groups, by: instant) }
    }

    private func accountUses(
        in group: String,
        of store: Store?,
        at instant: Instant
    ) -> [IntroductoryEligibility] {
        stores.accountUses(in: group, of: store, catalogue.value(at: instant), by: instant)
    }

    /// Returns why a trial is not offered, if the only cause is another customer's purchase; nil
    /// otherwise.
    func objectionOfAccount(to offer: TrialOffer, at instant: Instant) -> String? {
        guard let group = catalogue.value(at: instant)[offer.productId]?.group else { return nil }
        let own = ownUses(in: group, of: offer.store, at: instant)
        let uses = accountUses(in: group, of: offer.store, at: instant)
        guard !own.contains(.used) else { return nil }
        if uses.contains(.used) {
            return "A device of this customer presented another customer's purchase that used the "
                + "introductory offer. The store gives each account one, so no trial is offered."
        }
        guard uses.contains(.unknown), !own.contains(.unknown) else { return nil }
        return "A device of this customer presented another customer's purchase that may have used "
            + "the introductory offer, so only the store knows whether there is a trial."
    }

    /// Returns whether a device of a store presented all purchases. A device without a stated store
    /// counts if only that store sells the app, or if the customer bought nowhere else.
    private func hasPresented(to store: Store?, at instant: Instant) -> Bool {
        guard let store else { return false }
        if let presentedAt = stores.presented[store], presentedAt <= instant { return true }
        return isReconciled(at: instant) && (stores.selling == [store] || onlyPlatform == store)
    }

    /// The only store with purchases of the customer; nil if there is none, or several.
    private var onlyPlatform: Store? {
        var only: Store?
        for record in lineageRecords {
            let store = record.history.lineage.store
            guard store != only, Store.selling.contains(store) else { continue }
            guard only == nil else { return nil }
            only = store
        }
        return only
    }

    /// Returns the stores with offers for the customer: the device's store; otherwise the only one
    /// that sells the app; otherwise that of the purchases; otherwise all that sell the app.
    private func offering(_ device: Store?) -> [Store] {
        if let device { return [device] }
        if stores.selling.count != 1, let onlyPlatform { return [onlyPlatform] }
        return stores.selling.isEmpty ? Store.selling : stores.selling
    }

    /// Returns the trial that the products of an entitlement offer, the one with the best
    /// eligibility first; nil if there is none. `device` is the store of the customer's device, if
    /// known.
    func trialOffer(
        for entitlement: String,
        at instant: Instant,
        in device: Store?
    ) -> TrialOffer? {
        let offers = offering(device).flatMap { trialOffers(for: entitlement, of: $0, at: instant) }
        return [.eligible, .unknown, .used].lazy.compactMap { eligibility in
            offers.first { $0.eligibility == eligibility }
        }.first
    }

    /// Returns the trials that one store offers, ordered by product ID.
    private func trialOffers(
        for entitlement: String,
        of store: Store,
        at instant: Instant
    ) -> [TrialOffer] {
        let catalogue = catalogue.value(at: instant)
        var known: (group: String, eligibility: IntroductoryEligibility)?
        var offers: [TrialOffer] = []
        for id in catalogue.trials where catalogue.unlocks(id, entitlement) {
            guard let product = catalogue[id], let length = product.trial,
                catalogue.sells(id, in: store)
            else { continue }
            // Most products with a trial are of one group.
            if let group = product.group, known?.group != group {
                known = (group, introductoryEligibility(in: group, of: store, at: instant))
            }
            offers.append(
                TrialOffer(
                    store: store,
                    productId: id,
                    length: length,
                    eligibility: product.group == nil ? .unknown : known?.eligibility ?? .unknown,
                    price: product.fullPrice
                )
            )
        }
        return offers
    }
}

extension LineageHistory {
    /// Returns the eligibility from this lineage alone; nil if it is unrelated to the group.
    fileprivate func introductoryUse(
        in group: String,
        _ groups: GroupNames,
        by instant: Instant
    ) -> IntroductoryEligibility? {
        let begun = seenTerms.filter { $0.term.start <= instant }
        let subscribed = begun.filter { $0.term.plan == .autoRenewable }
        guard begun.isEmpty || !subscribed.isEmpty else { return nil }
        let inGroup = subscribed.filter { groups.isSame(group, as: $0.term) != false }
        guard subscribed.isEmpty || !inGroup.isEmpty else { return nil }
        let isUsed = inGroup.contains {
            $0.term.offer?.kind == .introductory && groups.isSame(group, as: $0.term) == true
        }
        if isUsed { return .used }
        let isClear = inGroup.allSatisfy {
            groups.isSame(group, as: $0.term) == true && $0.isWithoutIntroduction
                && !isTrialByCode($0.term)
        }
        return isClear && isWhole(subscribed, by: instant) ? .eligible : .unknown
    }

    /// Returns the introductory offer of the store account that paid for it: one that was used, or
    /// may have been; nil if none was.
    package func accountOffer(by instant: Instant) -> AccountOffer? {
        guard lineage.ownership == .purchased else { return nil }
        let begun = seenTerms.filter { $0.term.plan == .autoRenewable && $0.term.start <= instant }
        guard let last = begun.last else { return nil }
        let used = begun.first { $0.term.offer?.kind == .introductory }
        let isClear = begun.allSatisfy { $0.isWithoutIntroduction && !isTrialByCode($0.term) }
        if used == nil, isClear, isWhole(begun, by: instant) { return nil }
        return AccountOffer(
            store: lineage.store,
            productId: (used ?? last).term.productId,
            isUsed: used != nil
        )
    }

    /// Whether it is a trial by a promotion code of Google Play. The store does not document
    /// whether the customer can have another trial afterwards.
    private func isTrialByCode(_ term: Term) -> Bool {
        lineage.store == .googlePlay && term.offer?.kind == .code && term.offer?.isTrial == true
    }

    /// Whether no term is missing. The first is a purchase, and each renewal continues at the end
    /// of a term or after its failed payment.
    private func isWhole(_ begun: [TermRecord], by instant: Instant) -> Bool {
        guard let first = begun.first, first.term.origin == .purchase,
            !unseen.contains(where: { $0.firstTold <= instant && isLater($0, than: begun.last) })
        else { return false }
        return zip(begun, begun.dropFirst()).allSatisfy { before, next in
            next.term.origin == .purchase || before.firstFailure != nil
                || (before.end?.isWithin(Self.sameEnd, of: next.term.start) ?? false)
        }
    }

    private func isLater(_ unseen: TermRecord, than last: TermRecord?) -> Bool {
        guard let end = unseen.end, let seen = last?.end else { return true }
        return end > seen + Self.sameEnd
    }
}

extension TermRecord {
    /// Whether the store itself reports that there was no introductory offer.
    fileprivate var isWithoutIntroduction: Bool {
        guard rank == .store else { return false }
        switch term.offer?.kind {
        case nil, .promotional, .code, .winBack: return true
        case .introductory, .unrecognised: return false
        }
    }
}

/// Compares subscription groups. The catalogue and the store name them differently.
private struct GroupNames {
    private let catalogue: Catalogue
    /// The catalogue's name of each store group that contains a known product.
    private var names: [String: String] = [:]

    init(_ histories: [LineageHistory], _ catalogue: Catalogue) {
        self.catalogue = catalogue
        for record in histories.lazy.flatMap(\.seenTerms) {
            guard let stores = record.term.group,
                let name = catalogue[record.term.productId]?.group
            else { continue }
            names[stores] = name
        }
    }

    /// Returns whether a term belongs to a group; nil if that is unknown.
    func isSame(_ group: String, as term: Term) -> Bool? {
        let name = catalogue[term.productId]?.group ?? term.group.flatMap { names[$0] }
        return name.map { $0 == group }
    }
}
