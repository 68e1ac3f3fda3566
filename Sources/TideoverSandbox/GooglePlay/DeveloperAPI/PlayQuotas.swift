/// How often Google lets itself be asked.
/// https://developers.google.com/android-publisher/quotas
struct PlayQuotas: Sendable {
    /// Calls that count together.
    private enum Bucket: Hashable {
        case subscriptions, products, orders, voidedPurchases
    }

    /// So many calls within so many milliseconds, and what is answered to more.
    private struct Limit {
        let calls: Int64
        let window: Int64
        let error: PlayAPIError
    }

    private struct Window: Hashable {
        let bucket: Bucket
        let length: Int64
    }

    private struct Spent {
        /// Windows are counted from 1970.
        var window: Int64
        var calls: Int64
    }

    private var spent: [Window: Spent] = [:]

    /// Counts a call; what is answered instead where no more are allowed.
    mutating func spend(on operation: PlayOperation, at now: Int64) -> PlayAPIError? {
        guard let bucket = Self.bucket(of: operation) else { return nil }
        for limit in Self.limits(of: bucket) {
            let key = Window(bucket: bucket, length: limit.window)
            let window = floorDivide(now, limit.window)
            let calls = spent[key].map { $0.window == window ? $0.calls : 0 } ?? 0
            guard calls < limit.calls else { return limit.error }
            spent[key] = Spent(window: window, calls: calls + 1)
        }
        return nil
    }

    private static func bucket(of operation: PlayOperation) -> Bucket? {
        switch operation {
        case .getSubscription, .cancelSubscription, .deferSubscription, .revokeSubscription,
            .acknowledgeSubscription:
            .subscriptions
        case .getProduct, .acknowledgeProduct, .consumeProduct: .products
        case .getOrder, .batchGetOrders, .refundOrder: .orders
        case .listVoidedPurchases: .voidedPurchases
        case .pull, .acknowledgeMessages, .setDeadline, .token, .keySet, .certificates: nil
        }
    }

    private static func limits(of bucket: Bucket) -> [Limit] {
        switch bucket {
        case .subscriptions, .products, .orders:
            [Limit(calls: 3000, window: 60_000, error: .rateLimited)]
        case .voidedPurchases:
            [
                Limit(calls: 30, window: 30_000, error: .rateLimited),
                Limit(calls: 6000, window: 86_400_000, error: .quotaExceeded),
            ]
        }
    }
}
