import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverRevenueCat
import TideoverStorage

/// Receives RevenueCat's webhooks: verifies their origin, reads relayed facts, commits them, then
/// responds. If an API key is configured, it then queries RevenueCat about the customer for
/// comparison.
struct RevenueCatIngest: Sendable {
    let context: AppContext

    private var app: App { context.app }

    func respond(to request: Request) async throws -> Response {
        guard let trust = app.revenueCat else { throw Problem.revenueCatNotConfigured(app.id) }
        do {
            let webhook = try await believed(request, trust)
            return try await take(webhook)
        } catch let problem as Problem {
            context.refused(problem.slug)
            throw problem
        } catch {
            context.failed()
            throw error
        }
    }

    private struct Webhook: Sendable {
        let reading: RevenueCatReading
        let evidence: Evidence
        let trust: RevenueCatTrust

        var receivedAt: Instant { evidence.receivedAt }
    }

    /// Verifies and reads a webhook. A rejection costs at most the comparison of a secret.
    private func believed(
        _ request: Request,
        _ trust: RevenueCatTrust
    ) async throws -> Webhook {
        let now = context.clock()
        do {
            let reading = try await onPool { () throws -> RevenueCatReading in
                if let objection = trust.check.objection(to: request, at: now) { throw objection }
                return try trust.reader.event(body: request.body)
            }
            if let environment = reading.environment { context.noteEnvironment(environment) }
            guard reading.event.timestamp <= now + .clockTolerance else {
                context.log(
                    .error,
                    "dated in the future, check the clock",
                    in: reading.environment
                )
                throw Problem.signedInTheFuture(by: reading.event.timestamp - now)
            }
            let evidence = Evidence(
                id: EvidenceID(of: request.body),
                dedupeKey: Self.dedupeKey(of: reading),
                source: .revenueCatWebhook,
                signedAt: reading.event.timestamp,
                receivedAt: now,
                bytes: request.body
            )
            return Webhook(reading: reading, evidence: evidence, trust: trust)
        } catch {
            let refusal = error as? any Refusal
            context.noteRefusal(refusal)
            throw refusal?.problem ?? error
        }
    }

    /// Returns the key of an event; an id that cannot be stored is replaced by its digest.
    private static func dedupeKey(of reading: RevenueCatReading) -> String {
        guard !reading.event.id.isStorableName else { return reading.dedupeKey }
        return "revenuecat:sha256:" + EvidenceID(of: Array(reading.event.id.utf8)).hex
    }

    // MARK: Commits

    private func take(_ webhook: Webhook) async throws -> Response {
        try await declareAliases(webhook)
        // Stored before the transfer of known purchases, so that facts arriving meanwhile find it.
        try await keepTransfer(webhook)
        var newFacts = 0
        var isNew = false
        for environment in environments(of: webhook) {
            let commitRequest = try await onPool {
                try self.commitRequest(of: webhook, in: environment)
            }
            let outcome = try await context.commit(commitRequest)
            // Also for a repeated webhook, since the server may have stopped after the commit.
            try await handOn(webhook, in: environment)
            guard case .committed(let count, _, let rulings) = outcome else { continue }
            isNew = true
            newFacts += count
            context.count(rulings)
            context.count(notUnderstood(in: webhook.reading, commitRequest.facts, environment))
        }
        return try await answer(webhook, isNew: isNew, newFacts)
    }

    /// Returns the environments of a webhook. A transfer without an environment applies to all.
    private func environments(of webhook: Webhook) -> [Environment] {
        webhook.reading.environment.map { [$0] } ?? app.environments
    }

    private func commitRequest(
        of webhook: Webhook,
        in environment: Environment
    ) throws(StorageError) -> CommitRequest {
        let reading = webhook.reading
        let chains = try context.storage.chains(of: reading.lineages, app: app.id)
        let facts = reading.facts(
            learnedAt: webhook.receivedAt,
            evidence: webhook.evidence.id,
            chains: chains
        ).filter { $0.lineage.environment == environment }
        let claims =
            try timely(claims(webhook, chains, in: environment), webhook, in: environment)
            + transfers(webhook, in: environment)
        let unknown = notUnderstood(in: reading, facts, environment)
        context.warn(of: unknown)
        return CommitRequest(
            app: app.id,
            environment: environment,
            evidence: webhook.evidence,
            facts: facts,
            evidenceNames: reading.everyCustomer,
            ownership: OwnershipClaims(
                claims,
                by: .relay,
                rule: context.relayRule(reading.ids.sdkAccounts)
            ),
            transfer: app.policy.transfer,
            tallies: unknown.tallies,
            now: webhook.receivedAt
        )
    }

    /// Returns the claims of a webhook to purchases in one environment.
    private func claims(
        _ webhook: Webhook,
        _ chains: StoreChains,
        in environment: Environment
    ) -> [OwnershipClaim] {
        webhook.reading.claims(at: webhook.receivedAt, chains: chains)
            .filter { $0.lineage.environment == environment }
    }

    private func answer(
        _ webhook: Webhook,
        isNew: Bool,
        _ newFacts: Int
    ) async throws -> Response {
        guard isNew else {
            context.repeated()
            return .json(["status": "duplicate"])
        }
        let known = webhook.reading.event.type.known
        context.committed(known?.rawValue ?? "unknown", webhook.reading.environment)
        if !webhook.reading.isTest {
            await RevenueCatQuestion(context: context).ask(webhook.reading)
        }
        return .json(["status": "committed", "newFacts": .integer(Int64(newFacts))])
    }

    private func notUnderstood(
        in reading: RevenueCatReading,
        _ facts: [Fact],
        _ environment: Environment
    ) -> NotUnderstood {
        let left = reading.notes.compactMap { note -> String? in
            if case .incomplete = note { "incomplete \(reading.eventType)" } else { nil }
        }
        let products = facts.compactMap { fact -> String? in
            guard case .term(let term) = fact.assertion else { return nil }
            let id = app.catalogue.listedID(of: term.productId, by: fact)
            return app.catalogue[id] == nil ? term.productId : nil
        }
        return NotUnderstood(
            environment: environment,
            words: reading.unrecognised,
            rarity: left.first,
            products: products
        )
    }
}

// MARK: - Customers

extension RevenueCatIngest {
    private func declareAliases(_ webhook: Webhook) async throws {
        guard case .sameCustomer(let ids) = webhook.reading.customers,
            let customer = webhook.reading.event.customer
        else { return }
        try await context.declareAliases(ids, of: customer, at: webhook.receivedAt)
    }

    private func book(of environment: Environment) -> RelayedTransfers {
        RelayedTransfers(context, in: environment)
    }

    private func keepTransfer(_ webhook: Webhook) async throws(StorageError) {
        guard case .transfer(let from, let to) = webhook.reading.customers,
            let customer = Self.currentOwner(to)
        else { return }
        for environment in environments(of: webhook) {
            for former in from where former != customer {
                try await book(of: environment)
                    .keep(from: former, to: customer, at: webhook.reading.event.timestamp)
            }
        }
    }

    /// Returns the customer who received the webhook's purchases in a later transfer; nil if none.
    private func currentOwner(
        _ webhook: Webhook,
        in environment: Environment
    ) throws(StorageError) -> CustomerID? {
        let event = webhook.reading.event
        guard let customer = event.customer else { return nil }
        return try book(of: environment).currentOwner(of: customer, since: event.timestamp)
    }

    /// Removes claims that would undo a later transfer.
    private func timely(
        _ claims: [OwnershipClaim],
        _ webhook: Webhook,
        in environment: Environment
    ) throws(StorageError) -> [OwnershipClaim] {
        guard try currentOwner(webhook, in: environment) != nil else { return claims }
        var timely: [OwnershipClaim] = []
        for claim in claims {
            let lineageRecord = try context.storage.lineageRecord(claim.lineage, app: app.id)
            if lineageRecord.owners.stated.owner(at: claim.at) == nil { timely.append(claim) }
        }
        return timely
    }

    /// Claims purchases that arrive after their transfer for the current owner. This follows the
    /// claim of the former owner, so policy rules as if both had arrived in order.
    private func handOn(_ webhook: Webhook, in environment: Environment) async throws {
        guard let currentOwner = try currentOwner(webhook, in: environment) else { return }
        let chains = try context.storage.chains(of: webhook.reading.lineages, app: app.id)
        let claims = claims(webhook, chains, in: environment).map {
            OwnershipClaim(lineage: $0.lineage, customer: currentOwner, at: $0.at)
        }
        guard !claims.isEmpty else { return }
        let commitRequest = CommitRequest(
            app: app.id,
            environment: environment,
            ownership: OwnershipClaims(claims, by: .relay, rule: Projector(app: app).rule),
            transfer: app.policy.transfer,
            now: webhook.receivedAt
        )
        let outcome = try await context.commit(commitRequest)
        if case .committed(_, _, let rulings) = outcome { context.count(rulings) }
    }

    /// Returns the recipient of a transfer, preferring an id that the app assigned.
    private static func currentOwner(_ customers: [CustomerID]) -> CustomerID? {
        customers.first { !$0.isRevenueCatAnonymous } ?? customers.first
    }

    /// Returns the claims of a transfer: the purchases of the former customers, for the current
    /// one. Policy rules on them.
    private func transfers(
        _ webhook: Webhook,
        in environment: Environment
    ) throws(StorageError) -> [OwnershipClaim] {
        guard case .transfer(let from, let to) = webhook.reading.customers,
            let named = Self.currentOwner(to)
        else { return [] }
        let since = webhook.reading.event.timestamp
        let customer = try book(of: environment).currentOwner(of: named, since: since) ?? named
        var lineages: Set<Lineage> = []
        for former in from {
            let key = CustomerKey(app: app.id, environment: environment, customer: former)
            guard
                let all = try context.storage.lineages(of: key, now: webhook.receivedAt)
            else { continue }
            for lineageRecord in all.lineageRecords
            where all.identity.owns(lineageRecord.owners, at: webhook.receivedAt) {
                lineages.insert(lineageRecord.lineage)
            }
        }
        return lineages.filter { $0.environment == environment }.sorted().map {
            OwnershipClaim(lineage: $0, customer: customer, at: webhook.receivedAt)
        }
    }
}

extension RevenueCatReading {
    /// The ids of the customer. A transfer names two customers, and policy decides between them.
    var ids: [CustomerID] {
        if case .transfer = customers { [] } else { everyCustomer }
    }
}
