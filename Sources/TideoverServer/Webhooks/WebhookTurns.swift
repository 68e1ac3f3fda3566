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
    /// Until when receivers wish to get no messages.
    private var waitsUntil: [WebhookKey: Instant] = [:]

    package init() {}

    /// Whether a webhook may begin; it is then busy until `end`.
    package mutating func begin(
        _ key: WebhookKey,
        failingSince: Instant?,
        at now: Instant
    ) -> Bool {
        guard !busy.contains(key), waitsUntil[key] ?? .distantPast <= now else { return false }
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
        waitsUntil[key] = wish
        pausedUntil[key] = failingSince.map {
            now + WebhookSchedule.pause(afterFailingFor: now - $0)
        }
    }

    /// Ends the wait of a webhook that an operator disabled.
    package mutating func endWait(of key: WebhookKey) { waitsUntil[key] = nil }

    /// The end of a webhook's pause: those with the earliest end begin first.
    package func pauseEnd(of key: WebhookKey) -> Instant { pausedUntil[key] ?? .distantPast }
}
