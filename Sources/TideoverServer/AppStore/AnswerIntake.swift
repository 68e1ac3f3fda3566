import TideoverAppStore
import TideoverCore
import TideoverStorage

/// Commits the signed items of a store response one by one.
extension Backfiller {
    /// Commits the items of a response; a rejected item does not affect the others.
    ///
    /// - Throws: `StorageError`; `BackfillStop` for items dated in the future, since our clock may
    ///   be slow.
    func take(_ items: [AppStoreAnswerItem], in step: BackfillStep) async throws {
        let sum = try await keep(items, in: step)
        note(step) { $0.add(sum) }
    }

    /// Does the same without adding to the report of a run.
    func keep(
        _ items: [AppStoreAnswerItem],
        in step: BackfillStep
    ) async throws -> BackfillReport.Sum {
        let now = timing.clock()
        try requireNotAhead(items, at: now)
        return try await withThrowingTaskGroup(of: BackfillReport.Sum.self) { group in
            // Concurrently, so that the storage can commit several at once.
            for item in items { group.addTask { try await self.take(item, at: now, in: step) } }
            return try await group.reduce(into: BackfillReport.Sum()) { $0.add($1) }
        }
    }

    /// Rejects items dated in the future, since our clock may be slow.
    func requireNotAhead(_ items: [AppStoreAnswerItem], at now: Instant) throws(BackfillStop) {
        for case .success(let reading) in items.map(\.reading)
        where reading.latestSignedAt > now + .clockTolerance {
            throw BackfillStop(
                code: "clock",
                sentence: "The store's response is dated in the future: correct the clock."
            )
        }
    }

    private func take(
        _ item: AppStoreAnswerItem,
        at now: Instant,
        in step: BackfillStep
    ) async throws -> BackfillReport.Sum {
        var sum = BackfillReport.Sum()
        sum.items = 1
        switch item.reading {
        case .failure(let error):
            sum.refused = 1
            refused(error, in: step)
        case .success(let reading):
            let evidence = Evidence(item.evidence, of: reading, from: .appStoreAPI, at: now)
            switch try await context.commit(reading, evidence) {
            case .duplicate: sum.known = 1
            case .committed(let newFacts, _, _): sum.newFacts = newFacts
            }
            context.metrics.count(
                .backfillItems,
                app.id,
                step.rawValue,
                sum.known == 1 ? "known" : "committed"
            )
        }
        return sum
    }

    private func refused(_ error: any Error, in step: BackfillStep) {
        context.metrics.count(.backfillItems, app.id, step.rawValue, "refused")
        tell(refused: error)
    }

    /// Counts and logs an item of a response that is not accepted.
    func tell(refused error: any Error) {
        let code = (error as? any Refusal)?.code ?? "unreadable"
        context.tallies.count(
            Tally(environment: environment, kind: "refusal", name: code),
            app: app.id
        )
        context.log(
            .warning,
            "the store's response contains rejected data",
            in: environment,
            code: code
        )
    }
}

extension BackfillReport.Sum {
    mutating func add(_ other: Self) {
        pages += other.pages
        items += other.items
        known += other.known
        refused += other.refused
        newFacts += other.newFacts
    }
}
