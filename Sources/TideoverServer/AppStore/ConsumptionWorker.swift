import TideoverAppStore
import TideoverCore
import TideoverStorage

/// Answers the App Store's requests for consumption information about one app in one environment.
///
/// An answer that fails is retried until the deadline, and raises an alarm before it. Before an
/// attempt the next one is stored, so that of several servers one makes it.
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
        for request in try queue.due(at: context.clock()) { try await take(request) }
    }

    private func take(_ request: ConsumptionRequest) async throws {
        var request = request
        let now = context.clock()
        if now >= request.deadline { return try await end(request) }
        guard request.state == .waiting else { return }
        if request.nextAt <= now {
            var next = request
            next.putOff(from: now)
            guard try await queue.replace(request, by: next) else { return }
            if try await answer(next, at: now) { return try await queue.settle(next) }
            request = next
        }
        let alarmAt = request.deadline + Milliseconds(-ConsumptionRequest.alarm.count)
        guard !request.isRaised, now >= alarmAt else { return }
        var raised = request
        raised.isRaised = true
        guard try await queue.replace(request, by: raised) else { return }
        raise(
            "consumption-window-closing",
            "It can be answered until \(request.deadline.rfc3339). Attempts: \(request.attempts)."
        )
    }

    /// Returns whether the request is settled.
    private func answer(_ request: ConsumptionRequest, at now: Instant) async throws -> Bool {
        let lineageRecord = try context.storage.lineageRecord(request.lineage, app: app.id)
        // No owner is known, so only the operator can confirm the delivery.
        guard let owner = lineageRecord.owners.owner(at: now) else { return false }
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
            try await write(.completed, subject, request)
            return true
        } catch let failure as StoreActionFailure where failure.outcome == .rejected {
            try await write(.rejected, subject, request, code: failure.code)
            raise(failure.code, failure.sentence)
            return true
        } catch is StoreActionFailure {
            return false
        }
    }

    /// Removes an expired request.
    private func end(_ request: ConsumptionRequest) async throws {
        if request.state == .waiting { try await miss(request) }
        guard try await queue.replace(request, by: nil), request.state == .waiting else { return }
        raise("consumption-missed", "The App Store decides without an answer.")
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
            .error,
            "consumption request not answered",
            in: queue.environment,
            code: code,
            detail: detail
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
