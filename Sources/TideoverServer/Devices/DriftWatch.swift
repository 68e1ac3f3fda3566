import TideoverCore
import TideoverStorage

/// Compares a device's conclusion with our answer, in a separate commit, and queries the store if
/// that may fix a difference.
struct DriftWatch: Sendable {
    let context: AppContext
    let clients: StoreClients

    /// The maximum number of a customer's drifts examined: open ones, and those that just ended.
    private static let mostDrift = 50
    /// The maximum number of drifts that may begin for a customer in an hour, which limits a device
    /// that changes its conclusion constantly.
    private static let mostInAnHour = 8

    private var app: App { context.app }

    /// Records a device's report, and returns the customer's open drifts and those that began or
    /// ended with it.
    ///
    /// - Throws: `StorageError`.
    func hear(
        _ conclusion: DeviceConclusion?,
        of key: CustomerKey,
        from changer: Sender?,
        _ rulings: [Lineage: ClaimRuling],
        at now: Instant
    ) async throws -> [Drift] {
        guard let conclusion else { return try recent(key, since: now) }
        // A commit derives the primary id, so a report of an alias is a report of that customer.
        let identity = try context.storage.identity(of: key)
        let key = key.scope.key(identity.primary)
        let report = try report(conclusion, key, identity, rulings, at: now)
        try await commit(report, key, from: changer, at: now)
        let found = try recent(key, since: now)
        for drift in found where drift.openedAt == now {
            context.metrics.count(.drift, app.id, drift.direction.rawValue, drift.cause.rawValue)
            context.log(
                .info,
                "drift found",
                in: key.environment,
                code: drift.cause.rawValue,
                detail: drift.direction.rawValue
            )
        }
        let questions = Set(
            found.filter { $0.asksStore || $0.asksGooglePlay }.compactMap(\.lineage)
        ).sorted()
        guard !questions.isEmpty else { return found }
        for lineage in questions {
            try await clients.askAtOnce(about: lineage, app.id, key.environment)
        }
        return try recent(key, since: now)
    }

    /// Returns the drifts that are open or ended since `now`, newest first.
    private func recent(_ key: CustomerKey, since now: Instant) throws -> [Drift] {
        try context.storage.drift(of: key, limit: Self.mostDrift).filter { drift in
            drift.openedAt >= now || drift.healing.map { $0.at >= now } ?? true
        }
    }

    /// Commits a report that changes something; most reports agree, and cost only a read.
    private func commit(
        _ report: DeviceReport,
        _ key: CustomerKey,
        from changer: Sender?,
        at now: Instant
    ) async throws {
        let heard = HeardReport(key: key, report: report)
        let known = try context.storage.knownLineages(of: key, now: now)
        let foreseen = Projector(app: app, issuesPasses: false, heard: heard).derive(known)
        guard !foreseen.drift.isEmpty else { return }
        guard try mayChange(foreseen, of: key, from: changer, at: now) else {
            return context.metrics.count(.unheardReports, app.id)
        }
        let commitRequest = CommitRequest(
            app: app.id,
            environment: key.environment,
            customers: [key],
            now: now
        )
        let projector = Projector(app: app, heard: heard)
        _ = try await context.storage.commit(commitRequest, derive: projector.derive)
    }

    /// Returns whether the sender and the customer are within their budgets, since a device's
    /// report proves nothing.
    private func mayChange(
        _ foreseen: Derivation,
        of key: CustomerKey,
        from changer: Sender?,
        at now: Instant
    ) throws(StorageError) -> Bool {
        guard context.rateLimiter.objection(to: changer) == nil else { return false }
        if foreseen.drift.contains(where: { $0.openedAt == now }) {
            let begun = try context.storage.drift(of: key, limit: Self.mostInAnHour)
                .count { $0.openedAt > now - .hours(1) }
            guard begun < Self.mostInAnHour else { return false }
        }
        context.rateLimiter.charge(changer, storing: foreseen.byteCount)
        return true
    }

    // MARK: Ownership

    private func report(
        _ conclusion: DeviceConclusion,
        _ key: CustomerKey,
        _ identity: CustomerIdentity,
        _ rulings: [Lineage: ClaimRuling],
        at now: Instant
    ) throws -> DeviceReport {
        var conclusion = conclusion
        let known = Set(app.catalogue.entitlements)
        conclusion.words = conclusion.words.filter { known.contains($0.key) }
        let refused = rulings.filter { $0.key.environment == key.environment && $0.value.isRefusal }
        let mended = try recent(key, since: now).filter { !$0.isOpen }.map(\.entitlement)
        var report = DeviceReport(conclusion, refused: refused.keys.min(), mended: Set(mended))
        for id in Set(conclusion.words.values.compactMap(\.originalTransactionId)) {
            report.purchases[id] = try purchase(id, key, identity, refused, at: now)
        }
        return report
    }

    private func purchase(
        _ id: String,
        _ key: CustomerKey,
        _ identity: CustomerIdentity,
        _ refused: [Lineage: ClaimRuling],
        at now: Instant
    ) throws -> DeviceReport.Purchase? {
        for ownership in [Ownership.purchased, .familyShared] {
            let lineage = Lineage(
                store: .appStore,
                environment: key.environment,
                id: id,
                ownership: ownership
            )
            let lineageRecord = try context.storage.lineageRecord(lineage, app: app.id)
            guard !lineageRecord.facts.isEmpty else { continue }
            return DeviceReport.Purchase(
                lineage: lineage,
                holder: holder(of: lineageRecord, identity, isRefused: refused[lineage] != nil, now)
            )
        }
        return nil
    }

    /// Returns the owner as the customer sees it. The customer's other ids are the customer.
    private func holder(
        of lineageRecord: LineageRecord,
        _ identity: CustomerIdentity,
        isRefused: Bool,
        _ now: Instant
    ) -> DeviceReport.Holder {
        if identity.owns(lineageRecord.owners, at: now) { return .customer }
        return lineageRecord.owners.owner(at: now) == nil && !isRefused ? .nobody : .another
    }
}

extension Drift {
    /// Whether a query of Google Play can find the notification that was missed.
    fileprivate var asksGooglePlay: Bool {
        isOpen && lineage?.store == .googlePlay && cause == .missedNotification
    }
}

extension ClaimRuling {
    fileprivate var isRefusal: Bool {
        if case .refused = self { true } else { false }
    }
}

extension Derivation {
    /// The number of bytes that it adds to the storage.
    fileprivate var byteCount: Int {
        answer.count + drift.reduce(0) { $0 + $1.form.count }
            + events.reduce(0) { $0 + $1.body.count }
    }
}
