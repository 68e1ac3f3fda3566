public import TideoverJSON

/// Look-ups in the store's records.
extension GooglePlayMachine {
    /// Returns `purchases.subscriptionsv2`; nil if the token belongs to no subscription.
    public func subscription(token: String) -> JSONObject? {
        guard case .subscription(let place) = tokens[token] else { return nil }
        return self[place].resource(at: now)
    }

    /// Returns the end of a subscription's planned or running pause; nil without one.
    public func pauseEnd(of token: String) -> Int64? {
        guard case .subscription(let place) = tokens[token] else { return nil }
        return self[place].pauseEnd
    }

    /// Returns `purchases.productsv2`; nil if the token belongs to no one-time purchase.
    public func product(token: String) -> JSONObject? {
        guard case .purchase(let place) = tokens[token] else { return nil }
        return self[purchase: place].resource
    }

    /// Returns `purchases.products`; nil if the token belongs to no one-time purchase.
    public func productV1(token: String) -> JSONObject? {
        guard case .purchase(let place) = tokens[token] else { return nil }
        return self[purchase: place].resourceV1
    }

    /// Returns `orders`; nil for an order that does not exist.
    public func order(_ id: String) -> JSONObject? { orders[id]?.resource }

    /// Returns the orders with a void recorded from `since` up to but not including `until`, oldest
    /// first.
    public func voided(since: Int64, until: Int64) -> [GooglePlayVoidedPurchase] {
        voids.filter { $0.recordedAt >= since && $0.recordedAt < until }
    }

    /// Whether the API still answers for a token.
    public func state(ofToken token: String) -> GooglePlayTokenState {
        switch tokens[token] {
        case nil: return .unknown
        case .purchase: return .readable
        case .subscription(let place):
            guard self[place].state == .expired, let expiry = self[place].expiry else {
                return .readable
            }
            return now > expiry + GooglePlayBillingSpeed.readableAfterExpiry ? .gone : .readable
        }
    }

    /// Returns the tokens of a customer's purchases, oldest first.
    public func tokens(of customer: String) -> [String] {
        guard let account = account(of: customer) else { return [] }
        let subscriptions = account.subscriptions.map { ($0.sequence, $0.token) }
        let purchases = account.purchases.map { ($0.sequence, $0.token) }
        return (subscriptions + purchases).sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// Returns the store's state at an instant up to `now`; of several purchases the best one.
    public func truth(of customer: String, at instant: Int64) -> GooglePlayExpectedState {
        holdings(of: customer, at: instant).map(\.truth).max { one, other in
            (one.rank, one.until ?? .max) < (other.rank, other.until ?? .max)
        } ?? .never
    }

    /// Returns the store's state of each product of each purchase: subscriptions in the order
    /// bought, then one-time purchases. Omits purchases that were never granted.
    public func holdings(of customer: String, at instant: Int64) -> [GooglePlayHolding] {
        precondition(instant <= now, "the store knows the truth only up to its own now")
        guard let account = account(of: customer) else { return [] }
        let subscriptions = account.subscriptions.flatMap { subscription in
            subscription.items.map { item in
                GooglePlayHolding(
                    product: item.plan.product,
                    token: subscription.token,
                    truth: item.truth(at: instant)
                )
            }
        }
        let purchases = account.purchases.map { purchase in
            GooglePlayHolding(
                product: purchase.product.id,
                token: purchase.token,
                truth: purchase.truth(at: instant)
            )
        }
        return (subscriptions + purchases).filter { $0.truth != .never }
    }
}
