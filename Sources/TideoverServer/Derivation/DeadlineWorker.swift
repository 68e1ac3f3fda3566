import TideoverCore
import TideoverLocks
import TideoverStorage

/// Applies changes that are due by time alone: an end, the end of grace, a reminder.
///
/// It commits without facts. The row and its events are written in one transaction, so an
/// interruption neither loses nor repeats an event.
struct DeadlineWorker: Sendable {
    let contexts: [AppContext]
    let clock: Clock
    let pace: DeadlinePace

    /// The result of a check.
    enum Look: Hashable {
        /// Some customers were derived; more may be due now or soon.
        case more
        /// Nothing more is due; `next` is the earliest next deadline.
        case done(next: Instant?)
        /// A customer could not be derived, and waits until the claim expires.
        case failed
    }

    var worker: Worker {
        Worker(.deadlines) { sleep in
            while true {
                switch try await look() {
                case .more: try await sleep(.zero)
                case .done(let next): try await sleep(pace.rest(from: clock(), until: next))
                // A supervisor's pause would delay the other customers.
                case .failed: try await sleep(pace.longestRest)
                }
            }
        }
    }

    /// Processes one batch of each app and environment with due customers. If one fails, the others
    /// are still processed.
    ///
    /// - Throws: The last error.
    func look() async throws(StorageError) -> Look {
        var next: [Instant] = []
        var (isMore, hasFailed) = (false, false)
        var failure: StorageError?
        for context in contexts {
            for environment in context.app.environments {
                do throws(StorageError) {
                    let reading = try context.storage.due(
                        in: AppScope(context.app.id, environment),
                        now: clock(),
                        limit: 1
                    )
                    if let instant = reading.next { next.append(instant) }
                    guard reading.count > 0 else { continue }
                    let claims = try await claim(context, environment)
                    guard !claims.isEmpty else { continue }
                    isMore = true
                    if try await !take(claims, context, environment) { hasFailed = true }
                } catch {
                    failure = error
                    tell(error, context, environment)
                }
            }
        }
        if let failure { throw failure }
        if hasFailed { return .failed }
        return isMore ? .more : .done(next: next.min())
    }

    private func claim(
        _ context: AppContext,
        _ environment: Environment
    ) async throws(StorageError) -> [DueClaim] {
        let now = clock()
        return try await context.storage.claimDue(
            DueOrder(
                app: context.app.id,
                environment: environment,
                now: now,
                until: now + pace.lease,
                limit: pace.batch
            )
        )
    }

    /// Derives the claimed customers. If one of them cannot be derived, the others still are; that
    /// one waits until its claim expires.
    ///
    /// - Returns: whether all were derived.
    /// - Throws: The error if none of several was, or if it concerns the whole storage.
    private func take(
        _ claims: [DueClaim],
        _ context: AppContext,
        _ environment: Environment
    ) async throws(StorageError) -> Bool {
        do {
            try await commit(claims, context, environment)
            return true
        } catch {
            guard error.reason.isOfOneCustomer else { throw error }
            guard claims.count > 1 else {
                tell(error, context, environment)
                return false
            }
            return try await takeEach(of: claims, context, environment)
        }
    }

    private func takeEach(
        of claims: [DueClaim],
        _ context: AppContext,
        _ environment: Environment
    ) async throws(StorageError) -> Bool {
        var failures: [StorageError] = []
        for claim in claims {
            do {
                try await commit([claim], context, environment)
            } catch {
                failures.append(error)
            }
        }
        guard let last = failures.last else { return true }
        guard failures.count < claims.count else { throw last }
        tell(last, context, environment)
        return false
    }

    private func commit(
        _ claims: [DueClaim],
        _ context: AppContext,
        _ environment: Environment
    ) async throws(StorageError) {
        let projector = Projector(app: context.app)
        // A customer can be derived more than once; the last derivation counts.
        let raised = Locked<[CustomerKey: [String: Int]]>([:])
        let commitRequest = CommitRequest(
            app: context.app.id,
            environment: environment,
            claims: claims,
            now: clock()
        )
        do {
            _ = try await context.storage.commit(commitRequest) { lineages in
                let derivation = projector.derive(lineages)
                let kinds = Dictionary(
                    derivation.events.map { ($0.kind, 1) },
                    uniquingKeysWith: +
                )
                raised.withLock { $0[lineages.key] = kinds }
                return derivation
            }
        } catch {
            context.metrics.count(.deadlineBatches, "failed")
            throw error
        }
        context.metrics.count(.deadlineBatches, "committed")
        for (kind, count) in raised.withLock({ $0 }).values.joined() {
            context.metrics.count(.deadlineEvents, context.app.id, kind, by: count)
        }
    }

    private func tell(_ error: StorageError, _ context: AppContext, _ environment: Environment) {
        context.log(
            .error,
            "deadlines not met",
            in: environment,
            code: "storage",
            detail: error.description
        )
    }
}

extension Service {
    func deadlineWorker(_ pace: DeadlinePace = DeadlinePace()) -> DeadlineWorker {
        DeadlineWorker(contexts: orderedContexts, clock: clock, pace: pace)
    }

    /// Processes all due deadlines, batch by batch; false if one failed.
    package func meetDueDeadlines(_ pace: DeadlinePace = DeadlinePace()) async -> Bool {
        let worker = deadlineWorker(pace)
        do {
            for worker in consumptionWorkers { try await worker.look() }
            while true {
                switch try await worker.look() {
                case .more: continue
                case .done: return true
                case .failed: return false
                }
            }
        } catch {
            return false
        }
    }
}

extension StorageError.Reason {
    /// Whether the stored data of a single customer may be the cause.
    fileprivate var isOfOneCustomer: Bool {
        switch self {
        case .corrupt, .refused, .engine: true
        case .busy, .unavailable, .full, .readOnly, .notPermitted, .missingFolder, .notAStorage,
            .locked, .replaced, .newerSchema, .olderSchema, .io, .unconfirmed, .closed:
            false
        }
    }
}
