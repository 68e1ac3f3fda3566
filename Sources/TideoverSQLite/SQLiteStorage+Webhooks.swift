public import TideoverCore
public import TideoverStorage

extension SQLiteStorage {
    public func webhooks(app: String) throws(StorageError) -> [WebhookRecord] {
        try readers.read { reader throws(StorageError) in
            try reader.webhookQueries.webhooks(app: app)
        }
    }

    public func webhookQueue(
        of key: WebhookKey,
        now: Instant,
        limit: Int
    ) throws(StorageError) -> WebhookQueue {
        try readers.read { reader throws(StorageError) in
            try reader.webhookQueries.queue(of: key, now: now, limit: limit)
        }
    }

    public func webhookAttempts(
        of key: WebhookKey,
        before: Int64?,
        limit: Int
    ) throws(StorageError) -> [WebhookAttempt] {
        try readers.read { reader throws(StorageError) in
            try reader.webhookQueries.attempts(of: key, before: before, limit: limit)
        }
    }

    public func put(_ webhook: WebhookRecord) async throws(StorageError) {
        try await openWriter().write { ledger throws(StorageError) in
            try ledger.webhooks.put(webhook)
        }
    }

    public func claim(
        _ key: WebhookKey,
        now: Instant,
        until: Instant
    ) async throws(StorageError) -> Int64? {
        try await openWriter().write { ledger throws(StorageError) in
            try ledger.webhooks.claim(key, now: now, until: until)
        }
    }

    public func settle(_ settlement: WebhookSettlement) async throws(StorageError) -> Bool {
        try await openWriter().write { ledger throws(StorageError) in
            try ledger.webhooks.settle(settlement)
        }
    }

    public func queue(
        _ events: [EventID],
        to key: WebhookKey,
        at now: Instant
    ) async throws(StorageError) {
        try await openWriter().write { ledger throws(StorageError) in
            try ledger.webhooks.queue(events, to: key, at: now)
        }
    }

    public func setWebhook(
        _ key: WebhookKey,
        disabled reason: String?,
        at now: Instant
    ) async throws(StorageError) -> Bool {
        try await openWriter().write { ledger throws(StorageError) in
            try ledger.webhooks.set(key, disabled: reason, at: now)
        }
    }
}
