import TideoverCore
import TideoverLocks
import TideoverStorage

/// Applies changes that are due by time alone: an end, the end of grace, a reminder.
///
/// It commits without facts. The row and its events are written in one transaction, so an
/// interruption neither loses nor repeats an event.
struct DeadlineWorker: Sendable {
    let apps: [App]
    let storage: any Storage
    let clock: Clock
    let metrics: Metrics
    let log: Log
    let pace: DeadlinePace

    /// The result of a check.
    enum Look: Hashable {
        /// Some customers were derived; more may be due now or soon.
        case more
        /// Nothing more is due; `next` is the earliest next deadline.
        case done(next: Instant?)
        /// Something failed.
        case failed
    }

    /// Runs until cancelled; `sleep` throws on cancellation.
    func run(sleep: @Sendable (Duration) async throws -> Void) async {
        var failures = 0
        while !Task.isCancelled {
            let rest: Duration
            switch await look() {
            case .more:
                failures = 0
                await Task.yield()
                continue
            case .done(let next):
                failures = 0
                rest = pace.rest(from: clock(), until: next)
            case .failed:
                failures += 1
                rest = pace.backoff(after: failures)
            }
            do { try await sleep(rest) } catch { return }
        }
    }

    /// Processes one batch of each app and environment with due customers.
    func look() async -> Look {
        var next: [Instant] = []
        var (isMore, hasFailed) = (false, false)
        for app in apps {
            for environment in app.environments {
                do throws(StorageError) {
                    let reading = try storage.due(
                        app: app.id,
                        environment: environment,
                        now: clock(),
                        limit: 1
                    )
                    if let instant = reading.next { next.append(instant) }
                    guard reading.count > 0 else { continue }
                    let claims = try await claim(app, environment)
                    if try await take(claims, app, environment) > 0 { isMore = true }
                } catch {
                    hasFailed = true
                    tell(error, app, environment)
                }
            }
        }
        if hasFailed { return .failed }
        return isMore ? .more : .done(next: next.min())
    }

    private func claim(
        _ app: App,
        _ environment: Environment
    ) async throws(StorageError) -> [DueClaim] {
        let now = clock()
        return try await storage.claimDue(
            DueOrder(
                app: app.id,
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
    /// - Returns: the number of claims.
    private func take(
        _ claims: [DueClaim],
        _ app: App,
        _ environment: Environment
    ) async throws(StorageError) -> Int {
        guard !claims.isEmpty else { return 0 }
        do {
            try await commit(claims, app, environment)
        } catch {
            guard claims.count > 1, error.reason.isOfOneCustomer else { throw error }
            var last: StorageError?
            for claim in claims {
                do {
                    try await commit([claim], app, environment)
                } catch {
                    last = error
                }
            }
            if let last { throw last }
        }
        return claims.count
    }

    private func commit(
        _ claims: [DueClaim],
        _ app: App,
        _ environment: Environment
    ) async throws(StorageError) {
        let projector = Projector(app: app)
        // A customer can be derived more than once; the last derivation counts.
        let raised = Locked<[CustomerKey: [String: Int]]>([:])
        let commitRequest = CommitRequest(
            app: app.id,
            environment: environment,
            claims: claims,
            now: clock()
        )
        do {
            _ = try await storage.commit(commitRequest) { lineages in
                let derivation = projector.derive(lineages)
                let kinds = Dictionary(
                    derivation.events.map { ($0.kind, 1) },
                    uniquingKeysWith: +
                )
                raised.withLock { $0[lineages.key] = kinds }
                return derivation
            }
        } catch {
            metrics.count(.deadlineBatches, "failed")
            throw error
        }
        metrics.count(.deadlineBatches, "committed")
        for (kind, count) in raised.withLock({ $0 }).values.joined() {
            metrics.count(.deadlineEvents, app.id, kind, by: count)
        }
    }

    private func tell(_ error: StorageError, _ app: App, _ environment: Environment) {
        log(
            LogLine(
                .error,
                "deadlines not met",
                app: app.id,
                environment: environment,
                code: "storage",
                detail: error.description
            )
        )
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
