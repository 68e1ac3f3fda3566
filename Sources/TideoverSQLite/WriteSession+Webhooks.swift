import TideoverCore
import TideoverStorage

/// The claims of webhooks. They are kept in memory, like those of due customers: they end with the
/// process.
struct WebhookLeases {
    fileprivate struct Lease {
        let fence: Int64
        let until: Instant
    }

    fileprivate var byWebhook: [WebhookKey: Lease] = [:]
    fileprivate var latestFence: Int64 = 0
}

extension WriteSession {
    func put(_ webhook: WebhookRecord) throws(StorageError) {
        try statements[SQL.insertWebhook].run(
            .text(webhook.key.app),
            .text(webhook.key.id),
            .utf8(webhook.form),
            .text(webhook.position.description),
            .instant(webhook.failingSince),
            .optional(webhook.disabled),
            .instant(webhook.disabledAt)
        )
    }

    func remove(_ key: WebhookKey) throws(StorageError) {
        for statement in [
            CommonSQL.removeDeliveries, CommonSQL.removeAttempts, CommonSQL.removeWebhook,
        ] {
            try statements[statement].run(.text(key.app), .text(key.id))
        }
        webhookLeases.byWebhook[key] = nil
    }

    func claim(
        _ key: WebhookKey,
        now: Instant,
        until: Instant
    ) throws(StorageError) -> Int64? {
        if let lease = webhookLeases.byWebhook[key], lease.until > now { return nil }
        let isKnown =
            try statements[SQL.hasWebhook].first(.text(key.app), .text(key.id)) { _ in true }
            ?? false
        guard isKnown else { return nil }
        webhookLeases.latestFence += 1
        webhookLeases.byWebhook[key] = WebhookLeases.Lease(
            fence: webhookLeases.latestFence,
            until: until
        )
        return webhookLeases.latestFence
    }

    func settle(_ settlement: WebhookSettlement) throws(StorageError) -> Bool {
        let key = settlement.key
        guard webhookLeases.byWebhook[key]?.fence == settlement.fence else { return false }
        for event in settlement.finished {
            try statements[CommonSQL.deleteDelivery].run(
                .text(key.app),
                .text(key.id),
                .text(event.description)
            )
        }
        for delivery in settlement.waiting { try put(delivery, key) }
        for attempt in settlement.attempts { try add(attempt, key) }
        try statements[SQL.settleWebhook].run(
            .text(key.app),
            .text(key.id),
            .text(settlement.position.description),
            .instant(settlement.failingSince),
            .optional(settlement.disabled),
            .instant(settlement.now)
        )
        webhookLeases.byWebhook[key] = nil
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
        let changed = try statements[SQL.setWebhook].run(
            .text(key.app),
            .text(key.id),
            .optional(reason),
            .instant(now)
        )
        return changed == 1
    }

    private func put(_ delivery: WebhookDelivery, _ key: WebhookKey) throws(StorageError) {
        try statements[SQL.putDelivery].run(
            .text(key.app),
            .text(key.id),
            .text(delivery.event.description),
            .integer(Int64(delivery.attempts)),
            .instant(delivery.nextAt)
        )
    }

    private func add(_ attempt: WebhookAttempt, _ key: WebhookKey) throws(StorageError) {
        try statements[SQL.insertAttempt].run(
            .text(key.app),
            .text(key.id),
            .text(attempt.event.description),
            .instant(attempt.at),
            .integer(Int64(attempt.ordinal)),
            .text(attempt.outcome),
            attempt.status.map { .integer(Int64($0)) } ?? .null,
            .optional(attempt.detail)
        )
    }
}
