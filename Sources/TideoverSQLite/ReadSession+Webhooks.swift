import TideoverCore
import TideoverStorage

extension ReadSession {
    func webhooks(app: String) throws(StorageError) -> [WebhookRecord] {
        try statements[CommonSQL.webhooks].all(.text(app)) { row throws(StorageError) in
            try rows.webhook(row, of: app)
        }
    }

    func webhook(_ key: WebhookKey) throws(StorageError) -> WebhookRecord? {
        try statements[CommonSQL.webhookByID].first(.text(key.app), .text(key.id)) {
            row throws(StorageError) in
            try rows.webhook(row, of: key.app)
        }
    }

    func webhookQueue(
        of key: WebhookKey,
        now: Instant,
        limit: Int
    ) throws(StorageError) -> WebhookQueue {
        let found = try statements[CommonSQL.dueDeliveries].all(
            .text(key.app),
            .text(key.id),
            .instant(now),
            .limit(limit),
            read: rows.delivery
        )
        let count = try statements[CommonSQL.deliveryCount].first(.text(key.app), .text(key.id)) {
            Int($0.integer(0))
        }
        return WebhookQueue(due: found, count: count ?? 0)
    }

    func webhookAttempts(
        of key: WebhookKey,
        before: Int64?,
        limit: Int
    ) throws(StorageError) -> [WebhookAttempt] {
        try statements[CommonSQL.attempts].all(
            .text(key.app),
            .text(key.id),
            .integer(before ?? .max),
            .limit(limit),
            read: rows.attempt
        )
    }
}
