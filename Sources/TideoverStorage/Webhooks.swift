package import TideoverCore

/// Names a webhook.
package struct WebhookKey: Hashable, Sendable {
    package let app: String
    /// The webhook's id, unique in its app.
    package let id: String

    package init(app: String, id: String) {
        self.app = app
        self.id = id
    }
}

/// A webhook as it is stored.
package struct WebhookRecord: Hashable, Sendable {
    package let key: WebhookKey
    /// The settings as JSON text; a storage does not parse it.
    package let form: [UInt8]
    /// The last event that was examined for this webhook.
    package let position: EventID
    /// When the first of the failures since the last success happened; nil after a success.
    package let failingSince: Instant?
    /// Why nothing is delivered; nil while it is enabled.
    package let disabled: String?
    package let disabledAt: Instant?

    package init(
        _ key: WebhookKey,
        form: [UInt8],
        position: EventID,
        failingSince: Instant? = nil,
        disabled: String? = nil,
        disabledAt: Instant? = nil
    ) {
        self.key = key
        self.form = form
        self.position = position
        self.failingSince = failingSince
        self.disabled = disabled
        self.disabledAt = disabledAt
    }
}

/// A delivery that waits for its next attempt.
package struct WebhookDelivery: Hashable, Sendable {
    package let event: EventID
    /// The number of failed attempts.
    package let attempts: Int
    package let nextAt: Instant

    package init(event: EventID, attempts: Int, nextAt: Instant) {
        self.event = event
        self.attempts = attempts
        self.nextAt = nextAt
    }
}

/// The waiting deliveries of a webhook at an instant.
package struct WebhookQueue: Hashable, Sendable {
    package let due: [WebhookDelivery]
    /// The number of waiting deliveries, due or not.
    package let count: Int

    package init(due: [WebhookDelivery], count: Int) {
        self.due = due
        self.count = count
    }
}

/// One attempt to deliver an event.
package struct WebhookAttempt: Hashable, Sendable {
    /// Rises with each attempt; 0 until it is stored.
    package let number: Int64
    package let event: EventID
    package let at: Instant
    /// Which attempt of the event it was, from 1.
    package let ordinal: Int
    package let outcome: String
    /// The status of the response; nil without a response.
    package let status: Int?
    /// Why there was no response.
    package let detail: String?

    package init(
        number: Int64 = 0,
        event: EventID,
        at: Instant,
        ordinal: Int,
        outcome: String,
        status: Int?,
        detail: String?
    ) {
        self.number = number
        self.event = event
        self.at = at
        self.ordinal = ordinal
        self.outcome = outcome
        self.status = status
        self.detail = detail
    }
}

/// The results of the deliveries of one claim.
package struct WebhookSettlement: Sendable {
    package let key: WebhookKey
    package let fence: Int64
    /// The new position; an earlier one than the stored one is ignored.
    package let position: EventID
    package let attempts: [WebhookAttempt]
    /// Deliveries that wait for another attempt.
    package let waiting: [WebhookDelivery]
    /// Events that need no further attempt.
    package let finished: [EventID]
    package let failingSince: Instant?
    /// The reason to disable the webhook from `now` on; nil leaves its state.
    package let disabled: String?
    package let now: Instant

    package init(
        _ key: WebhookKey,
        fence: Int64,
        position: EventID,
        attempts: [WebhookAttempt] = [],
        waiting: [WebhookDelivery] = [],
        finished: [EventID] = [],
        failingSince: Instant? = nil,
        disabled: String? = nil,
        now: Instant
    ) {
        self.key = key
        self.fence = fence
        self.position = position
        self.attempts = attempts
        self.waiting = waiting
        self.finished = finished
        self.failingSince = failingSince
        self.disabled = disabled
        self.now = now
    }
}
