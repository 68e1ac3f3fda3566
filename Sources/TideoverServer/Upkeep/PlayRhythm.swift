import TideoverCore

/// How often a purchase token is asked about: at each of its boundaries, then ever less often until the
/// store has decided.
///
/// Every length is at the lineage's pace: a licence tester's month lasts five minutes.
struct PlayRhythm {
    let pace: Pace

    /// How long before access ends for good the store is asked once more: it may have been bought on.
    static let lead = Milliseconds.minutes(5)
    /// How long behind such an end it is asked what came of it.
    static let settling = Milliseconds.minutes(1)
    /// From one question to the next, first and at most, while a renewal is tried.
    static let shortest = Milliseconds.minutes(1)
    static let longest = Milliseconds.hours(1)
    /// How long a renewal is tried without a word.
    static let trying = Milliseconds.hours(48)
    /// From one question to the next where nothing is expected soon.
    static let idle = Milliseconds.hours(24)
    /// How long behind its end the store knows a token, and a hold lasts at most.
    static let reach = Milliseconds.days(60)
    /// How long what has ended is followed: the store may say so a little later.
    static let aftermath = Milliseconds.days(3)
    /// How long behind a voided order an answer may be older than it: a little more than the hour for which
    /// the rules of standing hold it for old.
    static let staleness = Milliseconds.minutes(61)
    /// How long a token that should live and that the store does not know is let be.
    static let restOfUnknown = Milliseconds.days(7)
    /// However fast a lineage lives, it is not asked about more often.
    static let floor = Milliseconds.seconds(5)

    // MARK: Subscriptions

    /// When a subscription is to be asked about next, given what the store said and when it was asked
    /// last; nil for never again.
    func next(_ read: PlaySubscription, askedAt: Instant, _ first: Instant) -> Instant? {
        switch read.state {
        case .expired, .pendingCancelled: nil
        case .active, .inGrace, .cancelled:
            read.items.compactMap { next($0, of: read, askedAt) }.min()
        case .onHold: following(askedAt, since: end(of: read, or: first))
        case .paused: resumption(of: read, askedAt, first)
        case .pending, .unrecognised: waiting(askedAt, since: first)
        }
    }

    private func next(
        _ item: PlayItem,
        of read: PlaySubscription,
        _ askedAt: Instant
    ) -> Instant? {
        guard let end = item.expiresAt else { return nil }
        let goesOn = read.state == .inGrace || read.state == .active && item.renews
        let boundaries =
            goesOn ? [end] : [end - pace.scale(Self.lead), end + pace.scale(Self.settling)]
        if let ahead = boundaries.first(where: { $0 > askedAt }) { return ahead }
        guard askedAt < end + pace.scale(goesOn ? Self.reach : Self.aftermath) else { return nil }
        let isTrying = askedAt < end + pace.scale(Self.trying)
        return askedAt + wait(askedAt - end, atMost: isTrying ? Self.longest : Self.idle)
    }

    /// At the end of the pause, and once a day before: the customer may resume at any time.
    private func resumption(
        of read: PlaySubscription,
        _ askedAt: Instant,
        _ first: Instant
    ) -> Instant? {
        guard let end = read.resumesAt else {
            return following(askedAt, since: self.end(of: read, or: first))
        }
        if askedAt < end { return min(end, askedAt + scaled(Self.idle)) }
        guard askedAt < end + pace.scale(Self.reach) else { return nil }
        return askedAt + wait(askedAt - end, atMost: Self.idle)
    }

    /// Once a day, as long as a hold can last.
    private func following(_ askedAt: Instant, since start: Instant) -> Instant? {
        askedAt < start + pace.scale(Self.reach) ? askedAt + scaled(Self.idle) : nil
    }

    /// What waits for a payment, or is not understood.
    private func waiting(_ askedAt: Instant, since start: Instant) -> Instant? {
        guard askedAt < start + pace.scale(Self.reach) else { return nil }
        return askedAt + max(scaled(Self.longest), wait(askedAt - start, atMost: Self.idle))
    }

    private func end(of read: PlaySubscription, or first: Instant) -> Instant {
        read.items.compactMap(\.expiresAt).max() ?? first
    }

    // MARK: One-time purchases

    /// The same of a one-time purchase: once it is paid, only a refund is left to hear of. One that was told
    /// of as voided, and is still read as paid, is asked about until it is clear which of the two is old.
    func next(
        _ read: PlayPurchase,
        askedAt: Instant,
        _ first: Instant,
        voidedAt: Instant?
    ) -> Instant? {
        switch read.state {
        case .purchased: voidedAt.flatMap { doubting(askedAt, since: $0) }
        case .cancelled: nil
        case .pending, .unrecognised: waiting(askedAt, since: first)
        }
    }

    private func doubting(_ askedAt: Instant, since voidedAt: Instant) -> Instant? {
        let first = voidedAt + Self.staleness
        if askedAt < first { return first }
        guard askedAt < voidedAt + Self.aftermath else { return nil }
        return askedAt + wait(askedAt - voidedAt, atMost: Self.idle)
    }

    // MARK: Waiting

    /// As long again as has gone by.
    private func wait(_ gone: Milliseconds, atMost longest: Milliseconds) -> Milliseconds {
        let shortest = scaled(Self.shortest)
        return max(shortest, min(gone, scaled(longest)))
    }

    private func scaled(_ length: Milliseconds) -> Milliseconds {
        max(Self.floor, pace.scale(length))
    }

    /// A question, put off for longer each time that it was asked in vain since the last answer.
    func delayed(_ at: Instant, by failures: [Instant], since answered: Instant) -> Instant {
        let vain = failures.filter { $0 > answered }
        guard let last = vain.last else { return at }
        let doubled = Milliseconds(Self.shortest.count << min(vain.count - 1, 10))
        return max(at, last + scaled(min(doubled, Self.longest)))
    }
}

extension PlayItem {
    /// Whether it is to be renewed at its expiry.
    fileprivate var renews: Bool {
        guard case .autoRenewing(isOn: true) = plan else { return false }
        return !isRemovedAtExpiry
    }
}
