import TideoverCore
import TideoverStorage

extension WriteSession {
    func put(_ webhook: WebhookRecord) throws(StorageError) {
        try connection.ask(
            SQL.insertWebhook,
            .text(webhook.key.app),
            .text(webhook.key.id),
            .bytes(webhook.form),
            .text(webhook.position.description),
            .instant(webhook.failingSince),
            .optional(webhook.disabled),
            .instant(webhook.disabledAt)
        )
    }

    func remove(_ key: WebhookKey) throws(StorageError) {
        for sql in [CommonSQL.removeDeliveries, CommonSQL.removeAttempts, CommonSQL.removeWebhook] {
            try connection.ask(sql, .text(key.app), .text(key.id))
        }
    }

    func claim(
        _ key: WebhookKey,
        now: Instant,
        until: Instant
    ) throws(StorageError) -> Int64? {
        let answer = try connection.ask(
            SQL.claimWebhook,
            .text(key.app),
            .text(key.id),
            .instant(now),
            .instant(until)
        )
        return try answer.first { $0.integer(0) }
    }

    func settle(_ settlement: WebhookSettlement) throws(StorageError) -> Bool {
        let (key, count) = (settlement.key, Int64(settlement.attempts.count))
        let answer = try connection.ask(
            SQL.settleWebhook,
            .text(key.app),
            .text(key.id),
            .text(settlement.position.description),
            .instant(settlement.failingSince),
            .optional(settlement.disabled),
            .instant(settlement.now),
            .integer(settlement.fence),
            .integer(count)
        )
        guard let latest = try answer.first({ $0.integer(0) }) else { return false }
        for event in settlement.finished {
            try connection.ask(
                CommonSQL.deleteDelivery,
                .text(key.app),
                .text(key.id),
                .text(event.description)
            )
        }
        for delivery in settlement.waiting { try put(delivery, key) }
        for (index, attempt) in settlement.attempts.enumerated() {
            try add(attempt, key, number: latest - count + 1 + Int64(index))
        }
        return true
    }

    func queue(
        _ events: [EventID],
        to key: WebhookKey,
        at now: Instant
    ) throws(StorageError) {
        for event in events {
            try put(WebhookDelivery(event: event, attempts: 0, nextAt: now), key)
        }
    }

    func setWebhook(
        _ key: WebhookKey,
        disabled reason: String?,
        at now: Instant
    ) throws(StorageError) -> Bool {
        let answer = try connection.ask(
            SQL.setWebhook,
            .text(key.app),
            .text(key.id),
            .optional(reason),
            .instant(now)
        )
        return try answer.count() == 1
    }

    private func put(_ delivery: WebhookDelivery, _ key: WebhookKey) throws(StorageError) {
        try connection.ask(
            SQL.putDelivery,
            .text(key.app),
            .text(key.id),
            .text(delivery.event.description),
            .integer(Int64(delivery.attempts)),
            .instant(delivery.nextAt)
        )
    }

    private func add(
        _ attempt: WebhookAttempt,
        _ key: WebhookKey,
        number: Int64
    ) throws(StorageError) {
        try connection.ask(
            SQL.insertAttempt,
            .text(key.app),
            .text(key.id),
            .text(attempt.event.description),
            .instant(attempt.at),
            .integer(Int64(attempt.ordinal)),
            .text(attempt.outcome),
            attempt.status.map { .integer(Int64($0)) } ?? .null,
            .optional(attempt.detail),
            .integer(number)
        )
    }
}
