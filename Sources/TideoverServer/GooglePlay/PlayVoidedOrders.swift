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
    private static let mostPages = 1_000
    /// The number of tokens without a response after which a walk stops. The store has just
    /// answered with the list, so three failures in a row do not mean that it is down.
    private static let mostFailures = 20
    private static let voids = "googlePlay:voidedPurchases"
    private static let unlisted = "googlePlay:unlistedVoids"

    /// Reads the orders voided since the last walk, and a day before it.
    ///
    /// An order that the store rejects or describes badly does not stop the walk. An order without
    /// a response does not either, but the next walk starts at the same place. The walk stops after
    /// `mostFailures` tokens without a response, and if the store throttles or rejects the account.
    func readVoidedPurchases() async throws {
        // Before the clock is read: a simulated store's clock may advance by years meanwhile.
        try await limiter.admit(.voidedPurchases)
        let begun = timing.clock()
        let earliest = begun - VoidedPurchaseFilter.reach + Self.margin
        let finished = try cursors.instant(Self.voids)
        let start = max(earliest, finished.map { $0 - Self.overlap } ?? earliest)
        let filter = VoidedPurchaseFilter(start: min(start, begun - Self.margin))
        // The tokens that the next run queries again.
        var unread: Set<PlayToken> = []
        let isWhole: Bool
        do {
            isWhole = try await api.walkVoidedPurchases(filter, atMost: Self.mostPages) { page in
                count(.voidedPurchases, "answered")
                try await take(page, &unread)
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
        guard unread.isEmpty else { throw Self.unanswered }
        try await cursors.keep(begun, Self.voids)
        book.note(.voidedPurchases) { $0.until = begun }
    }

    /// Returns the start of the list after the last gap between two walks; nil if there was none.
    ///
    /// The store lists orders for 30 days. A one-time purchase that was last read before this
    /// instant may have been voided in the gap, and is read by its token.
    func unlistedUntil() async throws(StorageError) -> Instant? {
        let earliest = timing.clock() - VoidedPurchaseFilter.reach + Self.margin
        if let finished = try cursors.instant(Self.voids), finished - Self.overlap >= earliest {
            return try cursors.instant(Self.unlisted)
        }
        // The next walk removes the trace of the gap, and not all tokens may be read before.
        try await cursors.keep(earliest, Self.unlisted)
        return earliest
    }

    private static let unanswered = BackfillStop(
        code: "unreachable",
        sentence: "Google Play could not be asked about a voided order."
    )

    /// Queries each token, then stores the list's entries, except those of purchases that the next
    /// run queries again.
    private func take(
        _ answer: PlayAnswer<VoidedPurchasesPage>,
        _ unread: inout Set<PlayToken>
    ) async throws {
        // Also of the orders that are not read: the page is stored as evidence.
        var chains: [PlayToken: Lineage] = [:]
        var stop: BackfillStop?
        let unreadable = answer.content.unreadable
        var sum = BackfillReport.Sum(pages: 1, items: unreadable, refused: unreadable)
        for order in answer.content.voidedPurchases {
            try Task.checkCancellation()
            let token = trust.token(order.purchaseToken)
            chains[token] = try await playLookup.lineage(of: token)
            if stop != nil { unread.insert(token) }
            guard !unread.contains(token) else { continue }
            sum.items += 1
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
            let answered = try await ask(about: order, chains[token])
            chains[token] = try await playLookup.lineage(of: token)
            if answered.isOpen { unread.insert(token) }
            stop = note(answered, &sum, unread)
        }
        let awaited = Set(unread.compactMap { chains[$0] })
        sum.newFacts += try await keep(answer, chains) { !awaited.contains($0) }
        report(sum)
        if let stop { throw stop }
    }

    /// Counts the outcome of an order, and returns why the walk must stop, if it must.
    private func note(
        _ answered: Answered,
        _ sum: inout BackfillReport.Sum,
        _ unread: Set<PlayToken>
    ) -> BackfillStop? {
        if case .told(let newFacts) = answered { sum.newFacts += newFacts }
        guard let failure = answered.failure else { return nil }
        sum.refused += 1
        guard !failure.concernsAll else { return BackfillStop(failure, about: "a voided order") }
        return unread.count < Self.mostFailures ? nil : Self.unanswered
    }

    private func report(_ found: BackfillReport.Sum) {
        book.note(.voidedPurchases) { $0.add(found) }
        context.metrics.count(
            .backfillItems,
            app.id,
            BackfillStep.voidedPurchases.rawValue,
            found.newFacts == 0 ? "known" : "committed",
            by: found.items - found.refused
        )
        guard found.refused > 0 else { return }
        context.metrics.count(
            .backfillItems,
            app.id,
            BackfillStep.voidedPurchases.rawValue,
            "refused",
            by: found.refused
        )
        context.log(
            .warning,
            "voided orders could not be read",
            in: environment,
            detail: "\(found.refused) of \(found.items) orders of one page"
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
    /// the kind, and the store may reject its token as one of the other kind.
    private func ask(about order: VoidedPurchase, _ lineage: Lineage?) async throws -> Answered {
        let token = trust.token(order.purchaseToken)
        let known = try lineage.flatMap {
            PlayLineageWords(try context.storage.lineageRecord($0, app: app.id).facts).kind(
                of: token
            )
        }
        var failed: Answered?
        for kind in known.map({ [$0] }) ?? [.subscription, .product] {
            let answered = try await ask(kind, order.purchaseToken, about: lineage)
            if case .told = answered { return answered }
            if answered.isOpen { return answered }
            if answered.isFailure { failed = answered }
        }
        return failed ?? .unknown
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
