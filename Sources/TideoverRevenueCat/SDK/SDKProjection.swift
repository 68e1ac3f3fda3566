package import TideoverCore

/// Converts a customer's record to the customer info of RevenueCat's SDKs at one instant.
///
/// `isActive` in an SDK is true exactly while our `access` is true, up to the rounding to seconds.
package struct SDKProjection {
    private let record: CustomerRecord
    private let history: CustomerHistory
    private let now: Instant

    package init(_ record: CustomerRecord, _ history: CustomerHistory, at now: Instant) {
        self.record = record
        self.history = history
        self.now = now
    }

    package init(_ record: CustomerRecord, at now: Instant) {
        self.init(record, record.history, at: now)
    }

    package var customerInfo: SDKCustomerInfo {
        let owned = history.lineageRecords.filter { history.identity.owns($0.owners, at: now) }
            .map { OwnedPurchases($0.history, $0.history.purchases(by: now)) }
        var info = SDKCustomerInfo(
            originalAppUserId: history.identity.primary.text,
            firstSeen: firstSeen(owned)
        )
        for owned in owned { list(owned, in: &info) }
        // The SDKs disagree on an ID in both maps.
        for key in info.subscriptions.keys { info.purchases[key] = nil }
        for entitlement in history.snapshot(at: now).entitlements {
            add(entitlement, owned, to: &info)
        }
        info.managementURL = managementURL(owned)
        return info
    }

    /// The purchases of one lineage of the customer.
    private struct OwnedPurchases {
        let history: LineageHistory
        let purchases: [ListedPurchase]
        var lineage: Lineage { history.lineage }

        init(_ history: LineageHistory, _ purchases: [ListedPurchase]) {
            self.history = history
            self.purchases = purchases
        }
    }

    private func firstSeen(_ owned: [OwnedPurchases]) -> Instant? {
        let starts = owned.map(\.purchases.first?.startedAt) + [record.reconciledAt]
        return starts.compactMap(\.self).filter { $0 <= now }.min()
    }

    // MARK: Purchases

    private func list(_ owned: OwnedPurchases, in info: inout SDKCustomerInfo) {
        var latest: [String: ListedPurchase] = [:]
        for purchase in owned.purchases {
            switch purchase.kind {
            case .oneTime: add(purchase, to: &info)
            case .subscription, .prepaid, .grant: latest[key(of: purchase)] = purchase
            }
        }
        for (key, purchase) in latest {
            let entry = subscription(purchase, in: owned)
            if let other = info.subscriptions[key], !entry.isBetter(than: other) { continue }
            info.subscriptions[key] = entry
        }
    }

    /// Adds a one-time purchase. One that was taken back is left out: an SDK of the web shows every
    /// listed one as active.
    private func add(_ purchase: ListedPurchase, to info: inout SDKCustomerInfo) {
        guard purchase.takenBackAt == nil else { return }
        let entry = SDKCustomerInfo.Purchase(
            id: purchase.key.text,
            transactionId: purchase.transactionId,
            purchasedAt: purchase.startedAt,
            store: purchase.lineage.revenueCatStore,
            isSandbox: purchase.lineage.isSandbox
        )
        let key = key(of: purchase)
        let list = info.purchases[key, default: []] + [entry]
        info.purchases[key] = list.sorted { ($0.purchasedAt, $0.id) < ($1.purchasedAt, $1.id) }
    }

    private func subscription(
        _ purchase: ListedPurchase,
        in owned: OwnedPurchases
    ) -> SDKCustomerInfo.Subscription {
        let standing = standing(of: purchase, in: owned.history, at: now)
        let reads = PlayReads(record, of: owned.lineage, by: now)
        let isOwn = owned.lineage.ownership == .purchased
        var entry = SDKCustomerInfo.Subscription(
            basePlan: basePlan(of: purchase, reads),
            purchasedAt: purchase.startedAt,
            originallyPurchasedAt: owned.purchases.first?.startedAt ?? purchase.startedAt,
            expires: expiry(of: purchase, standing, in: owned),
            store: purchase.kind == .grant ? .promotional : owned.lineage.revenueCatStore,
            isSandbox: owned.lineage.isSandbox,
            period: purchase.period,
            isFamilyShared: !isOwn,
            transactionId: purchase.transactionId,
            managementURL: isOwn ? standing.flatMap(manage) : nil
        )
        entry.describe(standing, purchase, reads, at: now)
        return entry
    }

    /// Returns the standing that a purchase gives by its own lineage; nil if another product has
    /// taken its place.
    private func standing(
        of purchase: ListedPurchase,
        in history: LineageHistory,
        at instant: Instant
    ) -> Standing? {
        let policy = self.history.policy
        let catalogue = self.history.catalogue.value(at: instant)
        let own = history.standing(at: instant, policy: policy)
        if own.isAbout(purchase) { return own }
        let names = catalogue[purchase.productId]?.entitlements ?? []
        return names.lazy.map {
            history.standing(of: $0, at: instant, policy: policy, catalogue: catalogue)
        }.first { $0.isAbout(purchase) }
    }

    private func expiry(
        of purchase: ListedPurchase,
        _ standing: Standing?,
        in owned: OwnedPurchases
    ) -> SDKCustomerInfo.Expiry {
        guard let standing, standing.access else {
            let next = owned.purchases.first {
                $0.startedAt > purchase.startedAt && $0.productId != purchase.productId
            }
            let ends = [standing?.accessUntil, purchase.endsAt, next?.startedAt]
            return ended(standing?.accessUntil ?? ends.compactMap(\.self).min())
        }
        let policies = history.policy.versions.map(\.value)
        let ahead = Set(policies.flatMap { owned.history.boundaries(policy: $0) })
            .filter { $0 > now }.sorted()
        var last = standing
        for instant in ahead {
            guard let then = self.standing(of: purchase, in: owned.history, at: instant),
                then.access
            else { return .active(until: instant) }
            last = then
        }
        return lasting(last)
    }

    /// Returns the expiry of access that no known instant ends.
    private func lasting(_ standing: Standing) -> SDKCustomerInfo.Expiry {
        guard let end = standing.accessUntil else { return .never }
        return .active(until: max(end, now + .hours(1)))
    }

    /// Returns an expiry that both platforms read as past: one compares with `>=`.
    private func ended(_ end: Instant?) -> SDKCustomerInfo.Expiry {
        .ended(min(end ?? now, now.roundedDown - .seconds(1)))
    }

    // MARK: Entitlements

    /// Adds an entitlement that the customer has or had. An ended one-time purchase is left out: an
    /// SDK of the web shows it as active.
    private func add(
        _ entitlement: Snapshot.Entitlement,
        _ owned: [OwnedPurchases],
        to info: inout SDKCustomerInfo
    ) {
        let standing = entitlement.standing
        guard standing.access || standing.state != .never,
            let lineages = standing.lineage.map({ id in owned.filter { $0.lineage == id } }),
            let lineage = lineages.first
        else { return }
        let purchase = lineage.purchases.last { standing.isAbout($0) }
        guard let key = purchase.map(key(of:)) ?? unlistedKey(of: standing, entitlement.name) else {
            return
        }
        let isListed = info.subscriptions[key] != nil || info.purchases[key] != nil
        guard standing.access || info.subscriptions[key] != nil else { return }
        let expires = standing.access ? accessEnd(of: entitlement) : ended(standing.accessUntil)
        if !isListed {
            info.subscriptions[key] = unlisted(standing, expires, since: info.firstSeen ?? now)
        }
        let entry = info.subscriptions[key]
        info.entitlements[entitlement.name] = SDKCustomerInfo.Entitlement(
            product: key,
            basePlan: entry?.basePlan,
            purchasedAt: entry?.purchasedAt ?? purchase?.startedAt ?? info.firstSeen ?? now,
            expires: expires,
            graceUntil: entry?.graceUntil
        )
    }

    /// Returns the end of access as known now, over all purchases.
    private func accessEnd(of entitlement: Snapshot.Entitlement) -> SDKCustomerInfo.Expiry {
        var last = entitlement
        while let next = last.nextChange {
            guard let then = history.snapshot(at: next)[entitlement.name], then.standing.access
            else { return .active(until: next) }
            last = then
        }
        return lasting(last.standing)
    }

    /// Returns the key of access whose purchase no message describes, such as a renewal that only
    /// an outlook reports.
    private func unlistedKey(of standing: Standing, _ entitlement: String) -> String? {
        guard standing.access else { return nil }
        if let product = standing.productId, !product.isEmpty, let lineage = standing.lineage {
            return SDKProduct(product, in: lineage.store).id
        }
        return SDKProduct.grant(of: entitlement, isForEver: standing.accessUntil == nil)
    }

    private func unlisted(
        _ standing: Standing,
        _ expires: SDKCustomerInfo.Expiry,
        since start: Instant
    ) -> SDKCustomerInfo.Subscription {
        SDKCustomerInfo.Subscription(
            purchasedAt: start,
            originallyPurchasedAt: start,
            expires: expires,
            store: standing.lineage?.revenueCatStore ?? .external,
            isSandbox: standing.lineage?.isSandbox ?? false,
            period: .normal,
            isFamilyShared: standing.lineage?.ownership == .familyShared,
            transactionId: standing.lineage?.id ?? ""
        )
    }

    // MARK: Fields

    private func key(of purchase: ListedPurchase) -> String {
        if let entitlement = purchase.grantedEntitlement {
            return SDKProduct.grant(of: entitlement, isForEver: purchase.endsAt == nil)
        }
        return SDKProduct(purchase.productId, in: purchase.lineage.store).id
    }

    private func basePlan(of purchase: ListedPurchase, _ reads: PlayReads) -> String? {
        let product = SDKProduct(purchase.productId, in: purchase.lineage.store)
        return product.basePlan ?? reads.item(of: product)?.basePlan
    }

    private func manage(_ standing: Standing) -> String? {
        StoreLink.manage(standing, package: record.googlePlayPackage)
    }

    /// Returns the store's page for the customer's own subscriptions that run or can recover. The
    /// App Store comes first.
    private func managementURL(_ owned: [OwnedPurchases]) -> String? {
        let running = owned.filter { $0.lineage.ownership == .purchased }.compactMap { owned in
            let standing = owned.history.standing(at: now, policy: history.policy)
            let isRenewable = owned.purchases.last.map { $0.kind == .subscription } ?? false
            return isRenewable && (standing.access || standing.state == .hold) ? standing : nil
        }
        let first = running.first { $0.lineage?.store == .appStore } ?? running.first
        return first.flatMap(manage)
    }
}
