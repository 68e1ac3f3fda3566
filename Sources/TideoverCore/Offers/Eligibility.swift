extension Offer {
    /// Whether it is a free trial. Introductory offers that are paid for are none, and a
    /// promotional offer or an offer code may be one.
    public var isTrial: Bool { discount == .freeTrial }
}

/// Whether a customer can have an introductory offer, which a store gives once in a subscription
/// group.
public enum IntroductoryEligibility: String, Hashable, Sendable, CaseIterable {
    /// All of what the customer bought in the group is known, and it was never with one.
    case eligible
    /// One was used. A refund does not give it back.
    case used
    /// Nothing is known of the customer in the group, or not everything: the store has to be asked.
    case unknown
}

/// The free trial that a product offers, and whether a customer can have it.
public struct TrialOffer: Hashable, Sendable {
    public var productId: String
    public var length: Period
    public var eligibility: IntroductoryEligibility
    /// What the product costs afterwards, where the catalogue says.
    public var price: Price?
}

extension CustomerHistory {
    /// Whether the customer can have an introductory offer of a subscription group, which is named
    /// as the catalogue names it.
    ///
    /// Stores count by the account that pays, over all its purchases: what a family shares is
    /// somebody else's, and what is not known cannot be ruled out.
    public func introductoryEligibility(
        in group: String,
        at instant: Instant
    ) -> IntroductoryEligibility {
        let own = holdings.map(\.history).filter { $0.lineage.ownership == .purchased }
        let groups = GroupNames(own.flatMap(\.seenTerms).map(\.term), catalogue.value(at: instant))
        let uses = own.map { $0.introductoryUse(in: group, groups, by: instant) }
        if uses.contains(.used) { return .used }
        return uses.contains(.unknown) || !uses.contains(.eligible) ? .unknown : .eligible
    }

    /// The trial that the products of an entitlement offer, the one that the customer is likeliest
    /// to have first; nil if none does.
    func trialOffer(for entitlement: String, at instant: Instant) -> TrialOffer? {
        let products = catalogue.value(at: instant).products.sorted { $0.key < $1.key }
        let offers = products.compactMap { id, product -> TrialOffer? in
            guard let length = product.trial, product.entitlements.contains(entitlement) else {
                return nil
            }
            return TrialOffer(
                productId: id,
                length: length,
                eligibility: product.group.map { introductoryEligibility(in: $0, at: instant) }
                    ?? .unknown,
                price: product.fullPrice
            )
        }
        return [.eligible, .unknown, .used].lazy.compactMap { eligibility in
            offers.first { $0.eligibility == eligibility }
        }.first
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
