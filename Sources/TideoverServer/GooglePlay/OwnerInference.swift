import TideoverCore
import TideoverGooglePlay
import TideoverStorage

/// Infers who owns the purchases of Google Play that continue an expired one, and stores that.
///
/// A customer can buy an expired subscription again in the Play Store, where the app cannot name
/// them. The store then names the expired token. Its owner has the new purchase until something
/// names an owner directly, such as the account id of a token that replaces it.
struct OwnerInference: Sendable {
    let context: AppContext
    let trust: PlayTrust

    /// The largest number of purchases that are read for one expired token.
    private static let mostFollowers = 100

    private var app: App { context.app }

    /// Infers the owners of a changed lineage, and of those that continue it. Returns whether it
    /// stored something; then the lineages concerned count as changed in turn.
    ///
    /// - Throws: `StorageError`.
    func infer(around changed: LineageRecord) async throws -> Bool {
        var hasStored = try await infer(for: changed)
        for follower in try await followers(of: changed) where try await infer(for: follower) {
            hasStored = true
        }
        return hasStored
    }

    /// Returns the lineages that continue a token of this one; none if it has no owner.
    private func followers(of lineageRecord: LineageRecord) async throws -> [LineageRecord] {
        guard !lineageRecord.owners.isEmpty else { return [] }
        let read = lineageRecord.facts.compactMap(\.subscription?.token.id)
        let (storage, app, lineage) = (context.storage, app.id, lineageRecord.lineage)
        return try await onPool {
            try Set(read + [lineage.id]).sorted().flatMap { token in
                try storage.lineageRecords(
                    named: .expired(token),
                    app: app,
                    limit: Self.mostFollowers
                )
            }.filter { $0.lineage != lineage && $0.lineage.environment == lineage.environment }
        }
    }

    /// Stores the owners of a lineage that follow from the expired purchase. Nothing is inferred if
    /// another fact or a claim has named an owner from the start on.
    private func infer(for lineageRecord: LineageRecord) async throws -> Bool {
        let lineage = lineageRecord.lineage
        guard let read = lineageRecord.followingRead, let expired = read.follows,
            let start = read.startedAt,
            lineageRecord.owners.stated.allSatisfy({ $0.from > start }),
            let owners = try await owners(of: expired, continuedBy: lineage)
        else { return false }
        let inferred = owners.inferred(from: start, by: expired, known: lineageRecord.inferences)
        guard !inferred.isEmpty else { return false }
        let now = context.clock()
        // Later than all earlier inferences, so that it counts although a clock was set back.
        let said = max(now, lineageRecord.inferredAt.map { $0 + Milliseconds(1) } ?? now)
        let records = inferred.map {
            InferredOwnerRecord($0, of: lineage, at: now, assertedAt: said)
        }
        let commitRequests = records.map { record in
            CommitRequest(
                app: app.id,
                environment: lineage.environment,
                evidence: record.evidence,
                facts: [record.fact],
                transfer: app.policy.transfer,
                now: now
            )
        }
        return try await context.commit(commitRequests).contains { $0 != .duplicate }
    }

    /// Returns the owners of an expired token's lineage; nil if it is unknown, or the same lineage.
    private func owners(
        of expired: PlayToken,
        continuedBy lineage: Lineage
    ) async throws -> [OwnershipEntry]? {
        let playLookup = PlayLookup(context: context, trust: trust)
        guard let former = try await playLookup.lineage(of: expired), former != lineage,
            former.environment == lineage.environment
        else { return nil }
        let (storage, app) = (context.storage, app.id)
        return try await onPool { try storage.lineageRecord(former, app: app).owners }
    }
}

extension [OwnershipEntry] {
    /// Returns the owners from an instant on that are not inferred yet. The instants of earlier
    /// inferences are judged again.
    fileprivate func inferred(
        from start: Instant,
        by expired: PlayToken,
        known: [Instant: CustomerID]
    ) -> [InferredOwner] {
        let edges = deciding.flatMap { [$0.from, $0.until].compactMap(\.self) } + known.keys
        var inferred: [InferredOwner] = []
        var latest: CustomerID?
        for instant in Set(edges.filter { $0 > start } + [start]).sorted() {
            guard let customer = owner(at: instant) else { continue }
            let isNews = known[instant].map { $0 != customer } ?? (customer != latest)
            latest = customer
            guard isNews else { continue }
            inferred.append(InferredOwner(customer: customer, from: instant, expired: expired))
        }
        return inferred
    }
}

extension LineageRecord {
    /// Whether the store says that it continues an expired purchase.
    var followsExpired: Bool { followingRead != nil }

    /// The read which says since when it continues which expired purchase; the earliest start, if
    /// there are several.
    fileprivate var followingRead: PlaySubscription? {
        facts.compactMap(\.subscription).filter { $0.follows != nil }.min {
            ($0.startedAt ?? .distantFuture, $0.token) < ($1.startedAt ?? .distantFuture, $1.token)
        }
    }

    /// The newest inferred owner of each start.
    fileprivate var inferences: [Instant: CustomerID] {
        let names = [OwnershipEntry].inferredNames(in: facts)
        return Dictionary(names.map { ($0.from, $0.customer) }) { _, last in last }
    }

    /// When an owner was asserted last by inference.
    fileprivate var inferredAt: Instant? {
        facts.filter { $0.claim?.why == .inferred }.map(\.assertedAt).max()
    }
}

extension Fact {
    /// The read of a subscription on Google Play.
    fileprivate var subscription: PlaySubscription? {
        if case .playSubscription(let read) = assertion { read } else { nil }
    }
}
