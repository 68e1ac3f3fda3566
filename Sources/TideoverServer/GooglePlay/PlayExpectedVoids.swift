import TideoverCore
import TideoverGooglePlay
import TideoverLocks
import TideoverStorage

/// Purchases expected on the list of voided orders because a notification announced it, if the list
/// was not read since.
struct PlayExpectedVoids {
    private(set) var lineages: [PlayToken: Lineage] = [:]
    /// When the first of them was announced.
    private(set) var since = Instant.distantFuture

    /// The maximum number; further ones are left to the schedule.
    private static let most = 1000

    mutating func add(_ token: PlayToken, in lineage: Lineage, at announced: Instant) {
        guard lineages.count < Self.most else { return }
        lineages[token] = lineage
        since = min(since, announced)
    }
}

extension PlayPoller {
    /// The log message for a list that could not be read.
    static let voidUnread = "why an order was voided is not known yet"

    /// The store filters by when it recorded an order, which may be slightly before the event.
    private static let margin = Milliseconds.hours(1)

    /// Notes that a notification announced a voided order of a purchase.
    func expectVoid(of token: PlayToken, in lineage: Lineage, at announced: Instant) {
        expectedVoids.withLock { $0.add(token, in: lineage, at: announced) }
    }

    /// Reads one page of the list for all purchases expected on it, if the list may be read now.
    /// Otherwise they wait for the next call.
    ///
    /// - Throws: `StorageError`, or `CancellationError`.
    func readExpectedVoids() async throws {
        guard expectedVoids.withLock({ !$0.lineages.isEmpty }),
            try await limiter.admitSoon(.voidedPurchases)
        else { return }
        let expected = expectedVoids.withLock { expected in
            defer { expected = PlayExpectedVoids() }
            return expected
        }
        guard !expected.lineages.isEmpty else { return }
        let earliest = timing.clock() - VoidedPurchaseFilter.reach + Self.margin
        let start = max(expected.since - Self.margin, earliest)
        do {
            let answer = try await api.voidedPurchases(VoidedPurchaseFilter(start: start))
            count(.voidedPurchases, "answered")
            let lineages = Set(expected.lineages.values)
            _ = try await keep(answer, expected.lineages) { lineages.contains($0) }
        } catch let failure as PlayAPIFailure {
            try Task.checkCancellation()
            count(.voidedPurchases, failure.metricWord)
            tell(failure.code, failure.sentence)
            try await pause(after: failure)
        } catch let refusal as PlayRefusal {
            tell(refusal.code, refusal.sentence)
        }
    }

    private func tell(_ code: String, _ detail: String) {
        context.log(
            .warning,
            Self.voidUnread,
            in: environment,
            code: code,
            detail: detail
        )
    }
}
