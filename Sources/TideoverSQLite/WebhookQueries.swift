import TideoverCore
import TideoverStorage

/// Reads webhooks through one connection.
final class WebhookQueries {
    private let rows: StoredRowReader
    private let all: Statement
    private let one: Statement
    private let due: Statement
    private let count: Statement
    private let attempts: Statement

    init(_ connection: Connection) throws(StorageError) {
        rows = connection.rows
        all = try Statement(CommonSQL.webhooks, on: connection)
        one = try Statement(CommonSQL.webhookByID, on: connection)
        due = try Statement(CommonSQL.dueDeliveries, on: connection)
        count = try Statement(CommonSQL.deliveryCount, on: connection)
        attempts = try Statement(CommonSQL.attempts, on: connection)
    }

    func webhooks(app: String) throws(StorageError) -> [WebhookRecord] {
        try all.all(.text(app)) { row throws(StorageError) in try rows.webhook(row, of: app) }
    }

    func webhook(_ key: WebhookKey) throws(StorageError) -> WebhookRecord? {
        try one.first(.text(key.app), .text(key.id)) { row throws(StorageError) in
            try rows.webhook(row, of: key.app)
        }
    }

    func queue(of key: WebhookKey, now: Instant, limit: Int) throws(StorageError) -> WebhookQueue {
        let found = try due.all(
            .text(key.app),
            .text(key.id),
            .instant(now),
            .limit(limit),
            read: rows.delivery
        )
        let count = try count.first(.text(key.app), .text(key.id)) { Int($0.integer(0)) }
        return WebhookQueue(due: found, count: count ?? 0)
    }

    func attempts(
        of key: WebhookKey,
        before: Int64?,
        limit: Int
    ) throws(StorageError) -> [WebhookAttempt] {
        try attempts.all(
            .text(key.app),
            .text(key.id),
            .integer(before ?? .max),
            .limit(limit),
            read: rows.attempt
        )
    }
}
