extension Offer {
    /// Whether it is a free trial. Introductory offers that are paid for are none, and a
    /// promotional offer or an offer code may be one.
    public var isTrial: Bool { discount == .freeTrial }
}

/// Whether a customer can have an introductory offer, which a store gives once in a subscription
/// group.
public enum IntroductoryEligibility: String, Hashable, Sendable, CaseIterable {
    /// All purchases of the customer in the group are known, and none was with one.
    case eligible
    /// One was used. A refund does not give it back.
    case used
    /// Nothing is known of the customer in the group, or not everything: the store has to be asked.
    case unknown
}

/// The free trial that a product offers, and whether a customer can have it.
public struct TrialOffer: Hashable, Sendable {
    /// The store that sells the product.
    public var store: Store
    public var productId: String
    public var length: Period
    public var eligibility: IntroductoryEligibility
    /// What the product costs afterwards, where the catalogue says.
    public var price: Price?
}

extension CustomerHistory {
    /// Whether the customer can have an introductory offer of a subscription group, which is named
    /// as the catalogue names it, in one store; nil counts the purchases of all stores.
    ///
    /// Stores count by the account that pays, over all its purchases. Purchases that a family shares
    /// do not count, and unknown purchases cannot be ruled out until a device presented everything.
    public func introductoryEligibility(
        in group: String,
        of store: Store? = nil,
        at instant: Instant
    ) -> IntroductoryEligibility {
        let own = holdings.map(\.history).filter { history in
            let isOfStore = [store, .revenueCat].contains(history.lineage.store)
            return history.lineage.ownership == .purchased && (store == nil || isOfStore)
        }
        let groups = GroupNames(own.flatMap(\.seenTerms).map(\.term), catalogue.value(at: instant))
        let uses = own.map { $0.introductoryUse(in: group, groups, by: instant) }
        for answer in [IntroductoryEligibility.used, .unknown, .eligible]
        where uses.contains(answer) { return answer }
        return hasPresented(to: store, at: instant) ? .eligible : .unknown
    }

    /// Whether a device of a store presented everything. A device that did not name its store counts
    /// where the app is sold in that store alone, or where the customer bought nowhere else.
    private func hasPresented(to store: Store?, at instant: Instant) -> Bool {
        guard let store else { return false }
        if let presentedAt = stores.presented[store], presentedAt <= instant { return true }
        return isReconciled(at: instant) && (stores.selling == [store] || platforms == [store])
    }

    /// The stores that the customer has purchases in.
    private var platforms: Set<Store> {
        Set(holdings.map(\.history.lineage.store)).intersection([.appStore, .googlePlay])
    }

    /// The stores with offers for the customer: that of the device, else that of the purchases, else
    /// all that sell the app.
    private func offering(_ device: Store?) -> [Store] {
        if let device { return [device] }
        if platforms.count == 1 { return Array(platforms) }
        return stores.selling.isEmpty ? [.appStore, .googlePlay] : stores.selling
    }

    /// The trial that the products of an entitlement offer, the one that the customer is likeliest
    /// to have first; nil if none does. `device` is the store of the customer's device, if known.
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

    /// The trials that one store offers, in the order of product ids.
    private func trialOffers(
        for entitlement: String,
        of store: Store,
        at instant: Instant
    ) -> [TrialOffer] {
        let catalogue = catalogue.value(at: instant)
        return catalogue.products.sorted { $0.key < $1.key }.compactMap {
            id,
            product -> TrialOffer? in
            guard let length = product.trial, product.entitlements.contains(entitlement),
                catalogue.sells(id, in: store)
            else { return nil }
            return TrialOffer(
                store: store,
                productId: id,
                length: length,
                eligibility: product.group.map {
                    introductoryEligibility(in: $0, of: store, at: instant)
                } ?? .unknown,
                price: product.fullPrice
            )
        }
    }
}

extension LineageHistory {
    /// What this lineage alone says of introductory offers in a group; nil if it has nothing to do
    /// with the group.
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
        }
        return isClear && isWhole(subscribed, by: instant) ? .eligible : .unknown
    }

    /// Whether no term is missing: it begins with a purchase, and each renewal goes on where a term
    /// ended or its payment had failed.
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
    /// Whether the store's own words rule an introductory offer out.
    fileprivate var isWithoutIntroduction: Bool {
        guard rank == .store else { return false }
        switch term.offer?.kind {
        case nil, .promotional, .code, .winBack: return true
        case .introductory, .unrecognised: return false
        }
    }
}

/// Tells subscription groups apart, which the catalogue names otherwise than the store does.
private struct GroupNames {
    private let catalogue: Catalogue
    /// The catalogue's name of each of the store's groups that a known product lies in.
    private var names: [String: String] = [:]

    init(_ terms: [Term], _ catalogue: Catalogue) {
        self.catalogue = catalogue
        for term in terms {
            guard let stores = term.group, let name = catalogue[term.productId]?.group else {
                continue
            }
            names[stores] = name
        }
    }

    /// Nil where it cannot be told.
    func isSame(_ group: String, as term: Term) -> Bool? {
        let name = catalogue[term.productId]?.group ?? term.group.flatMap { names[$0] }
        return name.map { $0 == group }
    }
}
