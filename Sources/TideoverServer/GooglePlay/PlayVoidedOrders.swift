import TideoverCore
import TideoverGooglePlay
import TideoverStorage

/// Orders that the store has voided. A query of the token determines access. The list provides the
/// reason, and the revocation of one-time purchases.
extension PlayPoller {
    /// The overlap of two windows. The store filters by when it recorded an order, which may be
    /// later than the date it lists.
    private static let overlap = Milliseconds.hours(24)
    /// The margin at the start of the store's range, for clock differences.
    private static let margin = Milliseconds.hours(1)
    private static let mostPages = 100
    private static let voids = "googlePlay:voidedPurchases"

    /// Reads the orders voided since the last walk, and a day before it.
    func readVoidedPurchases() async throws {
        let begun = timing.clock()
        let earliest = begun - VoidedPurchaseFilter.reach + Self.margin
        let finished = try cursors.instant(Self.voids)
        let start = max(earliest, finished.map { $0 - Self.overlap } ?? earliest)
        let filter = VoidedPurchaseFilter(start: min(start, begun - Self.margin))
        try await limiter.admit(.voidedPurchases)
        let isWhole: Bool
        do {
            isWhole = try await api.walkVoidedPurchases(filter, atMost: Self.mostPages) { page in
                count(.voidedPurchases, "answered")
                try await take(page)
                // For the next page.
                if page.content.nextPageToken != nil {
                    try await limiter.admit(.voidedPurchases)
                }
            }
        } catch let failure as PlayAPIFailure {
            try Task.checkCancellation()
            count(.voidedPurchases, failure.metricWord)
            try await pause(after: failure)
            throw failure
        }
        guard isWhole else {
            throw BackfillStop(
                code: "too-many",
                sentence: "Google Play lists more voided orders than are read at once."
            )
        }
        try await cursors.keep(begun, Self.voids)
        book.note(.voidedPurchases) { $0.until = begun }
    }

    /// Queries each token, then stores the list's entries.
    private func take(_ answer: PlayAnswer<VoidedPurchasesPage>) async throws {
        var chains: [PlayToken: Lineage] = [:]
        var sum = BackfillReport.Sum(pages: 1)
        for order in answer.content.voidedPurchases {
            try Task.checkCancellation()
            sum.items += 1
            let token = trust.token(order.purchaseToken)
            chains[token] = try await playLookup.lineage(of: token)
            if let lineage = chains[token] {
                guard lineage.environment == environment else { continue }
                guard try !isKnown(order, token, in: lineage) else {
                    sum.known += 1
                    continue
                }
            } else if !isUsual {
                // An unknown token is queried by one environment only.
                continue
            }
            sum.newFacts += try await ask(about: order, chains[token])
            chains[token] = try await playLookup.lineage(of: token)
        }
        sum.newFacts += try await keep(answer, chains)
        let found = sum
        book.note(.voidedPurchases) { $0.add(found) }
        context.metrics.count(
            .backfillItems,
            app.id,
            BackfillStep.voidedPurchases.rawValue,
            found.newFacts == 0 ? "known" : "committed",
            by: found.items
        )
    }

    /// Whether unknown purchases are assumed to belong to this environment.
    private var isUsual: Bool {
        environment == .production || !trust.identity.environments.contains(.production)
    }

    private func isKnown(
        _ order: VoidedPurchase,
        _ token: PlayToken,
        in lineage: Lineage
    ) throws -> Bool {
        try context.storage.lineageRecord(lineage, app: app.id).facts.contains { fact in
            guard case .playVoidedOrder(let known) = fact.assertion else { return false }
            return known.token == token && known.orderId == order.orderId
                && known.date == order.voidedTime
        }
    }

    /// Queries the current state of the purchase. For an unknown purchase the list does not state
    /// the kind.
    private func ask(about order: VoidedPurchase, _ lineage: Lineage?) async throws -> Int {
        let token = trust.token(order.purchaseToken)
        let known = try lineage.flatMap {
            PlayLineageWords(try context.storage.lineageRecord($0, app: app.id).facts).kind(
                of: token
            )
        }
        for kind in known.map({ [$0] }) ?? [.subscription, .product] {
            switch try await ask(kind, order.purchaseToken, about: lineage) {
            case .told(let newFacts): return newFacts
            case .unknown: continue
            case .failed:
                // The run stops here, and the next run reads the entry again.
                throw BackfillStop(
                    code: "unreachable",
                    sentence: "Google Play could not be asked about a voided order."
                )
            }
        }
        return 0
    }

    /// Stores the page if it contains new facts about known purchases that are selected.
    func keep(
        _ answer: PlayAnswer<VoidedPurchasesPage>,
        _ chains: [PlayToken: Lineage],
        of isMeant: (Lineage) -> Bool = { _ in true }
    ) async throws -> Int {
        let read = PlayRead(.voidedPurchases, of: nil, in: api.packageName, answer)
        let answers = PlayAnswers([read], chains: PlayChains(chains))
        let id = EvidenceID(of: answers.bytes)
        let told = try trust.reader.read(answers)
            .flatMap { $0.facts(learnedAt: timing.clock(), evidence: id) }
        var news: [Fact] = []
        for fact in told
        where fact.lineage.environment == environment && isMeant(fact.lineage) {
            let known = try context.storage.lineageRecord(fact.lineage, app: app.id).facts
            guard !known.isEmpty, !known.contains(where: { $0.assertion == fact.assertion }) else {
                continue
            }
            news.append(fact)
        }
        return news.isEmpty ? 0 : try await commit(answers, news)
    }
}
