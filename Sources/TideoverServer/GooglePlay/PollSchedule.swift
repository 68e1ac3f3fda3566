import TideoverCore

/// The schedule of queries for a purchase token: at each of its boundaries, then at growing
/// intervals until the store has decided.
///
/// Each length is multiplied by the lineage's pace: a licence tester's month lasts five minutes.
struct PollSchedule {
    let pace: Pace

    /// How long before a final end the store is queried once more, since the customer may have
    /// extended the purchase.
    static let lead = Milliseconds.minutes(5)
    /// How long after such an end it is queried for the result.
    static let settling = Milliseconds.minutes(1)
    /// The first and the longest interval while a renewal is retried.
    static let shortest = Milliseconds.minutes(1)
    static let longest = Milliseconds.hours(1)
    /// How long the store retries a renewal without a notification.
    static let trying = Milliseconds.hours(48)
    /// The interval if no change is expected soon.
    static let idle = Milliseconds.hours(24)
    /// How long after its end the store knows a token, and the maximum length of a hold.
    static let reach = Milliseconds.days(60)
    /// How long an ended purchase is still queried, because the store may report the end late.
    static let aftermath = Milliseconds.days(3)
    /// How long after a voided order a response may be older than the order. It is slightly more
    /// than the hour for which the rules of standing treat it as old.
    static let staleness = Milliseconds.minutes(61)
    /// The interval for an active token that the store does not know.
    static let restOfUnknown = Milliseconds.days(7)
    /// The shortest interval, whatever the pace.
    static let floor = Milliseconds.seconds(5)

    // MARK: Subscriptions

    /// Returns when to query a subscription next, from the store's last response and its time; nil
    /// for never.
    ///
    /// A response without an expiry, or in a state that this version does not know, does not end
    /// the queries: they follow at growing intervals for 60 days.
    func next(_ read: PlaySubscription, askedAt: Instant) -> Instant? {
        switch read.state {
        case .expired, .pendingCancelled: nil
        case .active, .inGrace, .cancelled:
            read.items.contains { $0.expiresAt != nil }
                ? read.items.compactMap { next($0, of: read, askedAt) }.min()
                : waiting(askedAt, since: read.askedAt)
        case .onHold: following(askedAt, since: end(of: read))
        case .paused: resumption(of: read, askedAt)
        case .pending, .unrecognised: waiting(askedAt, since: read.askedAt)
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

    /// Returns the end of the pause, or a day later if earlier: the customer may resume at any
    /// time.
    private func resumption(of read: PlaySubscription, _ askedAt: Instant) -> Instant? {
        guard let end = read.resumesAt else {
            return following(askedAt, since: self.end(of: read))
        }
        if askedAt < end { return min(end, askedAt + scaled(Self.idle)) }
        guard askedAt < end + pace.scale(Self.reach) else { return nil }
        return askedAt + wait(askedAt - end, atMost: Self.idle)
    }

    /// Returns a day later, as long as a hold can last.
    private func following(_ askedAt: Instant, since start: Instant) -> Instant? {
        askedAt < start + pace.scale(Self.reach) ? askedAt + scaled(Self.idle) : nil
    }

    /// Returns the next query of a purchase that awaits payment or is not understood.
    private func waiting(_ askedAt: Instant, since start: Instant) -> Instant? {
        guard askedAt < start + pace.scale(Self.reach) else { return nil }
        return askedAt + max(scaled(Self.longest), wait(askedAt - start, atMost: Self.idle))
    }

    /// Returns the expiry; without one, when the response was requested.
    private func end(of read: PlaySubscription) -> Instant {
        read.items.compactMap(\.expiresAt).max() ?? read.askedAt
    }

    // MARK: One-time purchases

    /// Returns when to query a one-time purchase next. Once it is paid, only a refund can follow. A
    /// purchase reported as voided and still read as paid is queried until it is clear which is
    /// outdated.
    func next(_ read: PlayPurchase, askedAt: Instant, voidedAt: Instant?) -> Instant? {
        switch read.state {
        case .purchased: voidedAt.flatMap { doubting(askedAt, since: $0) }
        case .cancelled: nil
        case .pending, .unrecognised: waiting(askedAt, since: read.askedAt)
        }
    }

    private func doubting(_ askedAt: Instant, since voidedAt: Instant) -> Instant? {
        let first = voidedAt + Self.staleness
        if askedAt < first { return first }
        guard askedAt < voidedAt + Self.aftermath else { return nil }
        return askedAt + wait(askedAt - voidedAt, atMost: Self.idle)
    }

    // MARK: Intervals

    /// Returns an interval as long as the time already passed.
    private func wait(_ gone: Milliseconds, atMost longest: Milliseconds) -> Milliseconds {
        let shortest = scaled(Self.shortest)
        return max(shortest, min(gone, scaled(longest)))
    }

    private func scaled(_ length: Milliseconds) -> Milliseconds {
        max(Self.floor, pace.scale(length))
    }

    /// Delays a query for longer after each failure since the last response.
    ///
    /// At a tester's pace even the longest interval is only seconds. So it grows to the time for
    /// which queries have failed, up to the longest interval at real pace.
    func delayed(_ at: Instant, by failures: [Instant], since answered: Instant) -> Instant {
        let vain = failures.filter { $0 > answered }
        guard let first = vain.first, let last = vain.last else { return at }
        let doubled = Milliseconds(Self.shortest.count << min(vain.count - 1, 10))
        let paced = scaled(min(doubled, Self.longest))
        let interval = pace == .real ? paced : max(paced, min(last - first, Self.longest))
        return max(at, last + interval)
    }
}

extension PlayItem {
    /// Whether it renews at its expiry.
    fileprivate var renews: Bool {
        guard case .autoRenewing(isOn: true) = plan else { return false }
        return !isRemovedAtExpiry
    }
}
