import TideoverCore
import TideoverJSON

extension Law {
    static let settling = Law(
        name: "settling",
        sentence: "leaving out settled purchases, all but the first, changes nothing"
    ) { life, trial in
        var random = trial.random
        let purse = Purse(beside: life, &random)
        let all = purse.record
        let settled = all.settledPurchases
        let expected = purse.plain + max(0, purse.plainOnPlay - 1)
        guard settled.count == expected else {
            return "\(settled.count) settled purchases where \(expected) are"
        }
        guard let first = settled.map(\.lineage).min(), let since = settled.map(\.since).max()
        else {
            return nil
        }
        let left = Set(settled.map(\.lineage)).subtracting([first])
        let fewer = purse.record { !left.contains($0.lineage) }
        return all.difference(from: fewer, since: since)
    }
}

/// A customer's other purchases: consumables, and purchases that only resemble them.
private struct Purse {
    private let life: Life
    private var lineageRecords: [CustomerRecord.LineageRecord] = []
    /// The numbers of used consumables in each store.
    private(set) var plain = 0
    private(set) var plainOnPlay = 0

    private static let anna = CustomerID("anna").unsafelyUnwrapped
    private static let ben = CustomerID("ben").unsafelyUnwrapped

    init(beside life: Life, _ random: inout SeededRandom) {
        self.life = life
        add(life.facts, of: life.lineage)
        for number in 0..<6 {
            let id = "\(Int.random(in: 0..<9, using: &random))\(number)5"
            let days = Int64.random(in: 0..<400, using: &random)
            let start = "2026-01-15" + Milliseconds.days(days)
            if Int.random(in: 0..<3, using: &random) == 0 {
                buyOnPlay(id, at: start, &random)
            } else {
                let purchase = Life(id, environment: life.lineage.environment)
                buy(purchase, at: start, &random)
            }
        }
    }

    private mutating func buy(
        _ purchase: Life,
        at start: Instant,
        _ random: inout SeededRandom
    ) {
        var other = purchase
        var rank = Rank.store
        let kind = Int.random(in: 0..<11, using: &random)
        switch kind {
        case 0:
            other.lineage.ownership = .familyShared
        case 1:
            rank = .relayed
        case 2:
            other.term("x", "lifetime", from: start, to: nil, plan: .nonConsumable)
        case 3:
            other.say(.pending(PendingPurchase(id: "p", productId: "coins")), at: start)
        case 4:
            other.term("x", "coins", from: start, to: nil, plan: .consumable, revoked: true)
        default: break
        }
        other.term("x", "coins", from: start, to: nil, plan: .consumable, rank: rank)
        if kind == 5 { other.facts[0].source = .appReceipt }
        if kind >= 7 { plain += 1 }
        add(other.facts, of: other.lineage, lost: kind == 6 ? start + .days(1) : nil)
    }

    private mutating func buyOnPlay(
        _ id: String,
        at start: Instant,
        _ random: inout SeededRandom
    ) {
        var purchase = Life.play(id, environment: life.lineage.environment)
        let used = start + .hours(2)
        purchase.bought(.purchased, "coins", at: start, paid: start)
        switch Int.random(in: 0..<7, using: &random) {
        case 0: break
        case 1:
            purchase.bought(.purchased, "coins", at: used, paid: start, consumed: true)
            purchase.bought(.cancelled, "coins", at: start + .days(3), paid: start, consumed: true)
        case 2:
            purchase.bought(.purchased, "coins", at: used, paid: start, consumed: true)
            purchase.void("GPA.9", at: start + .days(3), "p")
        case 3: purchase.bought(.purchased, "lifetime", at: used, paid: start, consumed: true)
        default:
            purchase.bought(.purchased, "coins", at: used, paid: start, consumed: true)
            plainOnPlay += 1
        }
        add(purchase.facts, of: purchase.lineage)
    }

    private mutating func add(_ facts: [Fact], of lineage: Lineage, lost: Instant? = nil) {
        let first = OwnershipEntry(
            lineage: lineage,
            customer: Self.anna,
            from: .distantPast,
            why: .claimed
        )
        let second = lost.map {
            OwnershipEntry(lineage: lineage, customer: Self.ben, from: $0, why: .transferred)
        }
        let owners = [first, second].compactMap(\.self)
        lineageRecords.append(
            CustomerRecord.LineageRecord(lineage: lineage, facts: facts, owners: owners)
        )
    }

    var record: CustomerRecord { record { _ in true } }

    func record(of isMeant: (CustomerRecord.LineageRecord) -> Bool) -> CustomerRecord {
        CustomerRecord(
            customer: Self.anna,
            environment: life.lineage.environment,
            lineageRecords: lineageRecords.filter(isMeant),
            catalogue: Versioned(life.catalogue),
            policy: Versioned(life.policy)
        )
    }
}

extension CustomerRecord {
    /// The number of boundaries at which two records are compared. Most belong to the life, which
    /// is complete in both records.
    private static let probes = 12

    private func boundaries(after instant: Instant) -> [Instant] {
        let all = history.lineageRecords.flatMap { lineageRecord in
            policy.versions.flatMap { lineageRecord.history.boundaries(policy: $0.value) }
        }
        return Set(all).filter { $0 > instant }.sorted()
    }

    /// Returns a different answer or event of another record, at this record's boundaries from an
    /// instant on. Includes the boundaries of the omitted purchases.
    fileprivate func difference(from other: CustomerRecord, since: Instant) -> String? {
        let (history, rest) = (history, other.history)
        let ahead = boundaries(after: since)
        for instant in [since] + ahead.spread(over: Self.probes) {
            let at = "at \(instant.rfc3339)"
            let (answer, fewer) = (history.snapshot(at: instant), rest.snapshot(at: instant))
            guard answer == fewer else { return "\(at) the answer differs" }
            guard answer.validUntil == fewer.validUntil else { return "\(at) it lasts otherwise" }
            guard
                history.pass(on: answer, version: 1, issuer: "i", audience: "a").claims
                    == rest.pass(on: fewer, version: 1, issuer: "i", audience: "a").claims
            else { return "\(at) the pass differs" }
        }
        for until in [since] + ahead.prefix(3) {
            let at = "by \(until.rfc3339)"
            let story = CustomerTimeline(self, history, until: until)
            let fewer = CustomerTimeline(other, rest, until: until)
            guard story.issues == fewer.issues else { return "\(at) the billing issues differ" }
            let told = story.transitions.prefix(story.transitions.count / 2).map(\.id) + ["gone"]
            guard story.news(since: told) == fewer.news(since: told) else {
                return "\(at) the events differ"
            }
        }
        return nil
    }
}

extension [Instant] {
    /// Returns at most `count` of them, including the first, at equal distances in the list.
    fileprivate func spread(over count: Int) -> [Instant] {
        stride(from: 0, to: self.count, by: Swift.max(1, self.count / count)).prefix(count)
            .map { self[$0] }
    }
}
