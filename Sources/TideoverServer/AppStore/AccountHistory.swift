import TideoverAppStore
import TideoverCore
import TideoverStorage

/// Queries for the purchases of an Apple account, with a waiting client.
extension Backfiller {
    /// The maximum number of pages, of 20 transactions each.
    private static let mostPages = 10

    /// Reads and stores the transactions of the Apple account that made one of them, the most
    /// recently changed first, and the state of its subscriptions. `found` receives the purchases
    /// of each response once they are stored. Consumables are left out: no restore returns them.
    ///
    /// - Returns: whether the store has no more of them.
    /// - Throws: `AppStoreAPIFailure`, `BackfillStop`, `StorageError`, `CancellationError`.
    func readAccount(
        of transactionId: String,
        found: (Set<Lineage>) -> Void
    ) async throws -> Bool {
        var filter = TransactionHistoryFilter()
        filter.sort = .descending
        filter.productTypes = [.autoRenewable, .nonConsumable, .nonRenewable]
        var subscription: String?
        let end = try await walkPages(atMost: Self.mostPages) { place in
            try await askSoon(.transactionHistory) {
                try await api.transactionHistory(of: transactionId, filter, revision: place)
            }
        } each: { answer in
            let page = answer.content
            let readings = try await keep { $0.read(page, check: $1) }
            found(Set(readings.flatMap(\.lineages)))
            subscription = subscription ?? readings.firstSubscription
            return true
        }
        guard let subscription else { return end.isComplete }
        // A transaction does not state grace.
        let statuses = try await askSoon(.subscriptionStatuses) {
            try await api.subscriptionStatuses(of: subscription)
        }.content
        let readings = try await keep { $0.read(statuses, check: $1) }
        found(Set(readings.flatMap(\.lineages)))
        return end.isComplete
    }

    /// Sends a query once, if its turn is soon.
    private func askSoon<Content>(
        _ kind: RequestKind,
        _ question: () async throws -> AppStoreAnswer<Content>
    ) async throws -> AppStoreAnswer<Content> {
        guard try await limiter.admitSoon(kind) else {
            throw BackfillStop(code: "busy", sentence: "Too many queries are in progress.")
        }
        do {
            let answer = try await question()
            count(kind, "answered")
            return answer
        } catch let failure as AppStoreAPIFailure {
            // Our own cancellation says nothing about the store.
            try Task.checkCancellation()
            count(kind, failure.metricWord)
            _ = try await pause(after: failure)
            throw failure
        }
    }

    /// Commits the accepted items of a response together, so that each customer is derived once.
    /// Returns them.
    private func keep(
        _ read: @escaping @Sendable (AppStoreReader, SignatureCheck) -> [AppStoreAnswerItem]
    ) async throws -> [AppStoreReading] {
        let (trust, now) = (trust, timing.clock())
        let items = try await onPool { [api] in read(api.reader, trust.check(at: now)) }
        try requireNotAhead(items, at: now)
        var pieces: [(reading: AppStoreReading, evidence: Evidence)] = []
        for item in items {
            switch item.reading {
            case .success(let reading):
                let evidence = Evidence(item.evidence, of: reading, from: .appStoreAPI, at: now)
                pieces.append((reading, evidence))
            case .failure(let error): tell(refused: error)
            }
        }
        _ = try await context.commit(pieces)
        return pieces.map(\.reading)
    }
}

extension [AppStoreReading] {
    /// A transaction of a subscription among them.
    fileprivate var firstSubscription: String? {
        lazy.compactMap(\.transaction).first { $0.type?.known == .autoRenewableSubscription }?
            .transactionId
    }
}
