package import TideoverCore
package import TideoverStorage

/// The period without notifications of one store for one app in one environment, and whether it
/// raised an alarm.
package struct MissingNotificationAlert: Hashable, Sendable {
    /// Since when the server, this process or an earlier one, accepts notifications.
    package var since: Instant
    /// When this process started; none can arrive while no process runs.
    package let startedAt: Instant
    /// When the last accepted notification arrived; nil before the first.
    package var lastArrivedAt: Instant?
    /// When the alarm was raised; nil while there is none.
    package var raisedAt: Instant?

    package init(
        since: Instant,
        startedAt: Instant,
        lastArrivedAt: Instant? = nil,
        raisedAt: Instant? = nil
    ) {
        self.since = since
        self.startedAt = startedAt
        self.lastArrivedAt = lastArrivedAt
        self.raisedAt = raisedAt
    }

    /// Returns how long nothing has arrived, or how long the server has accepted notifications if
    /// none ever arrived.
    package func length(at now: Instant) -> Milliseconds {
        max(.zero, now - (lastArrivedAt ?? since))
    }

    /// The instant since which a due notification would have been received.
    package var unheardSince: Instant { max(startedAt, lastArrivedAt ?? startedAt) }

    /// Records an arrival; returns true if it ends an alarm.
    package mutating func heard(at now: Instant) -> Bool {
        lastArrivedAt = max(lastArrivedAt ?? now, now)
        defer { raisedAt = nil }
        return raisedAt != nil
    }

    /// Adopts what another server stored, unless this one received a notification since then.
    /// Returns true if it ends an alarm.
    mutating func adopt(_ stored: StoredArrivals) -> Bool {
        since = min(since, stored.since ?? since)
        let (own, other) = (lastArrivedAt ?? .distantPast, stored.lastArrivedAt ?? .distantPast)
        guard other >= own else { return false }
        let wasRaised = raisedAt != nil
        if other > own { _ = heard(at: other) }
        raisedAt = stored.raisedAt ?? raisedAt
        return wasRaised && raisedAt == nil
    }
}

extension LineageRecord {
    /// Returns the ends of renewing periods after `instant`. The store must send a notification for
    /// each: renewed, failed or ended. Only facts about the renewal that were known by `instant`
    /// cancel it.
    package func renewalsDue(after instant: Instant) -> [Instant] {
        if lineage.store == .googlePlay { return playRenewalsDue(after: instant) }
        guard lineage.store == .appStore, lineage.ownership == .purchased else { return [] }
        var terms: [TermKey: Term] = [:]
        var revoked: Set<TermKey> = []
        var heardStarts: [Instant] = []
        var outlook: Outlook?
        // Facts are in the order of assertion, so the newest is last.
        for fact in facts {
            switch fact.assertion {
            case .term(let term):
                terms[term.key] = term
                if fact.learnedAt <= instant { heardStarts.append(term.start) }
            case .revocation(let revocation): revoked.insert(revocation.term)
            case .outlook(let newest): outlook = newest
            default: break
            }
        }
        guard outlook?.willRenew != false else { return [] }
        return terms.values.compactMap { term in
            guard term.plan == .autoRenewable, !term.isUpgraded, !term.isRevoked,
                !revoked.contains(term.key), let end = term.end, end > instant,
                // The store announces a renewal up to a day before.
                !heardStarts.contains(where: { $0 >= end })
            else { return nil }
            return end
        }
    }

    /// Returns the same for Google Play, from its known responses. A failed payment is reported
    /// only after up to two days, so the notification is due by then.
    private func playRenewalsDue(after instant: Instant) -> [Instant] {
        var ends: [Instant: Instant] = [:]
        var newest: PlaySubscription?
        // Facts are in the order of assertion, so the newest response is last.
        for fact in facts {
            guard case .playSubscription(let read) = fact.assertion else { continue }
            newest = read
            for item in read.renewingItems {
                guard let end = item.expiresAt else { continue }
                ends[end] = min(ends[end] ?? fact.learnedAt, fact.learnedAt)
            }
        }
        guard newest?.renewingItems.isEmpty == false else { return [] }
        let heard = ends.filter { $0.value <= instant }.keys.max() ?? .distantPast
        return ends.keys.filter { $0 >= heard }.map { $0 + Self.silentGrace }.filter {
            $0 > instant
        }
    }

    /// https://developer.android.com/google/play/billing/lifecycle/subscriptions
    private static let silentGrace = Milliseconds.hours(48)
}

extension PlaySubscription {
    /// The items that renew at their expiry.
    fileprivate var renewingItems: [PlayItem] {
        guard state == .active || state == .inGrace else { return [] }
        return items.filter { $0.plan == .autoRenewing(isOn: true) }
    }
}
