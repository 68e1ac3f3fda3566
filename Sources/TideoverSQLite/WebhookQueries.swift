import TideoverCore
import TideoverStorage

/// Reads webhooks through one connection.
final class WebhookQueries {
    private let place: String
    private let all: Statement
    private let one: Statement
    private let due: Statement
    private let count: Statement
    private let attempts: Statement

    init(_ connection: Connection) throws(StorageError) {
        place = connection.place
        all = try Statement(SQL.webhooks, on: connection)
        one = try Statement(SQL.webhookByID, on: connection)
        due = try Statement(SQL.dueDeliveries, on: connection)
        count = try Statement(SQL.deliveryCount, on: connection)
        attempts = try Statement(SQL.attempts, on: connection)
    }

    func webhooks(app: String) throws(StorageError) -> [WebhookRecord] {
        try all.all(.text(app)) { row throws(StorageError) in try record(row, of: app) }
    }

    func webhook(_ key: WebhookKey) throws(StorageError) -> WebhookRecord? {
        try one.first(.text(key.app), .text(key.id)) { row throws(StorageError) in
            try record(row, of: key.app)
        }
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
        let found = try due.all(
            .text(key.app),
            .text(key.id),
            .instant(now),
            .integer(Int64(max(0, limit)))
        ) { row throws(StorageError) in
            WebhookDelivery(
                event: try event(row.text(0)),
                attempts: Int(row.integer(1)),
                nextAt: row.instant(2)
            )
        }
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
            .integer(Int64(max(0, limit)))
        ) { row throws(StorageError) in
            WebhookAttempt(
                number: row.integer(0),
                event: try event(row.text(1)),
                at: row.instant(2),
                ordinal: Int(row.integer(3)),
                outcome: row.text(4),
                status: row.isNull(5) ? nil : Int(row.integer(5)),
                detail: row.isNull(6) ? nil : row.text(6)
            )
        }
    }

    private func event(_ text: String) throws(StorageError) -> EventID {
        guard let id = EventID(text) else {
            throw StorageError(.corrupt, place: place, detail: "the id of an event cannot be read")
        }
        return id
    }
}
