import TideoverCalendar

/// Google's limits on calls. https://developers.google.com/android-publisher/quotas
struct PlayQuotas: Codable, Sendable {
    /// Calls that count together.
    private enum Bucket: String, Codable {
        case subscriptions, products, orders, voidedPurchases, monetization
    }

    /// The number of calls in a window of milliseconds, and the error for further calls.
    private struct Limit {
        let calls: Int64
        let window: Int64
        let error: PlayAPIError
    }

    private struct Spent: Codable {
        let bucket: Bucket
        let length: Int64
        /// Windows are counted from 1970.
        var window: Int64
        var calls: Int64
    }

    /// One for each bucket and length, in the order of first use.
    private var spent: [Spent] = []

    /// Counts a call; returns the error if no more are allowed.
    mutating func spend(on operation: PlayOperation, at now: Int64) -> PlayAPIError? {
        guard let bucket = Self.bucket(of: operation) else { return nil }
        for limit in Self.limits(of: bucket) {
            let window = now.flooredQuotient(by: limit.window)
            let index = index(of: bucket, limit.window)
            if spent[index].window != window {
                (spent[index].window, spent[index].calls) = (window, 0)
            }
            guard spent[index].calls < limit.calls else { return limit.error }
            spent[index].calls += 1
        }
        return nil
    }

    private mutating func index(of bucket: Bucket, _ length: Int64) -> Int {
        if let index = spent.firstIndex(where: { $0.bucket == bucket && $0.length == length }) {
            return index
        }
        spent.append(Spent(bucket: bucket, length: length, window: .min, calls: 0))
        return spent.count - 1
    }

    private static func bucket(of operation: PlayOperation) -> Bucket? {
        switch operation {
        case .getSubscription, .cancelSubscription, .deferSubscription, .revokeSubscription,
            .acknowledgeSubscription:
            .subscriptions
        case .getProduct, .getProductV1, .acknowledgeProduct, .consumeProduct: .products
        case .getOrder, .batchGetOrders, .refundOrder: .orders
        case .listVoidedPurchases: .voidedPurchases
        case .listSubscriptions: .monetization
        case .pull, .acknowledgeMessages, .setDeadline, .token, .keySet, .certificates: nil
        }
    }

    private static func limits(of bucket: Bucket) -> [Limit] {
        switch bucket {
        case .subscriptions, .products, .orders, .monetization:
            [Limit(calls: 3000, window: 60_000, error: .rateLimited)]
        case .voidedPurchases:
            [
                Limit(calls: 30, window: 30_000, error: .rateLimited),
                Limit(calls: 6000, window: 86_400_000, error: .quotaExceeded),
            ]
        }
    }
}
