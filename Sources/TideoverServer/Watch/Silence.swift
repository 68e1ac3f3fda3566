package import TideoverCore
package import TideoverStorage

/// Since when no notification of one store for one app in one environment has arrived, and whether that was raised.
package struct Silence: Hashable, Sendable {
    /// Since when the server, this process or one before it, listens.
    package var since: Instant
    /// Since when this process listens: while none runs, nothing can arrive.
    package let startedAt: Instant
    /// When the last notification arrived that was believed; nil before the first.
    package var lastArrivedAt: Instant?
    /// When the silence was found to be one that should not be; nil while it is not.
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

    /// How long nothing has arrived; as long as somebody listens, where nothing ever did.
    package func length(at now: Instant) -> Milliseconds {
        max(.zero, now - (lastArrivedAt ?? since))
    }

    /// The instant after which the store owed something that we would have heard.
    package var unheardSince: Instant { max(startedAt, lastArrivedAt ?? startedAt) }

    /// Notes that a notification arrived; true if that ends a silence that was raised.
    package mutating func heard(at now: Instant) -> Bool {
        lastArrivedAt = max(lastArrivedAt ?? now, now)
        defer { raisedAt = nil }
        return raisedAt != nil
    }
}

extension Holding {
    /// The ends of periods after `instant` that the store was to renew: of each it owes a word, that
    /// it renewed, failed or ended. Only what was known by then of the renewal itself takes that back.
    package func renewalsDue(after instant: Instant) -> [Instant] {
        if lineage.store == .googlePlay { return playRenewalsDue(after: instant) }
        guard lineage.store == .appStore, lineage.ownership == .purchased else { return [] }
        var terms: [TermKey: Term] = [:]
        var revoked: Set<TermKey> = []
        var heardStarts: [Instant] = []
        var outlook: Outlook?
        // In the order of their assertion: the newest word comes last.
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

    /// The same of Google Play, from the answers that are known of it. Of a payment that fails it says
    /// nothing for up to two days, so that a word is owed by then.
    private func playRenewalsDue(after instant: Instant) -> [Instant] {
        var ends: [Instant: Instant] = [:]
        var newest: PlaySubscription?
        // In the order of their assertion: the newest answer comes last.
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
    /// What the store is to renew at its expiry.
    fileprivate var renewingItems: [PlayItem] {
        guard state == .active || state == .inGrace else { return [] }
        return items.filter { $0.plan == .autoRenewing(isOn: true) }
    }
}
