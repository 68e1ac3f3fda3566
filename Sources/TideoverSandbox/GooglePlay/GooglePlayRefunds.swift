/// The developer's requests through the API, and refunds.
extension GooglePlayMachine {
    /// Performs a developer's request, and returns the notifications that the store sends at once.
    public mutating func write(
        _ write: GooglePlayWrite
    ) throws(GooglePlayRefusal) -> [GooglePlayNotification] {
        switch write {
        case .acknowledge(let token): return try acknowledge(token)
        case .consume(let token): return try consume(token)
        case .cancel(let token, let type):
            let place = try subscription(token)
            switch type {
            case .userRequestedStopRenewals:
                return try cancel(place, .user(at: now, nil), waits: true)
            case .developerRequestedStopPayments:
                return try cancel(place, .developer, waits: false)
            }
        case .deferRenewal(let token, let milliseconds, let etag):
            return try deferRenewal(subscription(token), by: milliseconds, etag)
        case .revoke(let token, let revocation):
            return try revoke(subscription(token), revocation)
        case .refund(let order, let revokes):
            let cause = Cause(source: .developer, reason: .other, cancellation: .developer)
            return try refund(order, cause, quantity: nil, revokes: revokes)
        }
    }

    /// Returns a subscription by its token; it must not have ended.
    private func subscription(_ token: String) throws(GooglePlayRefusal) -> Place {
        switch state(ofToken: token) {
        case .unknown: throw GooglePlayRefusal(.unknownToken, token)
        case .gone: throw GooglePlayRefusal(.tokenGone, token)
        case .readable: break
        }
        guard case .subscription(let place) = tokens[token] else {
            throw GooglePlayRefusal(.unknownToken, token)
        }
        guard self[place].isAlive else {
            let isAwaited = self[place].signup == .awaited
            throw GooglePlayRefusal(isAwaited ? .notRunning : .ended, token)
        }
        return place
    }

    private mutating func acknowledge(
        _ token: String
    ) throws(GooglePlayRefusal) -> [GooglePlayNotification] {
        if case .purchase(let place) = tokens[token] {
            try checkBought(place)
            self[purchase: place].acknowledge()
            return []
        }
        let place = try subscription(token)
        guard !self[place].isAcknowledged else { return [] }
        self[place].acknowledge()
        return notify([], of: place)
    }

    private mutating func consume(
        _ token: String
    ) throws(GooglePlayRefusal) -> [GooglePlayNotification] {
        guard case .purchase(let place) = tokens[token] else {
            throw GooglePlayRefusal(.unknownToken, token)
        }
        try checkBought(place)
        self[purchase: place].consume(at: now)
        return []
    }

    private func checkBought(_ place: Place) throws(GooglePlayRefusal) {
        let purchase = self[purchase: place]
        guard purchase.state == .purchased else {
            throw GooglePlayRefusal(.notBought, purchase.token, product: purchase.product.id)
        }
    }

    private mutating func deferRenewal(
        _ place: Place,
        by milliseconds: Int64,
        _ etag: String?
    ) throws(GooglePlayRefusal) -> [GooglePlayNotification] {
        let subscription = self[place]
        guard etag == nil || etag == subscription.etag else {
            throw GooglePlayRefusal(.outdated, subscription.token)
        }
        guard (GooglePlayBillingSpeed.day...365 * GooglePlayBillingSpeed.day).contains(milliseconds)
        else {
            throw GooglePlayRefusal(.badDuration, subscription.token)
        }
        guard !subscription.isPrepaid else {
            throw GooglePlayRefusal(.wrongKindOfPlan, subscription.token)
        }
        guard subscription.cancellation == nil,
            subscription.items.allSatisfy({ !$0.isLive || $0.phase == .running })
        else { throw GooglePlayRefusal(.notRunning, subscription.token) }
        for index in subscription.items.indices where subscription.items[index].isLive {
            self[place].items[index].move(by: milliseconds)
        }
        return notify([.deferred], of: place)
    }
}

// MARK: - Refunds

extension GooglePlayMachine {
    /// The source of a refund, and its reason.
    private struct Cause {
        let source: GooglePlayVoidedPurchase.Source
        let reason: GooglePlayAction.VoidReason
        let cancellation: GooglePlaySubscription.Cancellation

        static let unacknowledged = Cause(
            source: .google,
            reason: .unacknowledged,
            cancellation: .system
        )

        /// Whether the order counts as voided: not if a developer refunds without a revocation.
        func voids(revoking: Bool) -> Bool { source != .developer || revoking }
    }

    private mutating func revoke(
        _ place: Place,
        _ revocation: GooglePlayWrite.Revocation
    ) throws(GooglePlayRefusal) -> [GooglePlayNotification] {
        let cause = Cause(source: .developer, reason: .other, cancellation: .developer)
        let subscription = self[place]
        switch revocation {
        case .fullRefund: return revoke(place, cause) { order, _ in order.kept }
        case .proratedRefund:
            let now = now
            return revoke(place, cause) { order, items in
                items.reduce(0) { $0 + min($1.charged, $1.credit(at: now)) }
            }
        case .item(let product):
            let index = subscription.items.firstIndex { $0.isLive && $0.plan.product == product }
            guard let index else {
                throw GooglePlayRefusal(.notSubscribed, subscription.token, product: product)
            }
            guard subscription.items.count(where: \.isLive) > 1 else {
                throw GooglePlayRefusal(.lastItem, subscription.token, product: product)
            }
            let item = subscription.items[index]
            if let order = item.orderId { giveBack(item.charged, of: order) }
            return notify(self[place].revoke(index, at: now), of: place)
        }
    }

    /// Revokes a subscription now, and refunds the given amount of each of its current orders.
    private mutating func revoke(
        _ place: Place,
        _ cause: Cause,
        giving amount: (GooglePlayOrder, [GooglePlayItem]) -> Int64
    ) -> [GooglePlayNotification] {
        var voided: [GooglePlayNotification] = []
        let items = self[place].items.filter(\.isLive)
        for id in self[place].currentOrders {
            guard let order = orders[id], order.refundedAt == nil else { continue }
            giveBack(amount(order, items.filter { $0.orderId == id }), of: id, cause)
            voided += void(id, cause, place.account)
        }
        let revoked = notify(self[place].revoke(by: cause.cancellation, at: now), of: place)
        return revoked + voided
    }

    /// Records a refund in an order. The order is refunded in full if it keeps nothing.
    private mutating func giveBack(_ amount: Int64, of id: String, _ cause: Cause? = nil) {
        guard let order = orders[id] else { return }
        if amount >= order.kept {
            orders[id]?.refundedAt = now
            orders[id]?.isChargeback = cause?.reason == .chargeback
        } else if amount > 0 {
            orders[id]?.partialRefunds.append(.init(at: now, amount: amount))
        }
    }

    /// Lists an order as voided, and reports it.
    private mutating func void(
        _ id: String,
        _ cause: Cause,
        _ account: Int,
        quantity: Int64? = nil
    ) -> [GooglePlayNotification] {
        guard let order = orders[id] else { return [] }
        voids.append(
            GooglePlayVoidedPurchase(
                token: order.token,
                order: id,
                type: order.type,
                purchasedAt: order.at,
                voidedAt: now,
                recordedAt: now,
                source: cause.source,
                reason: cause.reason,
                quantity: quantity
            )
        )
        let event = GooglePlayEvent.voidedPurchase(
            token: order.token,
            order: id,
            order.type,
            quantity == nil ? .full : .quantityBasedPartial
        )
        return [notification(event, account)]
    }

    /// Revokes a purchase that was not acknowledged in time.
    mutating func revokeUnacknowledged(_ place: Place) -> [GooglePlayNotification] {
        revoke(place, .unacknowledged) { order, _ in order.kept }
    }

    /// Refunds a purchase that was not acknowledged in time.
    mutating func giveBackUnacknowledged(_ place: Place) -> [GooglePlayNotification] {
        let purchase = self[purchase: place]
        guard let order = purchase.orderId else { return [] }
        self[purchase: place].refund(purchase.refundable, revokes: true, at: now)
        guard orders[order]?.refundedAt == nil else { return [] }
        giveBack(orders[order]?.kept ?? 0, of: order, .unacknowledged)
        return void(order, .unacknowledged, place.account)
    }

    private mutating func refund(
        _ id: String,
        _ cause: Cause,
        quantity: Int64?,
        revokes: Bool
    ) throws(GooglePlayRefusal) -> [GooglePlayNotification] {
        guard let order = orders[id], let holding = tokens[order.token] else {
            throw GooglePlayRefusal(.unknownOrder, id)
        }
        guard order.refundedAt == nil else { throw GooglePlayRefusal(.alreadyRefunded, id) }
        switch holding {
        case .purchase(let place):
            return try refund(order, place, cause, quantity: quantity, revokes: revokes)
        case .subscription(let place):
            giveBack(order.kept, of: id, cause)
            let voided = cause.voids(revoking: revokes) ? void(id, cause, place.account) : []
            guard revokes, self[place].isAlive else { return voided }
            return notify(self[place].revoke(by: cause.cancellation, at: now), of: place) + voided
        }
    }

    private mutating func refund(
        _ order: GooglePlayOrder,
        _ place: Place,
        _ cause: Cause,
        quantity: Int64?,
        revokes: Bool
    ) throws(GooglePlayRefusal) -> [GooglePlayNotification] {
        let purchase = self[purchase: place]
        let count = quantity ?? purchase.refundable
        guard (1...max(1, purchase.refundable)).contains(count), purchase.refundable > 0 else {
            throw GooglePlayRefusal(.tooMany, order.id, product: purchase.product.id)
        }
        let isPartial = count < purchase.refundable
        let amount = isPartial ? share(of: order.total, count, of: purchase.quantity) : order.kept
        // Google lists as voided only what is to be taken away (Voided Purchases API).
        let isVoided = cause.voids(revoking: revokes)
        self[purchase: place].refund(count, revokes: isVoided, at: now)
        giveBack(amount, of: order.id, cause)
        guard isVoided else { return [] }
        return void(order.id, cause, place.account, quantity: isPartial ? count : nil)
    }
}

// MARK: - Refunds by customers and the store

extension GooglePlayMachine {
    mutating func refund(
        _ account: Int,
        _ product: String?,
        _ reason: GooglePlayAction.VoidReason,
        _ quantity: Int64?,
        _ revokes: Bool
    ) throws(GooglePlayRefusal) -> [GooglePlayNotification] {
        let order = try newestOrder(account, product)
        return try refund(
            order,
            Cause(source: reason.source, reason: reason, cancellation: .system),
            quantity: quantity,
            revokes: revokes
        )
    }

    mutating func requestRefund(
        _ account: Int,
        _ product: String?
    ) throws(GooglePlayRefusal) -> [GooglePlayNotification] {
        let order = try newestOrder(account, product)
        guard orders[order]?.refundedAt == nil else { throw refusal(.alreadyRefunded, account) }
        let customer = accounts[account].customer
        let review = GooglePlayRefundReview(
            reason: GooglePlayAction.VoidReason.chargeback.rawValue,
            obfuscatedAccountId: customer.obfuscatedAccountId,
            obfuscatedProfileId: customer.obfuscatedProfileId
        )
        let event = GooglePlayEvent.pendingRefundReview(
            refund: identifiers.refund(),
            order: order,
            review
        )
        return [notification(event, account)]
    }

    /// Returns the newest order of the newest purchase of a product.
    private func newestOrder(
        _ account: Int,
        _ product: String?
    ) throws(GooglePlayRefusal) -> String {
        let holder = accounts[account]
        let subscription = holder.subscriptions.last {
            $0.has(product) { $0.orderId != nil }
        }
        let purchase = holder.purchases.last {
            $0.orderId != nil && (product == nil || $0.product.id == product)
        }
        let isSubscription = subscription?.sequence ?? -1 > purchase?.sequence ?? -1
        let order = isSubscription ? subscription?.currentOrders.first : purchase?.orderId
        guard let order else { throw refusal(.notBought, account, product) }
        return order
    }
}

extension GooglePlaySubscription {
    /// The orders of its current items, newest first.
    var currentOrders: [String] {
        let items = items.sorted { ($0.start, $0.end) > ($1.start, $1.end) }
        var orders: [String] = []
        for order in items.compactMap(\.orderId) where !orders.contains(order) {
            orders.append(order)
        }
        return orders
    }
}

extension GooglePlayAction.VoidReason {
    /// The source in the list of voided purchases.
    fileprivate var source: GooglePlayVoidedPurchase.Source {
        switch self {
        case .remorse, .notReceived, .defective, .accidental: .user
        case .other, .fraud, .friendlyFraud, .chargeback, .unacknowledged: .google
        }
    }
}
