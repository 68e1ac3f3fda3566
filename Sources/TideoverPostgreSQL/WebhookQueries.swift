import TideoverCore
import TideoverStorage

/// Reads webhooks through one connection.
struct WebhookQueries {
    let connection: Connection

    func webhooks(app: String) throws(StorageError) -> [WebhookRecord] {
        try connection.ask(SQL.webhooks, .text(app)).all { row throws(StorageError) in
            try record(row, of: app)
        }
    }

    func webhook(_ key: WebhookKey) throws(StorageError) -> WebhookRecord? {
        let answer = try connection.ask(SQL.webhookByID, .text(key.app), .text(key.id))
        return try answer.first { row throws(StorageError) in try record(row, of: key.app) }
    }

    private func record(_ row: Row, of app: String) throws(StorageError) -> WebhookRecord {
        WebhookRecord(
            WebhookKey(app: app, id: row.text(0)),
            form: row.bytes(1),
            position: try event(row.text(2)),
            failingSince: row.optionalInstant(3),
            disabled: row.isNull(4) ? nil : row.text(4),
            disabledAt: row.optionalInstant(5)
        )
    }

    func queue(
        of key: WebhookKey,
        now: Instant,
        limit: Int
    ) throws(StorageError) -> WebhookQueue {
        let (app, id) = (SQLValue.text(key.app), SQLValue.text(key.id))
        let count = try connection.ask(SQL.deliveryCount, app, id)
        let due = try connection.ask(SQL.dueDeliveries, app, id, .instant(now), .limit(limit))
        let found = try due.all { row throws(StorageError) in
            WebhookDelivery(
                event: try event(row.text(0)),
                attempts: Int(row.integer(1)),
                nextAt: row.instant(2)
            )
        }
        return WebhookQueue(due: found, count: try count.first { Int($0.integer(0)) } ?? 0)
    }

    func attempts(
        of key: WebhookKey,
        before: Int64?,
        limit: Int
    ) throws(StorageError) -> [WebhookAttempt] {
        let answer = try connection.ask(
            SQL.attempts,
            .text(key.app),
            .text(key.id),
            .integer(before ?? .max),
            .limit(limit)
        )
        return try answer.all { row throws(StorageError) in
            WebhookAttempt(
                number: row.integer(0),
                event: try event(row.text(1)),
                at: row.instant(2),
                ordinal: Int(row.integer(3)),
                outcome: row.text(4),
                status: row.isNull(5) ? nil : Int(row.integer(5)),
                detail: row.optionalText(6)
            )
        }
    }

    private func event(_ text: String) throws(StorageError) -> EventID {
        guard let id = EventID(text) else {
            throw StorageError(
                .corrupt,
                place: connection.place,
                detail: "the id of an event cannot be read"
            )
        }
        return id
    }
}
