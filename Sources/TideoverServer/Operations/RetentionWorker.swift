package import TideoverConfiguration
import TideoverCore
import TideoverStorage

/// Removes rows that are older than the configured retention, in small transactions with pauses
/// between them, so that no request waits.
struct RetentionWorker: Sendable {
    let contexts: [AppContext]
    let retention: Configuration.Retention

    /// The time between two runs.
    static let interval = Duration.seconds(3_600)
    /// The pause between two batches.
    private static let rest = Duration.milliseconds(100)
    private static let batch = 256

    var worker: Worker {
        Worker(.retention) { sleep in
            while true {
                // The first minute after a start belongs to requests.
                try await sleep(.seconds(60))
                try await prune(sleep: sleep)
                try await sleep(Self.interval)
            }
        }
    }

    /// Removes all old rows. A failure of the storage is logged and retried with the next run.
    func prune(sleep: Sleep) async throws {
        for context in contexts {
            for environment in context.app.environments {
                for kind in PruneOrder.Kind.allCases {
                    guard let length = retention[kind].length else { continue }
                    let before = context.clock() - length
                    try await prune(kind, context, environment, before, sleep)
                }
            }
        }
    }

    private func prune(
        _ kind: PruneOrder.Kind,
        _ context: AppContext,
        _ environment: Environment,
        _ before: Instant,
        _ sleep: Sleep
    ) async throws {
        var place: String? = ""
        var count = 0
        defer { if count > 0 { tell(count, kind, context, environment) } }
        do {
            while let from = place {
                let pruned = try await context.storage.prune(
                    PruneOrder(
                        kind,
                        app: context.app.id,
                        environment: environment,
                        before: before,
                        place: from,
                        limit: Self.batch
                    )
                )
                count += pruned.count
                context.metrics.count(.pruned, context.app.id, kind.rawValue, by: pruned.count)
                place = pruned.next
                if place != nil { try await sleep(Self.rest) }
            }
        } catch let error as StorageError {
            let detail = error.description
            context.log(
                .error,
                "old rows not removed",
                code: "storage",
                detail: detail
            )
        }
    }

    private func tell(
        _ count: Int,
        _ kind: PruneOrder.Kind,
        _ context: AppContext,
        _ environment: Environment
    ) {
        context.log(
            .info,
            "old rows removed",
            in: environment,
            code: kind.rawValue,
            detail: "\(count) rows"
        )
    }
}

extension Configuration.Retention {
    subscript(_ kind: PruneOrder.Kind) -> KeepingTime {
        switch kind {
        case .evidence: evidence
        case .drift: drift
        case .prompts: prompts
        case .audit: audit
        case .told: told
        case .attributes, .logIns, .customers: customers
        case .webhookAttempts: KeepingTime(.days(30))
        }
    }
}

extension Service {
    /// Runs the retention worker once.
    ///
    /// - Throws: `CancellationError`.
    package func pruneNow(keeping retention: Configuration.Retention) async throws {
        try await retentionWorker(retention).prune { _ in try Task.checkCancellation() }
    }

    func retentionWorker(_ retention: Configuration.Retention) -> RetentionWorker {
        RetentionWorker(contexts: orderedContexts, retention: retention)
    }
}
