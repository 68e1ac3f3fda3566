package import TideoverCore

// The members that the SDKs show beside `isActive`, and from which they compute `willRenew`.

extension SDKCustomerInfo.Subscription {
    /// Sets the dates of cancellation, failure, refund and pause. Without a standing, another
    /// product has taken its place.
    mutating func describe(
        _ standing: Standing?,
        _ purchase: ListedPurchase,
        _ reads: PlayReads,
        at now: Instant
    ) {
        // A grace in the future contradicts a denial.
        let endedGrace = purchase.graceUntil.flatMap { $0 <= now ? $0 : nil }
        guard let standing else {
            unsubscribedAt = expires.end
            return
        }
        let offSince = purchase.renewalOffAt ?? reads.renewalOffAt
        switch standing.state {
        case .active:
            guard standing.willRenew == false, purchase.kind == .subscription else { return }
            unsubscribedAt = offSince ?? purchase.startedAt
        case .grace:
            fail(purchase)
            graceUntil = standing.graceUntil ?? expires.end
        case .hold:
            if standing.reason == .paused {
                resumesAt = reads.latest?.resumesAt ?? purchase.resumesAt
            } else {
                fail(purchase)
                graceUntil = endedGrace
            }
        case .expired:
            if standing.reason == .billingError { graceUntil = endedGrace }
            describeEnd(standing, purchase, offSince)
        case .never: return
        }
    }

    private mutating func fail(_ purchase: ListedPurchase) {
        billingIssueAt = purchase.failedAt ?? purchase.endsAt ?? purchase.startedAt
    }

    private mutating func describeEnd(
        _ standing: Standing,
        _ purchase: ListedPurchase,
        _ offSince: Instant?
    ) {
        switch standing.reason {
        case .billingError: fail(purchase)
        case .refunded:
            // A refund may come after the end, or before a renewal begins.
            refundedAt = purchase.takenBackAt ?? expires.end
            unsubscribedAt = refundedAt
        case .revoked, .familyAccessRemoved, .assignmentRemoved, .changedProduct, .replaced:
            unsubscribedAt = expires.end
        default: unsubscribedAt = offSince ?? expires.end
        }
    }

    /// Whether this entry represents its product rather than another one: access first, then the
    /// later end.
    func isBetter(than other: SDKCustomerInfo.Subscription) -> Bool {
        let mine = (expires.isActive ? 1 : 0, expires.end ?? .distantFuture)
        let theirs = (other.expires.isActive ? 1 : 0, other.expires.end ?? .distantFuture)
        return mine > theirs
    }
}

extension SDKCustomerInfo.Expiry {
    /// Nil for never.
    package var end: Instant? {
        switch self {
        case .never: nil
        case .active(let end), .ended(let end): end
        }
    }
}

extension ListedPurchase {
    /// The type of the period by its offer.
    var period: SDKCustomerInfo.Period {
        guard kind != .prepaid else { return .prepaid }
        guard let offer else { return .normal }
        return offer.discount == .freeTrial ? .trial : .intro
    }
}

extension Standing {
    /// Whether it is the answer of a purchase's product.
    func isAbout(_ purchase: ListedPurchase) -> Bool {
        guard state != .never else { return false }
        if let grantedEntitlement { return grantedEntitlement == purchase.grantedEntitlement }
        return purchase.grantedEntitlement == nil && productId == purchase.productId
    }
}

extension Lineage {
    var isSandbox: Bool { environment != .production }
}

/// Google Play's responses about one subscription, by an instant.
struct PlayReads {
    /// The newest response; nil for another store's purchase.
    let latest: PlaySubscription?
    /// When the store first reported that it will not renew, without a later report that it will.
    let renewalOffAt: Instant?

    init(_ record: CustomerRecord, of lineage: Lineage, by instant: Instant) {
        let facts = record.lineageRecords.filter { $0.lineage == lineage }.flatMap(\.facts)
        let reads = facts.compactMap { fact -> (at: Instant, read: PlaySubscription)? in
            guard fact.assertedAt <= instant, case .playSubscription(let read) = fact.assertion
            else { return nil }
            return (fact.assertedAt, read)
        }
        .sorted { ($0.at, $0.read.askedAt) < ($1.at, $1.read.askedAt) }
        latest = reads.last?.read
        renewalOffAt = reads.reduce(into: Instant?.none) { since, next in
            since = next.read.isRenewalOff ? since ?? next.read.cancelledAt ?? next.at : nil
        }
    }

    func item(of product: SDKProduct) -> PlayItem? {
        latest?.items.first { $0.productId == product.id }
    }
}

extension PlaySubscription {
    fileprivate var isRenewalOff: Bool {
        if state == .cancelled { return true }
        guard !items.isEmpty else { return false }
        return items.allSatisfy { item in
            if case .autoRenewing(isOn: false) = item.plan { true } else { false }
        }
    }
}
