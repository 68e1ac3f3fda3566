import TideoverCore
import TideoverStorage

extension ReadSession {
    func webhooks(app: String) throws(StorageError) -> [WebhookRecord] {
        try connection.ask(CommonSQL.webhooks, .text(app)).all { row throws(StorageError) in
            try connection.rows.webhook(row, of: app)
        }
    }

    func webhook(_ key: WebhookKey) throws(StorageError) -> WebhookRecord? {
        let answer = try connection.ask(CommonSQL.webhookByID, .text(key.app), .text(key.id))
        return try answer.first { row throws(StorageError) in
            try connection.rows.webhook(row, of: key.app)
        }
    }

    func webhookQueue(
        of key: WebhookKey,
        now: Instant,
        limit: Int
    ) throws(StorageError) -> WebhookQueue {
        let (app, id) = (SQLValue.text(key.app), SQLValue.text(key.id))
        let count = try connection.ask(CommonSQL.deliveryCount, app, id)
        let due = try connection.ask(CommonSQL.dueDeliveries, app, id, .instant(now), .limit(limit))
        let found = try due.all(connection.rows.delivery)
        return WebhookQueue(due: found, count: try count.first { Int($0.integer(0)) } ?? 0)
    }

    func webhookAttempts(
        of key: WebhookKey,
        before: Int64?,
        limit: Int
    ) throws(StorageError) -> [WebhookAttempt] {
        let answer = try connection.ask(
            CommonSQL.attempts,
            .text(key.app),
            .text(key.id),
            .integer(before ?? .max),
            .limit(limit)
        )
        return try answer.all(connection.rows.attempt)
    }
}
