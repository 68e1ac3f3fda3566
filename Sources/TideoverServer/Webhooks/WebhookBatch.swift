import TideoverCore
import TideoverStorage

/// The deliveries of one claim: waiting ones that are due, then new events.
struct WebhookBatch: Sendable {
    struct Item: Sendable {
        let event: OutboxEvent
        /// The number of failed attempts.
        let failures: Int
    }

    var items: [Item] = []
    /// Waiting deliveries with events that no longer exist.
    var vanished: [EventID] = []
    var position: EventID

    var isEmpty: Bool { items.isEmpty && vanished.isEmpty }

    /// The items by customer, so that each customer's are sent in order.
    var byCustomer: [[Item]] {
        var order: [CustomerKey] = []
        var groups: [CustomerKey: [Item]] = [:]
        for item in items {
            if groups[item.event.customer] == nil { order.append(item.event.customer) }
            groups[item.event.customer, default: []].append(item)
        }
        return order.compactMap { groups[$0] }
    }
}

/// One attempt with its verdict.
struct WebhookTrial: Sendable {
    let item: WebhookBatch.Item
    let at: Instant
    let result: WebhookResult
    let verdict: WebhookVerdict
    /// The instant of the next attempt; nil if there is none.
    let nextAt: Instant?
    /// Until when the receiver wishes to get no messages; nil without such a wish.
    let waitsUntil: Instant?

    init(_ item: WebhookBatch.Item, _ result: WebhookResult, at now: Instant, random: UInt64) {
        self.item = item
        self.result = result
        at = now
        verdict = WebhookVerdict(result, at: now)
        waitsUntil =
            if case .failed(let wish?) = verdict, wish > now {
                WebhookSchedule.limited(wish, at: now)
            } else {
                nil
            }
        nextAt =
            switch verdict {
            case .delivered: nil
            // The delivery waits until an operator enables the webhook again.
            case .gone: now
            case .failed(let wish):
                WebhookSchedule.next(
                    after: item.failures.addingSaturated(1),
                    at: now,
                    notBefore: wish,
                    random: random
                )
            }
    }

    /// Whether the receiver wishes to wait for so long that it raises an alarm.
    var waitsLong: Bool { waitsUntil.map { $0 - at >= WebhookWorker.alarmAfter } ?? false }

    /// `delivered`, `gone`, `failed`, or `abandoned` after the last attempt.
    var outcome: String {
        switch verdict {
        case .delivered: "delivered"
        case .gone: "gone"
        case .failed: nextAt == nil ? "abandoned" : "failed"
        }
    }

    var attempt: WebhookAttempt {
        WebhookAttempt(
            event: item.event.id,
            at: at,
            ordinal: item.failures.addingSaturated(1),
            outcome: outcome,
            status: result.status,
            detail: result.failure
        )
    }

    /// The delivery that waits; nil if the event is finished.
    var waiting: WebhookDelivery? {
        nextAt.map {
            WebhookDelivery(
                event: item.event.id,
                attempts: item.failures.addingSaturated(1),
                nextAt: $0
            )
        }
    }
}

/// The results of a batch.
struct WebhookSent: Sendable {
    var trials: [WebhookTrial] = []
    /// The items that were not sent because the batch took too long, because the receiver is gone
    /// or wishes to wait, or because the worker was stopped.
    var postponed: [WebhookBatch.Item] = []

    /// Whether the receiver answered that it wants no more messages.
    var isGone: Bool { trials.contains { $0.verdict == .gone } }
    /// Until when the receiver wishes to get no messages; nil without such a wish.
    var waitsUntil: Instant? { trials.compactMap(\.waitsUntil).max() }
    /// Whether nothing more may be sent now.
    var isStopped: Bool { isGone || waitsUntil != nil }

    mutating func add(_ other: WebhookSent) {
        trials += other.trials
        postponed += other.postponed
    }

    /// Treats the items without a response as not sent.
    mutating func postponeUnanswered() {
        postponed += trials.filter { $0.result.status == nil }.map(\.item)
        trials.removeAll { $0.result.status == nil }
    }
}

/// The results of a batch in the form in which they are stored.
struct BatchResults: Sendable {
    let settlement: WebhookSettlement
    let sent: WebhookSent
    /// Whether more deliveries may be due.
    let mayBeMore: Bool
}

extension WebhookSettlement {
    /// A webhook is disabled after this time of nothing but failures.
    static let patience = Milliseconds.days(5)

    init(
        _ key: WebhookKey,
        fence: Int64,
        _ batch: WebhookBatch,
        _ sent: WebhookSent,
        failingSince: Instant?,
        now: Instant
    ) {
        let trials = sent.trials
        let verdicts = trials.map(\.verdict)
        let succeeded = verdicts.contains(.delivered)
        let firstFailure = trials.first { $0.verdict != .delivered }?.at
        // Nothing is sent during a long wait, whatever was accepted before it.
        let longWait = trials.first(where: \.waitsLong)?.at
        let since = succeeded ? longWait : failingSince ?? firstFailure
        let open = Set((trials.map(\.item) + sent.postponed).map(\.event.id))
        // Nothing was sent for these, which says nothing about the receiver.
        let empty = batch.items.map(\.event.id).filter { !open.contains($0) }
        let isExhausted = since.map { now - $0 >= Self.patience } ?? false
        self.init(
            key,
            fence: fence,
            position: batch.position,
            attempts: trials.map(\.attempt),
            waiting: trials.compactMap(\.waiting)
                + sent.postponed.map {
                    WebhookDelivery(
                        event: $0.event.id,
                        attempts: $0.failures,
                        nextAt: sent.waitsUntil ?? now
                    )
                },
            finished: batch.vanished + empty
                + trials.filter { $0.waiting == nil }.map(\.item.event.id),
            failingSince: since,
            disabled: verdicts.contains(.gone) ? "gone" : isExhausted ? "failing" : nil,
            now: now
        )
    }
}
