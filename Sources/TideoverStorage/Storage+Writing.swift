package import TideoverCore

/// Single changes, each in a transaction of its own.
extension Storage {
    package func claimDue(_ order: DueOrder) async throws(StorageError) -> [DueClaim] {
        try await write(app: order.app) { writer throws(StorageError) in try writer.claimDue(order)
        }
    }

    package func restore(
        _ records: [StoredRecord],
        in scope: AppScope,
        now: Instant
    ) async throws(StorageError) -> [Restored] {
        let rows = records.map { RestoredRow($0) }
        return try await write(app: scope.app) { writer throws(StorageError) in
            try writer.restore(rows, in: scope, now: now)
        }
    }

    package func remove(
        _ records: [StoredRecord],
        in scope: AppScope,
        now: Instant
    ) async throws(StorageError) {
        try await write(app: scope.app) { writer throws(StorageError) in
            try writer.remove(records, in: scope, now: now)
        }
    }

    package func prune(_ order: PruneOrder) async throws(StorageError) -> Pruned {
        try await write(app: order.app) { writer throws(StorageError) in try writer.prune(order) }
    }

    package func erase(_ erasure: Erasure) async throws(StorageError) -> Erased? {
        try await write(app: erasure.customer.app) { writer throws(StorageError) in
            try writer.erase(erasure)
        }
    }

    package func keep(_ form: [UInt8], as key: BookmarkKey) async throws(StorageError) {
        try await write(app: key.app) { writer throws(StorageError) in
            try writer.keep(form, as: key)
        }
    }

    package func replace(
        _ former: [UInt8]?,
        by form: [UInt8],
        as key: BookmarkKey
    ) async throws(StorageError) -> Bool {
        try await write(app: key.app) { writer throws(StorageError) in
            try writer.replace(former, by: form, as: key)
        }
    }

    package func keep(_ order: AttributeOrder) async throws(StorageError) -> [String] {
        try await write(app: order.customer.app) { writer throws(StorageError) in
            try writer.keep(order)
        }
    }

    package func record(
        _ version: PolicyVersion,
        in scope: AppScope
    ) async throws(StorageError) -> Bool {
        try await write(app: scope.app) { writer throws(StorageError) in
            try writer.record(version, in: scope)
        }
    }

    package func add(_ counts: [Tally: Int64], app: String) async throws(StorageError) {
        guard !counts.isEmpty else { return }
        try await write(app: app) { writer throws(StorageError) in try writer.add(counts, app: app)
        }
    }

    package func add(_ key: KeyRecord) async throws(StorageError) {
        try await write(app: nil) { writer throws(StorageError) in try writer.add(key) }
    }

    package func revokeKey(_ id: String, at now: Instant) async throws(StorageError) -> KeyRecord? {
        try await write(app: nil) { writer throws(StorageError) in try writer.revokeKey(id, at: now)
        }
    }

    package func keep(_ update: FiguresUpdate) async throws(StorageError) -> Bool {
        try await write(app: update.app) { writer throws(StorageError) in try writer.keep(update) }
    }

    package func markFigures(
        in scope: AppScope,
        otherThan stamp: Int64,
        after: String?,
        limit: Int
    ) async throws(StorageError) -> String? {
        try await write(app: scope.app) { writer throws(StorageError) in
            try writer.markFigures(in: scope, otherThan: stamp, after: after, limit: limit)
        }
    }

    package func put(_ webhook: WebhookRecord) async throws(StorageError) {
        try await write(app: webhook.key.app) { writer throws(StorageError) in
            try writer.put(webhook)
        }
    }

    package func remove(_ webhook: WebhookKey) async throws(StorageError) {
        try await write(app: webhook.app) { writer throws(StorageError) in
            try writer.remove(webhook)
        }
    }

    package func claim(
        _ key: WebhookKey,
        now: Instant,
        until: Instant
    ) async throws(StorageError) -> Int64? {
        try await write(app: key.app) { writer throws(StorageError) in
            try writer.claim(key, now: now, until: until)
        }
    }

    package func settle(_ settlement: WebhookSettlement) async throws(StorageError) -> Bool {
        try await write(app: settlement.key.app) { writer throws(StorageError) in
            try writer.settle(settlement)
        }
    }

    package func queue(
        _ events: [EventID],
        to key: WebhookKey,
        at now: Instant
    ) async throws(StorageError) {
        try await write(app: key.app) { writer throws(StorageError) in
            try writer.queue(events, to: key, at: now)
        }
    }

    package func setWebhook(
        _ key: WebhookKey,
        disabled reason: String?,
        at now: Instant
    ) async throws(StorageError) -> Bool {
        try await write(app: key.app) { writer throws(StorageError) in
            try writer.setWebhook(key, disabled: reason, at: now)
        }
    }
}
