/// One paid period, one-time purchase or grant of a lineage, for a list of a customer's purchases.
package struct ListedPurchase: Hashable, Sendable {
    package let lineage: Lineage
    package let key: TermKey
    package let kind: Kind
    /// The ID in the catalogue; empty for a grant.
    package let productId: String
    /// The entitlement that an operator granted; nil for a sold purchase.
    package let grantedEntitlement: String?
    package let transactionId: String
    package let startedAt: Instant
    /// The end that the store states; nil without one.
    package let endsAt: Instant?
    package let offer: Offer?
    /// When the store took it back; nil if it did not.
    package let takenBackAt: Instant?
    /// When a failed payment was first reported; nil if none was.
    package let failedAt: Instant?
    /// When grace ends or ended, if the store stated that.
    package let graceUntil: Instant?
    /// When the store reported that it will not renew; nil if its last report differs.
    package let renewalOffAt: Instant?
    /// When a pause that a relay reported ends; nil if none is stated.
    package let resumesAt: Instant?

    package enum Kind: Hashable, Sendable {
        case subscription, prepaid, oneTime, grant
    }
}

extension LineageHistory {
    /// Returns the periods and purchases that count by an instant, in order of start.
    package func purchases(by instant: Instant) -> [ListedPurchase] {
        let sold = terms.map { purchase($0, kind: $0.kind, by: instant) }
        let periods = (play?.periods ?? []).map { record in
            purchase(
                record,
                kind: record.term.plan == .nonRenewing ? .prepaid : .subscription,
                by: instant
            )
        }
        return (sold + periods).compactMap(\.self).sorted {
            ($0.startedAt, $0.key) < ($1.startedAt, $1.key)
        }
    }

    private func purchase(
        _ record: TermRecord,
        kind: ListedPurchase.Kind,
        by instant: Instant
    ) -> ListedPurchase? {
        guard record.effectiveStart <= instant else { return nil }
        // It may have been switched off for the renewal that is charged already.
        let ahead = announcedRenewal(of: record, at: instant)
        return ListedPurchase(
            lineage: lineage,
            key: record.key,
            kind: kind,
            productId: record.term.productId,
            grantedEntitlement: record.entitlement,
            transactionId: record.term.transactionId,
            startedAt: record.term.start,
            endsAt: record.end,
            offer: record.term.offer,
            takenBackAt: record.takenBack(at: instant, pace: pace)?.since,
            failedAt: record.firstFailure.flatMap { $0 <= instant ? $0 : nil },
            graceUntil: record.graceEnd,
            renewalOffAt: ahead?.renewalOff(by: instant) ?? record.renewalOff(by: instant),
            resumesAt: record.outlooks.newest(by: instant)?.value.resumesAt
        )
    }
}

extension TermRecord {
    fileprivate var kind: ListedPurchase.Kind {
        if entitlement != nil { return .grant }
        return term.plan == .autoRenewable ? .subscription : .oneTime
    }

    /// Returns the first of the newest unbroken reports that the term will not renew.
    fileprivate func renewalOff(by instant: Instant) -> Instant? {
        var since: Instant?
        for outlook in outlooks where outlook.assertedAt <= instant {
            switch outlook.value.willRenew {
            case true: since = nil
            case false: since = since ?? outlook.assertedAt
            case nil: continue
            }
        }
        return since
    }
}
