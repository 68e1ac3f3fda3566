import TideoverAppStore
import TideoverCore

/// The failed queries of one step about single purchases.
struct PurchaseFailures {
    /// The number of failures in a row after which the store is the cause, not a purchase.
    private static let mostInARow = 3

    private(set) var first: AppStoreAPIFailure?
    private var inARow = 0

    /// Records that the store answered about a purchase.
    mutating func answered() { inARow = 0 }

    /// Records a failure. Returns whether the step may go on with the next purchase.
    mutating func allows(_ failure: AppStoreAPIFailure) -> Bool {
        first = first ?? failure
        inARow += 1
        return inARow < Self.mostInARow && failure.mayConcernOnePurchase
    }
}

extension Backfiller {
    /// Sends the queries about one purchase. A failure that may concern only this purchase is
    /// logged, and the next run sends them again.
    ///
    /// - Throws: a failure that concerns other purchases too, or the last of several in a row; the
    ///   other errors of `query`.
    func ask(
        about lineage: Lineage,
        _ failures: inout PurchaseFailures,
        _ query: (Lineage) async throws -> Void
    ) async throws {
        do {
            try await query(lineage)
            failures.answered()
        } catch let failure as AppStoreAPIFailure where failure.isAnswer {
            failures.answered()
        } catch let failure as AppStoreAPIFailure {
            log(failure, about: lineage)
            guard failures.allows(failure) else { throw failure }
        }
    }

    private func log(_ failure: AppStoreAPIFailure, about lineage: Lineage) {
        context.log(
            .warning,
            "a purchase could not be asked about",
            in: environment,
            code: failure.code,
            detail: "Transaction \(lineage.id): \(failure.sentence)"
        )
    }
}

extension AppStoreAPIFailure {
    /// Whether it answers the query: the store knows no such purchase, or never accepts the query.
    var isAnswer: Bool {
        switch reason {
        case .unaskable: true
        case .refused(_, let status): status != 403 && (outcome == .gone || outcome == .refused)
        case .malformed, .malformedJSON, .unsigned, .unreachable, .unauthorised, .throttled,
            .status, .endless:
            false
        }
    }

    /// Whether a query about another purchase may still succeed.
    fileprivate var mayConcernOnePurchase: Bool {
        switch reason {
        case .unaskable, .malformed, .malformedJSON, .endless: true
        case .refused(_, let status), .status(let status): status != 403
        case .unsigned, .unreachable, .unauthorised, .throttled: false
        }
    }
}
