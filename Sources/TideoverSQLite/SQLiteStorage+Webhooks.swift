public import TideoverCore
public import TideoverStorage

extension SQLiteStorage {
    public func webhooks(app: String) throws(StorageError) -> [WebhookRecord] {
        try readSessions.read { readSession throws(StorageError) in
            try readSession.webhookQueries.webhooks(app: app)
        }
    }

    public func webhook(_ key: WebhookKey) throws(StorageError) -> WebhookRecord? {
        try readSessions.read { readSession throws(StorageError) in
            try readSession.webhookQueries.webhook(key)
        }
    }

    public func webhookQueue(
        of key: WebhookKey,
        now: Instant,
        limit: Int
    ) throws(StorageError) -> WebhookQueue {
        try readSessions.read { readSession throws(StorageError) in
            try readSession.webhookQueries.queue(of: key, now: now, limit: limit)
        }
    }

    public func webhookAttempts(
        of key: WebhookKey,
        before: Int64?,
        limit: Int
    ) throws(StorageError) -> [WebhookAttempt] {
        try readSessions.read { readSession throws(StorageError) in
            try readSession.webhookQueries.attempts(of: key, before: before, limit: limit)
        }
    }

    public func put(_ webhook: WebhookRecord) async throws(StorageError) {
        try await openWriter().write { writeSession throws(StorageError) in
            try writeSession.webhooks.put(webhook)
        }
    }

    public func claim(
        _ key: WebhookKey,
        now: Instant,
        until: Instant
    ) async throws(StorageError) -> Int64? {
        try await openWriter().write { writeSession throws(StorageError) in
            try writeSession.webhooks.claim(key, now: now, until: until)
        }
    }

    public func settle(_ settlement: WebhookSettlement) async throws(StorageError) -> Bool {
        try await openWriter().write { writeSession throws(StorageError) in
            try writeSession.webhooks.settle(settlement)
        }
    }

    public func queue(
        _ events: [EventID],
        to key: WebhookKey,
        at now: Instant
    ) async throws(StorageError) {
        try await openWriter().write { writeSession throws(StorageError) in
            try writeSession.webhooks.queue(events, to: key, at: now)
        }
    }

    public func setWebhook(
        _ key: WebhookKey,
        disabled reason: String?,
        at now: Instant
    ) async throws(StorageError) -> Bool {
        try await openWriter().write { writeSession throws(StorageError) in
            try writeSession.webhooks.set(key, disabled: reason, at: now)
        }
    }
}
