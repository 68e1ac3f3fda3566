package import TideoverCore
package import TideoverStorage

extension SQLiteStorage {
    package func webhooks(app: String) throws(StorageError) -> [WebhookRecord] {
        try readSessions.read { readSession throws(StorageError) in
            try readSession.webhookQueries.webhooks(app: app)
        }
    }

    package func webhook(_ key: WebhookKey) throws(StorageError) -> WebhookRecord? {
        try readSessions.read { readSession throws(StorageError) in
            try readSession.webhookQueries.webhook(key)
        }
    }

    package func webhookQueue(
        of key: WebhookKey,
        now: Instant,
        limit: Int
    ) throws(StorageError) -> WebhookQueue {
        try readSessions.read { readSession throws(StorageError) in
            try readSession.webhookQueries.queue(of: key, now: now, limit: limit)
        }
    }

    package func webhookAttempts(
        of key: WebhookKey,
        before: Int64?,
        limit: Int
    ) throws(StorageError) -> [WebhookAttempt] {
        try readSessions.read { readSession throws(StorageError) in
            try readSession.webhookQueries.attempts(of: key, before: before, limit: limit)
        }
    }

    package func put(_ webhook: WebhookRecord) async throws(StorageError) {
        try await openWriter().write { writeSession throws(StorageError) in
            try writeSession.webhooks.put(webhook)
        }
    }

    package func claim(
        _ key: WebhookKey,
        now: Instant,
        until: Instant
    ) async throws(StorageError) -> Int64? {
        try await openWriter().write { writeSession throws(StorageError) in
            try writeSession.webhooks.claim(key, now: now, until: until)
        }
    }

    package func settle(_ settlement: WebhookSettlement) async throws(StorageError) -> Bool {
        try await openWriter().write { writeSession throws(StorageError) in
            try writeSession.webhooks.settle(settlement)
        }
    }

    package func queue(
        _ events: [EventID],
        to key: WebhookKey,
        at now: Instant
    ) async throws(StorageError) {
        try await openWriter().write { writeSession throws(StorageError) in
            try writeSession.webhooks.queue(events, to: key, at: now)
        }
    }

    package func setWebhook(
        _ key: WebhookKey,
        disabled reason: String?,
        at now: Instant
    ) async throws(StorageError) -> Bool {
        try await openWriter().write { writeSession throws(StorageError) in
            try writeSession.webhooks.set(key, disabled: reason, at: now)
        }
    }
}
