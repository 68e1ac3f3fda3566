import TideoverCore
import TideoverStorage

/// A device's report about a customer, for the derivation inside `commit`.
struct HeardReport: Sendable {
    let key: CustomerKey
    let report: DeviceReport
}

extension Projector {
    /// Returns the customer's drifts that begin, end or change. Without a report it returns none,
    /// unless some are open.
    func drift(
        _ lineages: CustomerLineages,
        _ record: CustomerRecord,
        _ history: CustomerHistory,
        _ snapshot: Snapshot
    ) -> [Drift] {
        let report = heard.flatMap { $0.key == lineages.key ? $0.report : nil }
        guard report != nil || !lineages.openDrift.isEmpty else { return [] }
        let before = report.map { _ in record.asKnown(at: lineages.now - Milliseconds(1)) }
        let judge = DriftJudge(
            customer: lineages.key.customer,
            environment: lineages.key.environment,
            now: lineages.now,
            report: report,
            before: before.map { $0.words(in: $0.history.snapshot(at: snapshot.asOf)) } ?? [:],
            after: record.words(in: snapshot),
            byDeviceClock: report?.conclusion.at.map {
                record.words(in: history.snapshot(at: $0))
            } ?? [:],
            news: record.news(at: lineages.now),
            asked: record.asked
        )
        return judge.drifts(open: lineages.openDrift)
    }
}

extension CustomerRecord {
    /// Returns the answer of a snapshot for each entitlement, with the date of the store's newest
    /// assertion about it.
    fileprivate func words(in snapshot: Snapshot) -> [String: ServerWord] {
        let pairs = snapshot.entitlements.map { entitlement in
            let standing = entitlement.standing
            let word = ServerWord(
                state: standing.state,
                confidence: standing.confidence,
                until: entitlement.accessUntil,
                productId: standing.productId,
                lineage: standing.lineage,
                saidAt: standing.lineage.flatMap(newestWord)
            )
            return (entitlement.name, word)
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    private func newestWord(on lineage: Lineage) -> Instant? {
        lineageRecords.first { $0.lineage == lineage }?.facts.lazy.filter(\.isAnswered)
            .map(\.assertedAt).max()
    }

    /// When the store last answered a query about each lineage.
    fileprivate var asked: [Lineage: Instant] {
        var asked: [Lineage: Instant] = [:]
        for lineageRecord in lineageRecords {
            asked[lineageRecord.lineage] =
                lineageRecord.facts.lazy.filter { $0.isInquiry && $0.isAnswered }.map(\.learnedAt)
                .max()
        }
        return asked
    }

    /// Returns the news of each lineage learned at an instant.
    fileprivate func news(at instant: Instant) -> [DriftJudge.News] {
        lineageRecords.compactMap { lineageRecord in
            let new = lineageRecord.facts.filter { $0.learnedAt == instant }
            let owner = lineageRecord.owners.last {
                $0.decidedAt == instant && $0.customer == customer
            }
            guard !new.isEmpty || owner != nil else { return nil }
            return DriftJudge.News(
                lineage: lineageRecord.lineage,
                source: (new.first { !$0.isInquiry } ?? new.first)?.source,
                since: lineageRecord.newestStart(by: instant) ?? instant,
                wasKnown: lineageRecord.facts.contains { $0.learnedAt < instant },
                ownership: owner?.why
            )
        }
    }
}

extension CustomerRecord.LineageRecord {
    /// Returns when the newest period began, or when the store last asserted something.
    fileprivate func newestStart(by instant: Instant) -> Instant? {
        let starts = facts.compactMap { fact -> Instant? in
            guard case .term(let term) = fact.assertion, term.start <= instant else { return nil }
            return term.start
        }
        return starts.max() ?? facts.map(\.assertedAt).max()
    }
}

extension Fact {
    fileprivate var isInquiry: Bool {
        if case .inquiry = assertion { true } else { false }
    }

    /// Whether it is neither a query of ours that failed, nor a move by an operator, nor an
    /// inferred owner.
    fileprivate var isAnswered: Bool {
        switch assertion {
        case .inquiry(let inquiry): inquiry.outcome == .answered
        case .move, .inferredOwner: false
        default: true
        }
    }
}
