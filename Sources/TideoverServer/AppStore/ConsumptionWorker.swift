import TideoverAppStore
import TideoverCore
import TideoverStorage

/// Answers the App Store's requests for consumption information about one app in one environment.
///
/// An answer that fails is retried until the deadline, and raises an alarm before it.
struct ConsumptionWorker: Sendable {
    let queue: ConsumptionQueue
    let backfiller: Backfiller

    private var context: AppContext { backfiller.context }
    private var app: App { context.app }

    /// The interval of the checks for due actions.
    private static let look = Duration.seconds(1)
    private static let why = "Apple asked for consumption information (appStore.consumption)."

    var worker: Worker {
        Worker(.consumption, app: app.id, environment: queue.environment, every: Self.look) {
            try await look()
        }
    }

    /// Processes the due requests.
    func look() async throws {
        for request in queue.due(at: context.clock()) { try await take(request) }
    }

    private func take(_ request: ConsumptionRequest) async throws {
        var next = request
        let now = context.clock()
        if now >= request.deadline {
            if request.state == .waiting { try await miss(request) }
            return try await queue.replace(request, by: nil)
        }
        guard request.state == .waiting else { return }
        if request.nextAt <= now { try await answer(&next) }
        if next.state == .waiting, !next.isRaised,
            now >= next.deadline + Milliseconds(-ConsumptionRequest.alarm.count)
        {
            next.isRaised = true
            raise(
                "consumption-window-closing",
                "It can be answered until \(next.deadline.rfc3339). Attempts: \(next.attempts)."
            )
        }
        try await queue.replace(request, by: next)
    }

    private func answer(_ request: inout ConsumptionRequest) async throws {
        let now = context.clock()
        let lineageRecord = try context.storage.lineageRecord(request.lineage, app: app.id)
        // No owner is known, so only the operator can confirm the delivery.
        guard let owner = lineageRecord.owners.owner(at: now) else {
            return request.putOff(from: now)
        }
        let information = app.consumption.information(
            about: request.transactionId,
            in: lineageRecord,
            at: now
        )
        let purchase = ActedPurchase(
            name: request.transactionId,
            lineageRecord: lineageRecord,
            owner: owner
        )
        let subject = StoreActionJournal.Subject(
            action: StoreAction.Kind.consumption.rawValue,
            detail: information.line,
            purchase: purchase,
            why: Self.why
        )
        do {
            let transaction = request.transactionId
            try await backfiller.send(.changes) { api in
                _ = try await api.sendConsumption(of: transaction, information)
            }
            request.state = .settled
            try await write(.completed, subject, request)
        } catch let failure as StoreActionFailure where failure.outcome == .rejected {
            request.state = .settled
            try await write(.rejected, subject, request, code: failure.code)
            raise(failure.code, failure.sentence)
        } catch is StoreActionFailure {
            request.putOff(from: now)
        }
    }

    private func miss(_ request: ConsumptionRequest) async throws {
        let lineageRecord = try context.storage.lineageRecord(request.lineage, app: app.id)
        let subject = StoreActionJournal.Subject(
            action: StoreAction.Kind.consumption.rawValue,
            detail: "after \(request.attempts) attempts",
            purchase: ActedPurchase(
                name: request.transactionId,
                lineageRecord: lineageRecord,
                owner: lineageRecord.owners.owner(at: context.clock())
            ),
            why: Self.why
        )
        try await write(.missed, subject, request)
        raise("consumption-missed", "The App Store decides without an answer.")
    }

    private func write(
        _ outcome: AuditEntry.StoreChange.Outcome,
        _ subject: StoreActionJournal.Subject,
        _ request: ConsumptionRequest,
        code: String? = nil
    ) async throws(StorageError) {
        let parts = [
            "consumption", request.transactionId, request.requestedAt.rfc3339, outcome.rawValue,
        ]
        try await StoreActionJournal(
            context: context,
            environment: queue.environment,
            presenter: nil
        ).write(outcome, of: subject, code: code, name: parts.joined(separator: "\n"))
    }

    private func raise(_ code: String, _ detail: String) {
        context.log(
            LogLine(
                .error,
                "consumption request not answered",
                app: app.id,
                environment: queue.environment,
                code: code,
                detail: detail
            )
        )
    }
}

/// Answering requests for consumption information.
extension Service {
    var consumptionWorkers: [ConsumptionWorker] {
        clients.backfillers.compactMap { backfiller in
            consumption[backfiller.app.id, backfiller.environment].map {
                ConsumptionWorker(queue: $0, backfiller: backfiller)
            }
        }
    }
}
