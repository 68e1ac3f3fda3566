import TideoverConfiguration
import TideoverCore
import TideoverGooglePlay
import TideoverStorage

/// Acknowledges purchases at the store before it refunds them.
extension PlayPoller {
    /// Acknowledges the purchases of a lineage that await it. It then queries the token again,
    /// because only the store's response confirms the acknowledgement.
    ///
    /// - Throws: `StorageError`, or `CancellationError`.
    func acknowledge(_ lineage: Lineage) async throws {
        guard app.playChoices.acknowledges, pollQueue.mayTell(of: lineage, at: timing.clock())
        else {
            return
        }
        let lineageRecord = try context.storage.lineageRecord(lineage, app: app.id)
        let waiting = try plan(for: lineageRecord).acknowledgements
        guard !waiting.isEmpty else { return }
        let finder = PlayTokens(context: context, trust: trust)
        let wanted = Set(waiting.map(\.token))
        let tokens = try await onPool { try finder.find(wanted, in: lineageRecord.facts) }
        for purchase in waiting {
            guard let token = tokens[purchase.token] else {
                pollQueue.toldInVain(of: lineage, at: timing.clock())
                continue
            }
            try await acknowledge(purchase, token, of: lineage)
        }
    }

    private func acknowledge(
        _ purchase: PlayPlan.Acknowledgement,
        _ token: String,
        of lineage: Lineage
    ) async throws {
        try await limiter.admit(.acknowledgements)
        do {
            switch purchase.kind {
            case .product: try await api.acknowledge(product: purchase.productId, token)
            case .subscription, .endedSubscription, .voidedPurchases:
                try await api.acknowledge(subscription: purchase.productId, token)
            }
        } catch let failure as PlayAPIFailure {
            try Task.checkCancellation()
            pollQueue.toldInVain(of: lineage, at: timing.clock())
            count(.acknowledgements, failure.metricWord)
            try await pause(after: failure)
            context.log(
                .warning,
                "a purchase could not be acknowledged",
                in: environment,
                code: failure.code,
                detail: failure.sentence
            )
            return
        }
        count(.acknowledgements, "answered")
        // Until the store confirms it, a repeated acknowledgement later is harmless.
        pollQueue.toldInVain(of: lineage, at: timing.clock())
        _ = try await ask(purchase.kind, token, about: lineage)
    }

    /// Raises an alarm once for each purchase that the store will refund soon.
    func tellOfLate() {
        for purchase in pollQueue.newlyLate(at: timing.clock()) {
            context.log(
                .error,
                "a purchase is not acknowledged",
                in: environment,
                code: "acknowledgement-late",
                detail: "Google Play refunds it at \(purchase.dueBy.rfc3339) unless it is "
                    + "acknowledged: give the service account the permission to manage orders."
            )
        }
    }
}
