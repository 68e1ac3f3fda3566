package import TideoverCore
package import TideoverStorage

extension PostgreSQLStorage {
    package func webhooks(app: String) throws(StorageError) -> [WebhookRecord] {
        try readSessions.read { session throws(StorageError) in
            try session.webhookQueries.webhooks(app: app)
        }
    }

    package func webhook(_ key: WebhookKey) throws(StorageError) -> WebhookRecord? {
        try readSessions.read { session throws(StorageError) in
            try session.webhookQueries.webhook(key)
        }
    }

    package func webhookQueue(
        of key: WebhookKey,
        now: Instant,
        limit: Int
    ) throws(StorageError) -> WebhookQueue {
        try readSessions.read { session throws(StorageError) in
            try session.webhookQueries.queue(of: key, now: now, limit: limit)
        }
    }

    package func webhookAttempts(
        of key: WebhookKey,
        before: Int64?,
        limit: Int
    ) throws(StorageError) -> [WebhookAttempt] {
        try readSessions.read { session throws(StorageError) in
            try session.webhookQueries.attempts(of: key, before: before, limit: limit)
        }
    }

    package func put(_ webhook: WebhookRecord) async throws(StorageError) {
        try await openWriter().write(app: webhook.key.app) { session throws(StorageError) in
            try session.webhooks.put(webhook)
        }
    }

    package func claim(
        _ key: WebhookKey,
        now: Instant,
        until: Instant
    ) async throws(StorageError) -> Int64? {
        try await openWriter().write(app: key.app) { session throws(StorageError) in
            try session.webhooks.claim(key, now: now, until: until)
        }
    }

    package func settle(_ settlement: WebhookSettlement) async throws(StorageError) -> Bool {
        try await openWriter().write(app: settlement.key.app) { session throws(StorageError) in
            try session.webhooks.settle(settlement)
        }
    }

    package func queue(
        _ events: [EventID],
        to key: WebhookKey,
        at now: Instant
    ) async throws(StorageError) {
        try await openWriter().write(app: key.app) { session throws(StorageError) in
            try session.webhooks.queue(events, to: key, at: now)
        }
    }

    package func setWebhook(
        _ key: WebhookKey,
        disabled reason: String?,
        at now: Instant
    ) async throws(StorageError) -> Bool {
        try await openWriter().write(app: key.app) { session throws(StorageError) in
            try session.webhooks.set(key, disabled: reason, at: now)
        }
    }
}
