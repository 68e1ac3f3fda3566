import TideoverCore

/// A production subscription's life in whole days from 1 January 2026.
struct Diary {
    static let monthly = "cards.pro.monthly"
    static let yearly = "cards.pro.yearly"
    static let weekly = "cards.pro.weekly"
    static let catalogue = Catalogue(products: [
        monthly: Product(entitlements: ["premium"], period: Period(iso8601: "P1M")),
        yearly: Product(
            entitlements: ["premium"],
            period: Period(iso8601: "P1Y"),
            price: Money(milliunits: 60_000, currency: "EUR")
        ),
        weekly: Product(entitlements: ["premium"], period: Period(iso8601: "P1W")),
    ])

    let lineage: Lineage
    private(set) var facts: [Fact] = []

    init(_ id: String = "2000000001", ownership: Ownership = .purchased) {
        lineage = Lineage(
            store: .appStore,
            environment: .production,
            id: id,
            ownership: ownership
        )
    }

    static func day(_ n: Int64) -> Instant {
        Instant(millisecondsSince1970: 1_767_225_600_000) + .days(n)
    }

    /// A period, bought or renewed.
    func term(
        _ from: Int64,
        _ until: Int64,
        said: Int64? = nil,
        heard: Int64? = nil,
        rank: Rank = .store,
        trial: Bool = false,
        bought: Bool? = nil,
        product: String = monthly,
        offer: Offer? = nil,
        price: Money? = Money(milliunits: 9990, currency: "USD")
    ) -> Diary {
        let term = Term(
            transactionId: "\(lineage.id)-\(from)",
            productId: product,
            start: Self.day(from),
            end: Self.day(until),
            offer: trial ? Offer(kind: .introductory, discount: .freeTrial) : offer,
            price: price,
            origin: bought ?? facts.isEmpty ? .purchase : .renewal,
            storefront: "USA"
        )
        return adding(.term(term), from, said ?? from, heard, rank)
    }

    /// Adds the store's outlook for the end of a period.
    func outlook(
        of end: Int64,
        said: Int64,
        heard: Int64? = nil,
        renews: Bool = true,
        failing: Bool = false,
        grace: Int64? = nil,
        lapse: Outlook.Lapse? = nil,
        product: String = monthly,
        renewsInto: String? = nil,
        price: Money? = nil,
        offer: Offer? = nil
    ) -> Diary {
        let outlook = Outlook(
            renewalDate: Self.day(end),
            productId: product,
            renewsInto: renewsInto,
            willRenew: renews,
            isRetrying: failing,
            graceEnd: grace.map(Self.day),
            lapse: lapse,
            renewalPrice: price,
            offer: offer
        )
        return adding(.outlook(outlook), said, said, heard, .store)
    }

    /// Adds the store's own state.
    func condition(_ status: Condition.Status, of end: Int64, said: Int64) -> Diary {
        let condition = Condition(status: status, renewalDate: Self.day(end))
        return adding(.condition(condition), said, said, nil, .store)
    }

    /// Adds a refund of the period that began on a day.
    func refund(of from: Int64, on day: Int64) -> Diary {
        let key = TermKey("t:\(lineage.id)-\(from)")
        let revocation = Revocation(term: key, date: Self.day(day), cause: .refund)
        return adding(.revocation(revocation), day, day, nil, .store)
    }

    /// Adds the reversal of the refund of the period that began on a day.
    func reversal(of from: Int64, on day: Int64) -> Diary {
        let reversal = Reversal(term: TermKey("t:\(lineage.id)-\(from)"))
        return adding(.reversal(reversal), day, day, nil, .store)
    }

    private func adding(
        _ assertion: Assertion,
        _ effective: Int64,
        _ said: Int64,
        _ heard: Int64?,
        _ rank: Rank
    ) -> Diary {
        var diary = self
        diary.facts.append(
            Fact(
                lineage: lineage,
                assertion: assertion,
                effectiveAt: Self.day(effective),
                assertedAt: Self.day(said),
                learnedAt: Self.day(heard ?? said),
                rank: rank,
                source: .appStoreNotification,
                evidence: EvidenceID(hex: "\(lineage.id)-\(facts.count)")
            )
        )
        return diary
    }

    func timeline(until day: Int64) -> LineageTimeline {
        LineageTimeline(
            lineage: lineage,
            facts: facts,
            catalogue: Versioned(Self.catalogue),
            policy: Versioned(Policy()),
            until: Self.day(day)
        )
    }

    func lockouts(until day: Int64) -> Lockouts {
        Lockouts(
            lineage: lineage,
            facts: facts,
            entitlement: "premium",
            until: Self.day(day),
            catalogue: Versioned(Self.catalogue),
            policy: Versioned(Policy())
        )
    }
}
