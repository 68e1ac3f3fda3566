package import TideoverCore
package import TideoverStorage

/// Decides which webhooks may deliver now: each once at a time, failing ones after a pause, and
/// only some of those at once. The others are never limited, so failing ones cannot delay them.
package struct WebhookTurns {
    /// The maximum number of failing webhooks at once, each with one connection.
    package static let mostFailing = 256

    private var busy: Set<WebhookKey> = []
    private var failing: Set<WebhookKey> = []
    private var pausedUntil: [WebhookKey: Instant] = [:]
    /// The waits that receivers wish for.
    private var waits: [WebhookKey: Wait] = [:]

    private struct Wait {
        let until: Instant
        let since: Instant
        /// Whether the receiver counts as failing meanwhile.
        let isFailing: Bool
    }

    package init() {}

    /// Whether a webhook may begin; it is then busy until `end`.
    package mutating func begin(
        _ key: WebhookKey,
        failingSince: Instant?,
        at now: Instant
    ) -> Bool {
        guard !busy.contains(key), waits[key]?.until ?? .distantPast <= now else { return false }
        if failingSince != nil {
            guard failing.count < Self.mostFailing, pauseEnd(of: key) <= now else { return false }
            failing.insert(key)
        }
        busy.insert(key)
        return true
    }

    /// Records that a webhook ended, since when it fails, and until when its receiver wishes to
    /// wait. Without an attempt an earlier pause remains.
    package mutating func end(
        _ key: WebhookKey,
        failingSince: Instant?,
        waitsUntil wish: Instant? = nil,
        attempted: Bool,
        at now: Instant
    ) {
        busy.remove(key)
        failing.remove(key)
        guard attempted else { return }
        waits[key] = wish.map { Wait(until: $0, since: now, isFailing: failingSince != nil) }
        pausedUntil[key] = failingSince.map {
            now + WebhookSchedule.pause(afterFailingFor: now - $0)
        }
    }

    /// Ends the wait of a webhook that is disabled, or that no longer fails: an operator disabled
    /// and enabled it, or another server delivered to it. `now` is an instant before its state was
    /// read.
    package mutating func noteState(
        of key: WebhookKey,
        isActive: Bool,
        failingSince: Instant?,
        at now: Instant
    ) {
        guard let wait = waits[key], wait.since < now else { return }
        if !isActive || (wait.isFailing && failingSince == nil) { waits[key] = nil }
    }

    /// The end of a webhook's pause: those with the earliest end begin first.
    package func pauseEnd(of key: WebhookKey) -> Instant { pausedUntil[key] ?? .distantPast }
}
