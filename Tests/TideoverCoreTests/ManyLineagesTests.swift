import Testing
import TideoverCore
import TideoverLives

/// Customers with several purchases.
@Suite struct ManyLineagesTests {
    private static let start: Instant = "2026-02-01"

    // MARK: Following the best standing

    /// Returns a standing of the lineage at a position; nil if it is not owned. Many are equally
    /// good.
    private static func standing(_ position: Int, _ random: inout SeededRandom) -> Standing? {
        guard Int.random(in: 0..<5, using: &random) > 0 else { return nil }
        let states: [State] = [.active, .active, .grace, .hold, .expired, .never]
        let confidences: [Confidence] = [.confirmed, .confirmed, .presumed, .unknown]
        let rules: [Rule.ID] = [.inTerm, .inTerm, .ended, .pending]
        let lasts = Bool.random(using: &random)
        return Standing(
            state: states.randomElement(using: &random) ?? .never,
            reason: .paid,
            accessUntil: lasts ? start + .days(Int64.random(in: 0..<9, using: &random)) : nil,
            confidence: confidences.randomElement(using: &random) ?? .unknown,
            rule: rules.randomElement(using: &random) ?? .inTerm,
            lineage: Life("\(position)").lineage
        )
    }

    private static func confirmedEnd(_ standings: [Standing?]) -> Instant {
        let confirmed = standings.compactMap(\.self).filter {
            $0.access && $0.confidence == .confirmed
        }
        return confirmed.map { $0.accessUntil ?? .distantFuture }.max() ?? .distantPast
    }

    @Test(arguments: [0, 1, 2, 3, 5, 8, 13])
    func `the best of changing standings is the best of all of them`(count: Int) {
        for seed in UInt64(1)...20 {
            var random = SeededRandom(seed: seed)
            var standings = (0..<count).map { Self.standing($0, &random) }
            let changes = (0..<3 * count).map { number in
                BestOverTime.Change(
                    at: Self.start + .hours(Int64(number / 2)),
                    position: Int.random(in: 0..<count, using: &random)
                )
            }
            var lineages = BestOverTime(standings, changes)
            #expect(lineages.best == standings.compactMap(\.self).best)
            for change in changes {
                lineages.move(to: change.at) { position in
                    standings[position] = Self.standing(position, &random)
                    return standings[position]
                }
                #expect(lineages.best == standings.compactMap(\.self).best, "seed \(seed)")
                #expect(lineages.confirmedEnd == Self.confirmedEnd(standings), "seed \(seed)")
            }
        }
    }

    @Test func `only a lineage that may have changed is evaluated again`() {
        let changes = (0..<300).map { number in
            BestOverTime.Change(at: Self.start + .hours(Int64(number)), position: number % 100)
        }
        let none = [Standing?](repeating: nil, count: 100)
        var evaluated: [Int] = []
        var stepwise = BestOverTime(none, changes)
        for change in changes {
            stepwise.move(to: change.at) { position in
                evaluated.append(position)
                return nil
            }
        }
        #expect(evaluated == changes.map(\.position))
        evaluated = []
        var atOnce = BestOverTime(none, changes)
        for _ in 0..<2 {
            atOnce.move(to: Self.start + .hours(300)) { position in
                evaluated.append(position)
                return nil
            }
        }
        #expect(evaluated == Array(0..<100))
    }

    // MARK: The answer

    private static func pass(_ id: String, from start: Instant) -> Life {
        var pass = Life(id)
        pass.term("1", "pass", from: start, to: nil, plan: .nonRenewing, origin: .purchase)
        return pass
    }

    @Test func `access lasts until the last of many passes ends`() throws {
        let passes = (0..<40).map { number in
            Self.pass("\(1000 + number)", from: Self.start + .days(30 * Int64(number)))
        }
        let first = try SnapshotTests.premium(passes, at: Self.start + .days(1))
        let end = Self.start + .days(30 * 40)
        #expect(first.standing.accessUntil == Self.start + .days(30))
        #expect(first.accessUntil == end)
        #expect(first.nextChange == end)
        let broken = try SnapshotTests.premium(
            passes.filter { $0.lineage.id != "1020" },
            at: Self.start + .days(1)
        )
        #expect(broken.accessUntil == Self.start + .days(30 * 20))
        #expect(broken.nextChange == Self.start + .days(30 * 20))
    }

    private static func life(_ number: Int, _ random: inout SeededRandom) -> Life {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return GeneratedLife(&random).life
        case 1: return GeneratedPlayLife(&random).life
        default:
            let day = Int64.random(in: 0..<120, using: &random)
            return pass("pass \(number)", from: start + .days(day))
        }
    }

    /// Returns one or two owners, one after the other.
    private static func owners(
        of life: Life,
        _ random: inout SeededRandom
    ) -> [OwnershipEntry] {
        let customers = [SnapshotTests.anna, SnapshotTests.ben].shuffled(using: &random)
        let day = Int64.random(in: 0..<120, using: &random)
        let entries = [
            OwnershipEntry(
                lineage: life.lineage,
                customer: customers[0],
                from: .distantPast,
                why: .claimed
            ),
            OwnershipEntry(
                lineage: life.lineage,
                customer: customers[1],
                from: start + .days(day),
                why: .transferred
            ),
        ]
        let isMoved = Int.random(in: 0..<3, using: &random) == 0
        return isMoved || customers[0] == SnapshotTests.ben ? entries : [entries[0]]
    }

    /// Returns a customer with several purchases, under a policy and a catalogue that change.
    private static func customer(_ random: inout SeededRandom) throws -> CustomerHistory {
        let days = (0..<4).map { _ in
            start + .days(Int64.random(in: 0..<150, using: &random))
        }
        var products = Life().catalogue.products
        products["pass"]?.entitlements = ["premium", "archive"]
        let catalogue = try #require(
            Versioned(versions: [
                .init(Life().catalogue, effectiveAt: .distantPast, learnedAt: .distantPast),
                .init(Catalogue(products: products), effectiveAt: days[0], learnedAt: days[0]),
            ])
        )
        let kept = Policy(billingRetry: .keep(.days(7)), unreachable: .days(5))
        let policy = try #require(
            Versioned(versions: [
                .init(Policy(), effectiveAt: .distantPast, learnedAt: .distantPast),
                .init(kept, effectiveAt: days[1], learnedAt: days[1]),
            ])
        )
        let lineageRecords = (0..<Int.random(in: 1...6, using: &random)).map { number in
            let life = life(number, &random)
            return OwnedHistory(
                history: LineageHistory(
                    lineage: life.lineage,
                    facts: life.facts,
                    catalogue: catalogue
                ),
                owners: owners(of: life, &random)
            )
        }
        let alias = CustomerAlias(
            alias: SnapshotTests.ben,
            customer: SnapshotTests.anna,
            from: days[2],
            by: "test"
        )
        return CustomerHistory(
            customer: SnapshotTests.anna,
            aliases: Int.random(in: 0..<4, using: &random) == 0 ? [alias] : [],
            environment: .production,
            lineageRecords: lineageRecords,
            catalogue: catalogue,
            policy: policy,
            reconciledAt: Bool.random(using: &random) ? days[3] : nil
        )
    }

    @Test func `next change and end of access equal their definition`() async throws {
        for seed in TimelinePropertyTests.seeds.prefix(15) {
            await Task.yield()
            var random = SeededRandom(seed: seed)
            let history = try Self.customer(&random)
            let definition = Definition(history)
            for _ in 0..<4 {
                let edge = try #require(definition.instants.randomElement(using: &random))
                let instant = Bool.random(using: &random) ? edge : edge.justBefore
                for found in history.snapshot(at: instant).entitlements {
                    let name = found.name
                    let comment: Comment = "seed \(seed) at \(instant.rfc3339): \(name)"
                    let best = definition.best(of: name, at: instant)
                    #expect(found.standing == best, comment)
                    let change = definition.nextChange(of: name, after: instant)
                    #expect(found.nextChange == change, comment)
                    let end = definition.accessEnd(of: name, from: instant)
                    #expect(found.accessUntil == end, comment)
                }
            }
        }
    }
}

/// The answer by its definition: every purchase is evaluated at every instant.
private struct Definition {
    private let history: CustomerHistory
    /// Every instant at which anything may change, in order.
    let instants: [Instant]

    init(_ history: CustomerHistory) {
        self.history = history
        let policies = history.policy.versions
        let ofLineages = history.lineageRecords.flatMap { lineageRecord in
            policies.flatMap { lineageRecord.history.boundaries(policy: $0.value) }
                + lineageRecord.owners.flatMap { [$0.from, $0.until].compactMap(\.self) }
        }
        let shared =
            policies.map(\.effectiveAt) + history.catalogue.versions.map(\.effectiveAt)
            + history.identity.instants + [history.reconciledAt].compactMap(\.self)
        instants = Set(ofLineages + shared).sorted()
    }

    private func standings(of entitlement: String, at instant: Instant) -> [Standing] {
        history.lineageRecords.filter { history.identity.owns($0.owners, at: instant) }.map {
            $0.history.standing(
                of: entitlement,
                at: instant,
                policy: history.policy,
                catalogue: history.catalogue.value(at: instant)
            )
        }
    }

    func best(of entitlement: String, at instant: Instant) -> Standing {
        let isReconciled = history.reconciledAt.map { $0 <= instant } ?? false
        let none = Standing(
            state: .never,
            reason: .unknown,
            confidence: isReconciled ? .confirmed : .unknown,
            rule: .noFacts
        )
        return standings(of: entitlement, at: instant).best ?? none
    }

    func nextChange(of entitlement: String, after instant: Instant) -> Instant? {
        let now = best(of: entitlement, at: instant)
        return instants.first { later in
            guard later > instant else { return false }
            let then = best(of: entitlement, at: later)
            return then.state != now.state || then.reason != now.reason
                || then.confidence != now.confidence
        }
    }

    func accessEnd(of entitlement: String, from instant: Instant) -> Instant? {
        let now = best(of: entitlement, at: instant)
        guard now.access else { return now.accessUntil }
        let until = now.accessUntil.map { unbrokenEnd(of: entitlement, from: instant, or: $0) }
        let lost = instants.first {
            $0 > instant && $0 < until ?? .distantFuture
                && !best(of: entitlement, at: $0).access
        }
        return lost ?? (until == .distantFuture ? nil : until)
    }

    /// Returns the end of confirmed access that goes on where another purchase has a later end.
    private func unbrokenEnd(
        of entitlement: String,
        from instant: Instant,
        or first: Instant
    ) -> Instant {
        var until = confirmedEnd(of: entitlement, at: instant) ?? first
        while let later = confirmedEnd(of: entitlement, at: until), later > until { until = later }
        return until
    }

    private func confirmedEnd(of entitlement: String, at instant: Instant) -> Instant? {
        standings(of: entitlement, at: instant).filter {
            $0.access && $0.confidence == .confirmed
        }.map { $0.accessUntil ?? .distantFuture }.max()
    }
}
