public import TideoverCore

/// The webhooks of a storage: receivers of events, with their positions in the outbox.
///
/// An event after the position of a webhook is new to it. An event at or before the position was
/// delivered, or did not match, or waits as a `WebhookDelivery` for its next attempt.
public protocol WebhookStorage: Sendable {
    /// Returns the webhooks of an app in the order of their ids.
    func webhooks(app: String) throws(StorageError) -> [WebhookRecord]

    /// Returns one webhook; nil if it is unknown.
    func webhook(_ key: WebhookKey) throws(StorageError) -> WebhookRecord?

    /// Returns the waiting deliveries of a webhook that are due at `now`, the earliest first, at
    /// most `limit` of them.
    func webhookQueue(
        of key: WebhookKey,
        now: Instant,
        limit: Int
    ) throws(StorageError) -> WebhookQueue

    /// Returns attempts of a webhook, the newest first, at most `limit` of them. With `before`,
    /// only those with a smaller number.
    func webhookAttempts(
        of key: WebhookKey,
        before: Int64?,
        limit: Int
    ) throws(StorageError) -> [WebhookAttempt]

    /// Adds a webhook. If one has the same key, only its form is replaced.
    func put(_ webhook: WebhookRecord) async throws(StorageError)

    /// Claims a webhook for deliveries until an instant. Returns the fence of the claim; nil for an
    /// unknown webhook, or while an earlier claim is valid.
    func claim(
        _ key: WebhookKey,
        now: Instant,
        until: Instant
    ) async throws(StorageError) -> Int64?

    /// Stores the results of a claim's deliveries in one transaction, and ends the claim. Returns
    /// false, with no change, if another claim was issued since.
    func settle(_ settlement: WebhookSettlement) async throws(StorageError) -> Bool

    /// Adds deliveries of events that are due at an instant. A waiting one starts over.
    func queue(
        _ events: [EventID],
        to key: WebhookKey,
        at now: Instant
    ) async throws(StorageError)

    /// Disables a webhook for a reason, or enables it with nil, which also ends its failing.
    /// Returns whether it exists. A disabled webhook keeps its first reason.
    func setWebhook(
        _ key: WebhookKey,
        disabled reason: String?,
        at now: Instant
    ) async throws(StorageError) -> Bool
}

/// Names a webhook.
public struct WebhookKey: Hashable, Sendable {
    public let app: String
    /// The webhook's id, unique in its app.
    public let id: String

    public init(app: String, id: String) {
        self.app = app
        self.id = id
    }
}

/// A webhook as it is stored.
public struct WebhookRecord: Hashable, Sendable {
    public let key: WebhookKey
    /// The settings as JSON text; a storage does not parse it.
    public let form: [UInt8]
    /// The last event that was examined for this webhook.
    public let position: EventID
    /// When the first of the failures since the last success happened; nil after a success.
    public let failingSince: Instant?
    /// Why nothing is delivered; nil while it is enabled.
    public let disabled: String?
    public let disabledAt: Instant?

    public init(
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
public struct WebhookDelivery: Hashable, Sendable {
    public let event: EventID
    /// The number of failed attempts.
    public let attempts: Int
    public let nextAt: Instant

    public init(event: EventID, attempts: Int, nextAt: Instant) {
        self.event = event
        self.attempts = attempts
        self.nextAt = nextAt
    }
}

/// The waiting deliveries of a webhook at an instant.
public struct WebhookQueue: Hashable, Sendable {
    public let due: [WebhookDelivery]
    /// The number of waiting deliveries, due or not.
    public let count: Int

    public init(due: [WebhookDelivery], count: Int) {
        self.due = due
        self.count = count
    }
}

/// One attempt to deliver an event.
public struct WebhookAttempt: Hashable, Sendable {
    /// Rises with each attempt; 0 until it is stored.
    public let number: Int64
    public let event: EventID
    public let at: Instant
    /// Which attempt of the event it was, from 1.
    public let ordinal: Int
    public let outcome: String
    /// The status of the response; nil without a response.
    public let status: Int?
    /// Why there was no response.
    public let detail: String?

    public init(
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
public struct WebhookSettlement: Sendable {
    public let key: WebhookKey
    public let fence: Int64
    /// The new position; an earlier one than the stored one is ignored.
    public let position: EventID
    public let attempts: [WebhookAttempt]
    /// Deliveries that wait for another attempt.
    public let waiting: [WebhookDelivery]
    /// Events that need no further attempt.
    public let finished: [EventID]
    public let failingSince: Instant?
    /// The reason to disable the webhook from `now` on; nil leaves its state.
    public let disabled: String?
    public let now: Instant

    public init(
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
