import TideoverAppStore
import TideoverCore
import TideoverLocks
import TideoverStorage

// An SDK on Apple's platforms restores by presenting one transaction, even if the Apple account has
// several purchases. The App Store knows the others.

extension SDKVisit {
    /// Claims for a customer the other purchases of the Apple account that made a restored one,
    /// each by the rules of the presented one. Those that have to stay with another customer stay,
    /// and nothing is said of them.
    ///
    /// A failure of the store leaves purchases out and is logged: the presented one counts.
    func restoreAccount(
        of presented: AcceptedItem,
        for customer: CustomerID,
        by deadline: ContinuousClock.Instant
    ) async throws {
        guard let transaction = presented.transactionOfAccount,
            let backfiller = service.clients.backfillers.first(app.id, presented.environment)
        else { return }
        let found = try await purchases(of: transaction, from: backfiller, by: deadline)
        let others = found.subtracting(presented.lineages).sorted()
        guard !others.isEmpty else { return }
        _ = try await claim(others, in: presented.environment, for: customer, by: ruleOfRestores)
    }

    /// Returns the purchases of an Apple account that the store named, after they are stored. The
    /// sender has a budget of such requests to the store.
    private func purchases(
        of transaction: String,
        from backfiller: Backfiller,
        by deadline: ContinuousClock.Instant
    ) async throws -> Set<Lineage> {
        let changer = context.rateLimiter.sender(of: request, to: app.id, for: .change)
        guard context.rateLimiter.objection(to: changer) == nil else {
            warn("budget", "The sender has restored too often.", in: backfiller.environment)
            return []
        }
        context.rateLimiter.charge(changer)
        let found = Locked<Set<Lineage>>([])
        do {
            let isWhole = try await result(by: deadline) {
                try await backfiller.readAccount(of: transaction) { lineages in
                    found.withLock { $0.formUnion(lineages) }
                }
            }
            if isWhole != true {
                let reason = isWhole == nil ? "It took too long." : "The account has too many."
                warn("incomplete", reason, in: backfiller.environment)
            }
        } catch let error as StorageError where error.reason != .refused {
            throw error
        } catch {
            try Task.checkCancellation()
            let stop = BackfillStop(error)
            warn(stop.code, stop.sentence, in: backfiller.environment)
        }
        return found.withLock { $0 }
    }

    private func warn(_ code: String, _ detail: String, in environment: Environment) {
        let line = LogLine(
            .warning,
            "a restore may lack purchases",
            app: app.id,
            environment: environment,
            code: code,
            detail: detail
        )
        context.log(line)
    }
}

extension AcceptedItem {
    /// A transaction of the Apple account that made the purchases in it. A copy that is shared with
    /// the family has the id of another account's transaction.
    fileprivate var transactionOfAccount: String? {
        transactionId
            ?? (lineages.first { $0.ownership == .purchased } ?? lineages.first)?.id
    }
}
