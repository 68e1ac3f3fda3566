import TideoverAppStore
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Answers `POST /v1/apps/{app}/customers/{customer}/reconcile`: receives a device's evidence and
/// returns the customer's entitlements.
///
/// Each piece is accepted or rejected separately. Accepted pieces are stored before the response is
/// sent, so that the device may finish its transactions. Ownership is decided afterwards, in a
/// separate commit.
struct ReconcileRoute: Sendable {
    let context: AppContext
    let clients: StoreClients

    private var app: App { context.app }

    func respond(to request: Request, customer: String) async throws -> Response {
        let customer = try CustomerID.storable(customer)
        guard app.appStore != nil || app.googlePlay != nil else {
            throw Problem.appStoreNotConfigured(app.id)
        }
        let wanted = try request.queryValue("environment").map { _ in
            try app.environment(askedIn: request)
        }
        let store = try request.askedStore()
        let evidence = try DeviceEvidence(request.body)
        let now = context.clock()
        let kept = try await keep(evidence, from: request, at: now)
        let environment = wanted ?? kept.environment ?? app.usualEnvironment
        context.noteEnvironment(environment)
        let changer = context.rateLimiter.sender(of: request, to: app.id, for: .change)
        let rulings = try await telling(kept) {
            try await claim(
                kept,
                for: customer,
                from: changer,
                answering: environment,
                in: store ?? evidence.store,
                at: now
            )
        }
        let key = CustomerKey(app: app.id, environment: environment, customer: customer)
        let drift = try await DriftWatch(context: context, clients: clients)
            .hear(evidence.conclusion, of: key, from: changer, rulings, at: now)
        let choice = app.languages.choice(for: request)
        let snapshot = try await SnapshotRoute(context: context).body(
            of: key,
            in: choice,
            at: now,
            in: store
        )
        return respond(snapshot, choice?.language.tag, kept, rulings, drift)
    }

    /// Stores the evidence of a request that does not present all purchases of a device, and claims
    /// them for the customer.
    func take(
        _ evidence: DeviceEvidence,
        from request: Request,
        for customer: CustomerID
    ) async throws -> (kept: KeptEvidence, rulings: [Lineage: ClaimRuling]) {
        let now = context.clock()
        var kept = try await keep(evidence, from: request, at: now)
        kept.isPart = true
        let part = kept
        let rulings = try await telling(part) {
            try await claim(
                part,
                for: customer,
                from: context.rateLimiter.sender(of: request, to: app.id, for: .change),
                answering: part.environment ?? app.usualEnvironment,
                in: evidence.store,
                at: now
            )
        }
        return (part, rulings)
    }

    /// Verifies signed pieces, queries Google Play about others, and stores what is accepted.
    private func keep(
        _ evidence: DeviceEvidence,
        from request: Request,
        at now: Instant
    ) async throws -> KeptEvidence {
        let isAsked = app.googlePlay != nil
        let signed = evidence.items.filter { !isAsked || $0.presented == nil }
        let judged = try await judge(signed, from: request, at: now)
        let asked = evidence.items.filter { isAsked && $0.presented != nil }
        return KeptEvidence(
            items: (try await keep(judged, at: now) + ask(asked, from: request))
                .sorted { $0.item.position < $1.item.position },
            saysNothing: evidence.saysNothing
        )
    }

    // MARK: Verification

    private func judge(
        _ items: [DeviceItem],
        from request: Request,
        at now: Instant
    ) async throws -> [JudgedItem] {
        let sender = context.rateLimiter.sender(of: request, to: app.id, for: .reconcile)
        let trust = app.appStore
        let judged: [JudgedItem]
        do {
            judged = try await context.rateLimiter.pass(sender, through: context.verifications) {
                objection in
                let judged = try await onPool {
                    items.map {
                        JudgedItem($0, trust, at: now, onlyKnownChains: objection != nil)
                    }
                }
                if let objection, judged.contains(where: \.isForged) { throw objection }
                return judged
            }
        } catch {
            throw error is ConcurrencyLimiter.Full ? Problem.overloaded : error
        }
        for case .success(let (_, reading)) in judged.map(\.outcome) {
            try context.requireNotAhead(reading, at: now)
        }
        if judged.contains(where: \.isForged) { context.rateLimiter.charge(sender) }
        return judged
    }

    // MARK: Storage

    /// Commits accepted pieces, purchases first, because a renewal info does not name its owner.
    private func keep(_ judged: [JudgedItem], at now: Instant) async throws -> [KeptItem] {
        let purchases = judged.filter { $0.item.kind != .renewalInfo }
        let renewals = judged.filter { $0.item.kind == .renewalInfo }
        var items = try await keepTogether(purchases, at: now)
        items += try await keepTogether(renewals, at: now)
        for item in items { count(item) }
        return items
    }

    /// Queries Google Play about purchases made there, and stores the responses. Unknown tokens
    /// count against the sender's budget.
    private func ask(_ items: [DeviceItem], from request: Request) async -> [KeptItem] {
        guard let trust = app.googlePlay, let limiter = context.playQuestions else { return [] }
        let sender = context.rateLimiter.sender(of: request, to: app.id, for: .reconcile)
        let play = PlayReconcile(
            context: context,
            trust: trust,
            limiter: limiter,
            onlyKnown: context.rateLimiter.objection(to: sender) != nil
        )
        let asked = await withTaskGroup(of: PlayReconcile.Asked.self) { group in
            for item in items {
                guard let presented = item.presented else { continue }
                group.addTask { await play.ask(item, presented) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let kept = await play.keep(asked.sorted { $0.item.position < $1.item.position })
        for item in kept {
            count(item)
            if item.isUnknownPurchase { context.rateLimiter.charge(sender) }
        }
        return kept
    }

    /// Commits the pieces of each environment together, so that each customer is derived once.
    private func keepTogether(_ judged: [JudgedItem], at now: Instant) async throws -> [KeptItem] {
        var kept: [KeptItem] = []
        var believed: [Environment: [BelievedItem]] = [:]
        for item in judged {
            do {
                let piece = try believe(item, at: now)
                believed[piece.reading.environment, default: []].append(piece)
            } catch {
                kept.append(KeptItem(item: item.item, outcome: .failure(error)))
            }
        }
        for environment in Environment.allCases {
            if let pieces = believed[environment] { kept += await keep(pieces) }
        }
        return kept
    }

    /// Commits all pieces together; if the storage rejects the commit, each piece separately.
    private func keep(_ pieces: [BelievedItem]) async -> [KeptItem] {
        do {
            let outcomes = try await context.commit(pieces.map { ($0.reading, $0.evidence) })
            return zip(pieces, outcomes).map { $0.kept(as: $1) }
        } catch {
            var kept: [KeptItem] = []
            for piece in pieces {
                guard error.reason == .refused, pieces.count > 1 else {
                    kept.append(KeptItem(item: piece.item, outcome: .failure(error)))
                    continue
                }
                kept += await keep([piece])
            }
            return kept
        }
    }

    /// Reports a storage failure with the outcome of each piece, since some may be stored.
    private func telling<Value>(
        _ kept: KeptEvidence,
        _ body: () async throws -> Value
    ) async throws -> Value {
        do {
            if let error = kept.storageError { throw error }
            return try await body()
        } catch let error as StorageError {
            context.log(
                .error,
                "storage failed",
                code: "storage",
                detail: error.description
            )
            throw Problem.notAllKept(kept)
        }
    }

    private func believe(_ judged: JudgedItem, at now: Instant) throws -> BelievedItem {
        let (signed, reading) = try judged.outcome.get()
        let lineages = reading.lineages.sorted()
        if judged.item.kind == .renewalInfo, let lineage = lineages.first,
            try !isKnown(lineage)
        {
            throw DeviceRefusal.renewalInfoAlone
        }
        let source: Source = reading.kind == .receipt ? .appReceipt : .deviceTransaction
        return BelievedItem(
            item: judged.item,
            reading: reading,
            lineages: lineages,
            evidence: Evidence(signed, of: reading, from: source, at: now)
        )
    }

    /// Returns whether the subscription, or its family-shared copy, is known: a renewal info does
    /// not distinguish the two.
    private func isKnown(_ lineage: Lineage) throws(StorageError) -> Bool {
        var shared = lineage
        shared.ownership = .familyShared
        for lineage in [lineage, shared] {
            if try !context.storage.lineageRecord(lineage, app: app.id).facts.isEmpty {
                return true
            }
        }
        return false
    }

    private func count(_ kept: KeptItem) {
        context.metrics.count(.deviceItems, app.id, kept.word)
        guard case .failure(let error) = kept.outcome, let refusal = error as? any Refusal else {
            return
        }
        context.tallies.count(
            Tally(environment: nil, kind: "refusal", name: refusal.code),
            app: app.id
        )
    }

    // MARK: Ownership

    /// Claims each presented lineage for the customer, separately in each environment, except one
    /// that only a renewal info describes. The same commit marks the customer as reconciled if the
    /// evidence is complete.
    ///
    /// - Throws: `too-many-changes` if nothing presented was new and the sender's budget is
    ///   exhausted; `StorageError`.
    private func claim(
        _ kept: KeptEvidence,
        for customer: CustomerID,
        from changer: Sender?,
        answering answered: Environment,
        in store: Store?,
        at now: Instant
    ) async throws -> [Lineage: ClaimRuling] {
        var rulings: [Lineage: ClaimRuling] = [:]
        for (environment, lineages) in kept.lineages(answering: answered) {
            let key = CustomerKey(app: app.id, environment: environment, customer: customer)
            let isWhole = kept.isWhole(in: environment)
            let row = try isWhole ? context.storage.row(of: key) : nil
            let isStoreKnown = store.map { row?.presented.instants[$0] != nil } ?? true
            let isNews = isWhole && (row?.reconciledAt == nil || !isStoreKnown)
            let held = try held(lineages, by: key, at: now)
            for lineage in held {
                rulings[lineage] = .held
                context.metrics.count(.ownershipClaims, app.id, ClaimRuling.held.code)
            }
            let claims = try lineages.filter {
                try !held.contains($0) && mayClaim($0, with: kept.purchased, by: key, at: now)
            }.map { OwnershipClaim(lineage: $0, customer: customer, at: now) }
            guard isNews || !claims.isEmpty else { continue }
            let charges = kept.isNew ? 0 : max(1, claims.count)
            if charges > 0, let objection = context.rateLimiter.objection(to: changer) {
                throw objection
            }
            for _ in 0..<charges { context.rateLimiter.charge(changer) }
            let commitRequest = CommitRequest(
                app: app.id,
                environment: environment,
                customers: [key],
                reconciled: isNews ? [key] : [],
                presentedIn: store,
                accountOffers: try accountOffers(of: claims),
                ownership: OwnershipClaims(claims, rule: Projector(app: app).rule),
                now: now
            )
            let outcome = try await context.commit(commitRequest)
            guard case .committed(_, let rows, let ruled) = outcome else { continue }
            if charges > 0 {
                let bytes = rows.first { $0.key == key }?.answer.count ?? 0
                context.rateLimiter.charge(changer, storing: bytes, chargedBefore: charges)
            }
            for (claim, ruling) in zip(claims, ruled) {
                rulings[claim.lineage] = ruling
                context.metrics.count(.ownershipClaims, app.id, ruling.code)
            }
        }
        return rulings
    }

    /// Returns the introductory offers of the device's store account that paid for purchases of
    /// other customers among the claimed ones. The account gets no second one, even if another
    /// customer uses it.
    private func accountOffers(
        of claims: [OwnershipClaim]
    ) throws(StorageError) -> [AccountOffer] {
        var offers: Set<AccountOffer> = []
        for claim in claims {
            let record = try context.storage.lineageRecord(claim.lineage, app: app.id)
            guard record.owners.stated.owner(at: claim.at) != nil else { continue }
            let history = LineageHistory(
                lineage: claim.lineage,
                facts: record.facts,
                catalogue: app.policyHistory(in: claim.lineage.environment).catalogue
            )
            if let offer = history.accountOffer(by: claim.at) { offers.insert(offer) }
        }
        return Array(offers)
    }

    /// Returns whether the evidence suffices to claim a lineage that the customer does not own.
    ///
    /// A renewal info names neither its app nor its buyer, so it is insufficient by itself. It
    /// counts for the family-shared copy that is presented with it or that the customer owns,
    /// unless a message that states the ownership type says that the lineage was bought.
    private func mayClaim(
        _ lineage: Lineage,
        with purchased: Set<Lineage>,
        by key: CustomerKey,
        at now: Instant
    ) throws(StorageError) -> Bool {
        if purchased.contains(lineage) { return true }
        var shared = lineage
        shared.ownership = .familyShared
        if !purchased.contains(shared), try held([shared], by: key, at: now).isEmpty {
            return false
        }
        let facts = try context.storage.lineageRecord(lineage, app: app.id).facts
        return !facts.contains { fact in
            if case .term = fact.assertion { fact.source != .appReceipt } else { false }
        }
    }

    /// Returns the lineages that the customer already owns, under any of the customer's ids; they
    /// need no claim. An inferred owner does, so that no later claim takes the purchase.
    private func held(
        _ lineages: some Sequence<Lineage>,
        by key: CustomerKey,
        at now: Instant
    ) throws(StorageError) -> Set<Lineage> {
        let ids = try context.storage.identity(of: key).all
        var held: Set<Lineage> = []
        for lineage in lineages {
            let owners = try context.storage.lineageRecord(lineage, app: app.id).owners
            if let owner = owners.stated.owner(at: now), ids.contains(owner) {
                held.insert(lineage)
            }
        }
        return held
    }

    // MARK: Response

    private func respond(
        _ snapshot: [UInt8],
        _ language: String?,
        _ kept: KeptEvidence,
        _ rulings: [Lineage: ClaimRuling],
        _ drift: [Drift]
    ) -> Response {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("items", each: kept.items) { item, writer in
                item.write(to: &writer, rulings)
            }
            writer.field("drift", each: drift) { $0.write(to: &$1) }
        }
        // The snapshot is an object of its own; its members precede these.
        let body = snapshot.dropLast() + [UInt8(ascii: ",")] + writer.bytes.dropFirst()
        var headers: Headers = ["Cache-Control": "private, no-store"]
        headers["Content-Language"] = language
        return .json(bytes: Array(body), headers: headers)
    }
}

extension App {
    /// The default environment: production, if the app serves it.
    var usualEnvironment: Environment {
        environments.first { $0 == .production } ?? environments.first ?? .production
    }
}
