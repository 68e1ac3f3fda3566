import TideoverAppStore
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSignatures
import TideoverStorage

/// Answers `POST /v1/apps/{app}/purchases/{purchase}/actions`, `POST /v1/apps/{app}/extensions` and
/// `GET /v1/apps/{app}/extensions/{id}`: changes that the operator requests from a store.
///
/// A change is recorded before it is sent and after the store answered. One idempotency key
/// identifies one change, which is executed once, whichever servers receive it: the one that
/// records its beginning sends it.
struct StoreActionsRoute: Sendable {
    let context: AppContext
    let clients: StoreClients
    /// The names of the changes that this server is sending.
    let underWay: Locked<Set<StoreActionName>>
    /// The name of the request's key.
    let presenter: String

    private var app: App { context.app }

    func act(_ call: Call) async throws -> Response {
        let environment = try app.environment(askedIn: call.request)
        let wanted = try StoreActionRequest(call.request.body)
        let kind = wanted.action.kind
        if let objection = kind.need.objection(
            to: call.presented,
            app: app.id,
            isRehearsal: false,
            writes: true
        ) {
            throw objection
        }
        let purchase = try await find(call["purchase"], for: kind, in: environment)
        let subject = StoreActionJournal.Subject(
            action: kind.rawValue,
            detail: wanted.action.detail,
            purchase: purchase,
            why: wanted.why
        )
        let request = Pending(subject, kind.isRepeatable, environment)
        let response = try await respond(to: call.request, request) { name in
            try await prepare(wanted.action, purchase, name, environment)
        }
        if kind == .consumption, response.outcome == .completed {
            try await context.consumption[app.id, environment]?.settle(purchase.name)
        }
        return response.response
    }

    func extendAll(_ call: Call) async throws -> Response {
        let environment = try app.environment(askedIn: call.request)
        let wanted = try MassExtensionRequest(call.request.body)
        let backfiller = try backfiller(environment)
        let subject = StoreActionJournal.Subject(
            action: "extendAll",
            detail: wanted.detail,
            why: wanted.why
        )
        // The store accepts an order with the same identifier once.
        let request = Pending(subject, true, environment)
        return try await respond(to: call.request, request) { name in
            try await backfiller.call(wanted, identifier: name.uuid)
        }.response
    }

    func massExtension(_ call: Call) async throws -> Response {
        let environment = try app.environment(askedIn: call.request)
        guard let product = call.request.queryValue("product"), !product.isEmpty else {
            throw Problem.badStoreAction("`?product=` must name the product of the extension.")
        }
        let status: MassExtensionStatus
        do {
            status = try await backfiller(environment)
                .massExtension(of: product, identifier: call["id"])
        } catch let failure as StoreActionFailure {
            throw failure.problem(isRepeatable: true, at: context.clock())
        }
        return .json(headers: Self.headers) { writer in
            writer.field("app", app.id)
            writer.field("environment", environment.rawValue)
            writer.field("id", call["id"])
            writer.field("complete", status.complete)
            writer.field("completedAt", status.completeDate?.rfc3339)
            writer.field("succeeded", status.succeededCount)
            writer.field("failed", status.failedCount)
        }
    }

    private static let headers: Headers = ["Cache-Control": "private, no-store"]

    // MARK: Lookup

    private func find(
        _ name: String,
        for kind: StoreAction.Kind,
        in environment: Environment
    ) async throws -> ActedPurchase {
        let now = context.clock()
        return try await onPool {
            let known = KnownPurchases(context: context)
            let all = try known.find(name).filter {
                $0.lineage.environment == environment && $0.lineage.ownership == .purchased
            }
            guard let first = all.first else { throw Problem.unknownPurchase }
            guard let lineageRecord = all.first(where: { $0.lineage.store == kind.store }) else {
                throw Problem.badStoreAction(
                    "The purchase is of \(first.lineage.store.rawValue), which does not have this "
                        + "action."
                )
            }
            return ActedPurchase(
                name: name,
                lineageRecord: lineageRecord,
                owner: lineageRecord.owners.owner(at: now)
            )
        }
    }

    private func backfiller(_ environment: Environment) throws(Problem) -> Backfiller {
        guard let backfiller = clients.backfillers.first(app.id, environment) else {
            throw .storeCannotBeAsked(app.id, environment)
        }
        return backfiller
    }

    private func prepare(
        _ action: StoreAction,
        _ purchase: ActedPurchase,
        _ name: StoreActionName,
        _ environment: Environment
    ) async throws -> StoreCall {
        switch action.kind.store {
        case .googlePlay:
            guard let poller = clients.pollers.first(app.id, environment) else {
                throw Problem.storeCannotBeAsked(app.id, environment)
            }
            return try await poller.call(action, on: purchase)
        case .appStore, .revenueCat, .tideover:
            return try await backfiller(environment)
                .call(action, on: purchase, identifier: name.uuid)
        }
    }
}

// MARK: - Execution

extension StoreActionsRoute {
    /// A requested change.
    private struct Pending: Sendable {
        let subject: StoreActionJournal.Subject
        let isRepeatable: Bool
        let environment: Environment

        init(
            _ subject: StoreActionJournal.Subject,
            _ isRepeatable: Bool,
            _ environment: Environment
        ) {
            self.subject = subject
            self.isRepeatable = isRepeatable
            self.environment = environment
        }

        var digest: String {
            var writer = JSONWriter()
            writer.array { writer in
                writer.value(subject.action)
                writer.value(subject.purchase?.name ?? "")
                writer.value(subject.detail)
            }
            return Hexadecimal.text(SHA256.hash(writer.bytes))
        }
    }

    private typealias Prepare = (StoreActionName) async throws -> StoreCall

    /// The response to a request, and the outcome of the change.
    private struct Answered {
        let response: Response
        let outcome: AuditEntry.StoreChange.Outcome
    }

    private func respond(
        to request: Request,
        _ pending: Pending,
        _ prepare: Prepare
    ) async throws -> Answered {
        let key = try IdempotencyKey.read(request)
        let name = StoreActionName(key, app: app.id, pending.environment)
        if try request.flag("dryRun") {
            let call = try await asProblem(pending) { try await prepare(name) }
            try await journal(pending).write(.dryRun, of: pending.subject)
            return answered(.dryRun, pending, draft: call.draft)
        }
        guard key != nil else { throw Problem.idempotencyKeyNeeded }
        guard underWay.withLock({ $0.insert(name).inserted }) else {
            throw Problem.storeActionUnderWay
        }
        defer { underWay.withLock { _ = $0.remove(name) } }
        let stored = try cursors(pending).storeAction(name)
        if let known = try await known(stored.record, name, pending) { return known }
        let call = try await asProblem(pending) { try await prepare(name) }
        let record = StoreActionRecord(
            digest: pending.digest,
            state: .begun,
            begunAt: context.clock()
        )
        guard let begun = try await cursors(pending).replace(stored, by: record, name) else {
            throw Problem.storeActionUnderWay
        }
        return try await asProblem(pending) { try await carryOut(call, begun, name, pending) }
    }

    /// Returns the response to a request that was already executed; nil if it can be executed now.
    private func known(
        _ record: StoreActionRecord?,
        _ name: StoreActionName,
        _ pending: Pending
    ) async throws -> Answered? {
        guard let record else { return nil }
        guard record.digest == pending.digest else { throw Problem.idempotencyKeyReused }
        switch record.state {
        case .failed: return nil
        case .begun where record.isUnderWay(at: context.clock()):
            throw Problem.storeActionUnderWay
        case .begun where pending.isRepeatable: return nil
        case .begun:
            throw StoreActionFailure(
                outcome: .unknown,
                code: "interrupted",
                sentence: "The request was sent before, and no answer to it is stored."
            ).problem(isRepeatable: false, at: context.clock())
        case .completed:
            // Writes the line that a crash may have omitted.
            try await write(.completed, name, pending)
            return answered(.completed, pending, isRepeated: true, answer: record.answer)
        }
    }

    private func carryOut(
        _ call: StoreCall,
        _ begun: StoredStoreAction,
        _ name: StoreActionName,
        _ pending: Pending
    ) async throws -> Answered {
        var record = StoreActionRecord(digest: pending.digest, state: .begun)
        do {
            try await write(.requested, name, pending)
            let answer = JSONValue.object(try await call.send())
            record.answer = String(decoding: answer.encoded(), as: UTF8.self)
        } catch let failure as StoreActionFailure {
            if failure.outcome != .unknown { record.state = .failed }
            // Another server may have taken the change over; its outcome is kept.
            _ = try await cursors(pending).replace(begun, by: record, name)
            try await write(failure.outcome, name, pending, code: failure.code)
            throw failure
        } catch {
            // Whether it was sent is unknown, but it is over, so that a repetition need not wait.
            _ = try? await cursors(pending).replace(begun, by: record, name)
            throw error
        }
        record.state = .completed
        try await cursors(pending).complete(begun, record, name)
        try await write(.completed, name, pending)
        await refresh(call, pending)
        return answered(.completed, pending, draft: call.draft, answer: record.answer)
    }

    /// Queries the store about the changed purchase; if that fails, the schedule queries it later.
    private func refresh(_ call: StoreCall, _ pending: Pending) async {
        do {
            try await call.refresh()
        } catch {
            context.log(
                .warning,
                "a purchase could not be asked about",
                in: pending.environment,
                code: error is StorageError ? "storage" : "not-asked",
                detail: pending.subject.action
            )
        }
    }

    private func asProblem<Result>(
        _ pending: Pending,
        _ body: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await body()
        } catch let failure as StoreActionFailure {
            throw failure.problem(isRepeatable: pending.isRepeatable, at: context.clock())
        }
    }

    // MARK: Recording

    private func cursors(_ pending: Pending) -> Cursors {
        context.cursors(in: pending.environment)
    }

    private func journal(_ pending: Pending) -> StoreActionJournal {
        StoreActionJournal(
            context: context,
            environment: pending.environment,
            presenter: presenter
        )
    }

    private func write(
        _ outcome: AuditEntry.StoreChange.Outcome,
        _ name: StoreActionName,
        _ pending: Pending,
        code: String? = nil
    ) async throws {
        let line = name.auditName(outcome)
        try await journal(pending).write(outcome, of: pending.subject, code: code, name: line)
    }

    // MARK: Response

    private func answered(
        _ outcome: AuditEntry.StoreChange.Outcome,
        _ pending: Pending,
        draft: Request? = nil,
        isRepeated: Bool = false,
        answer: String? = nil
    ) -> Answered {
        let subject = pending.subject
        let answer = answer.flatMap { try? JSONDocument(Array($0.utf8), limits: .local).root }
        let response = Response.json(headers: Self.headers) { writer in
            writer.field("app", app.id)
            writer.field("environment", pending.environment.rawValue)
            writer.field("action", subject.action)
            writer.field("detail", subject.detail)
            writer.field("lineage", subject.purchase?.lineage.key)
            writer.field("customer", subject.purchase?.owner?.text)
            writer.field("outcome", outcome.rawValue)
            writer.field("repeated", isRepeated)
            writer.key("request")
            if let draft { StoreCall.write(draft, to: &writer) } else { writer.null() }
            writer.field("answer", answer.map { JSONValue($0) } ?? .null)
        }
        return Answered(response: response, outcome: outcome)
    }
}

extension Problem {
    static let unknownPurchase = Problem(
        "unknown-purchase",
        detail: "Name it by a transaction id, an order number or a purchase token that is stored; "
            + "`GET /v1/apps/{app}/lookup` finds purchases."
    )

    fileprivate static let idempotencyKeyNeeded = Problem(
        "idempotency-key-needed",
        detail:
            "Send `Idempotency-Key` with a new value for each change, so that a repeated request "
            + "changes the purchase once. `?dryRun=true` needs none."
    )

    fileprivate static let storeActionUnderWay = Problem(
        "store-action-under-way",
        detail: "Another request with the same key has not been answered yet. Send it again later."
    )
}
