import TideoverAppStore
import TideoverCore
import TideoverStorage

/// Queries for refunds without a notification, mainly those older than the history of
/// notifications.
extension Backfiller {
    /// The maximum number of lineages in one run; the next run continues after them.
    private static let mostLineages = 1_000
    /// How long a lineage is not queried again.
    private static let rest = Milliseconds.hours(24)
    private static let mostPages = 1_000

    /// Queries the refunds of known lineages, least recently queried first.
    ///
    /// - Returns: the first failure that concerned one purchase only.
    func readRefunds() async throws -> AppStoreAPIFailure? {
        var asked = 0
        var failures = PurchaseFailures()
        try await walkLineages(BackfillStep.refunds.rawValue) { lineageRecord in
            guard try isDue(lineageRecord) else { return true }
            try await ask(about: lineageRecord.lineage, &failures) { lineage in
                try await readRefunds(of: lineage)
            }
            asked += 1
            return asked < Self.mostLineages
        }
        return failures.first
    }

    /// Returns whether a lineage is due. A family member's copy has no payment of its own.
    private func isDue(_ lineageRecord: LineageRecord) throws -> Bool {
        guard lineageRecord.lineage.ownership == .purchased,
            lineageRecord.facts.contains(where: {
                if case .term = $0.assertion { true } else { false }
            })
        else { return false }
        let askedAt = try cursors.instant(Self.asked(lineageRecord.lineage))
        guard let askedAt else { return true }
        return timing.clock() >= askedAt + Self.rest
    }

    private func readRefunds(of lineage: Lineage) async throws {
        let begun = timing.clock()
        let revision = try cursors.text(Self.revision(lineage))
        do {
            try await readRefunds(of: lineage, behind: revision)
        } catch let failure as AppStoreAPIFailure {
            if failure.knownCode == .invalidRequestRevision, revision != nil {
                try await readRefunds(of: lineage, behind: nil)
            } else if !failure.isAnswer {
                throw failure
            }
        }
        try await cursors.keep(begun, Self.asked(lineage))
    }

    private func readRefunds(of lineage: Lineage, behind revision: String?) async throws {
        _ = try await walkPages(from: revision, atMost: Self.mostPages) { place in
            try await ask(.refundHistory) {
                try await api.refundHistory(of: lineage.id, revision: place)
            }
        } each: { answer in
            let page = answer.content
            let (trust, now) = (trust, timing.clock())
            let items = try await onPool { [api] in
                api.reader.read(page, check: trust.check(at: now))
            }
            try await take(items, in: .refunds)
            note(.refunds) { $0.pages += 1 }
            if let place = page.revision {
                try await cursors.keep(place, Self.revision(lineage))
            }
            return true
        }
    }

    /// The name of the bookmark for the end of the pages that were read.
    static func revision(_ lineage: Lineage) -> String { "refunds:\(lineage.key):revision" }

    /// The name of the bookmark for when the refunds of a lineage were queried last.
    static func asked(_ lineage: Lineage) -> String { "refunds:\(lineage.key):asked" }
}
