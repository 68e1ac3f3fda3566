import TideoverHTTP

/// The requests of a back end to Google: to the Play Developer API, to Pub/Sub, and to the
/// endpoints for tokens and keys. https://developers.google.com/android-publisher/api-ref/rest
public enum PlayOperation: String, CaseIterable, Hashable, Codable, Sendable {
    case getSubscription
    case cancelSubscription
    case deferSubscription
    case revokeSubscription
    case acknowledgeSubscription
    case getProduct
    /// The first version, `purchases.products.get`.
    case getProductV1
    case acknowledgeProduct
    case consumeProduct
    case listVoidedPurchases
    case listSubscriptions
    case getOrder
    case batchGetOrders
    case refundOrder
    case pull
    case acknowledgeMessages
    case setDeadline
    case token
    case keySet
    case certificates

    /// The method, the path with `*` in place of each id, and the verb after its last part.
    var route: (method: String, path: String, verb: String?) {
        let app = "androidpublisher/v3/applications/*"
        let subscription = "\(app)/purchases/subscriptionsv2/tokens/*"
        let product = "\(app)/purchases/products/*/tokens/*"
        let queue = "v1/projects/*/subscriptions/*"
        return switch self {
        case .getSubscription: ("GET", subscription, nil)
        case .cancelSubscription: ("POST", subscription, "cancel")
        case .deferSubscription: ("POST", subscription, "defer")
        case .revokeSubscription: ("POST", subscription, "revoke")
        case .acknowledgeSubscription:
            ("POST", "\(app)/purchases/subscriptions/*/tokens/*", "acknowledge")
        case .getProduct: ("GET", "\(app)/purchases/productsv2/tokens/*", nil)
        case .getProductV1: ("GET", product, nil)
        case .acknowledgeProduct: ("POST", product, "acknowledge")
        case .consumeProduct: ("POST", product, "consume")
        case .listVoidedPurchases: ("GET", "\(app)/purchases/voidedpurchases", nil)
        case .listSubscriptions: ("GET", "\(app)/subscriptions", nil)
        case .getOrder: ("GET", "\(app)/orders/*", nil)
        case .batchGetOrders: ("GET", "\(app)/orders", "batchGet")
        case .refundOrder: ("POST", "\(app)/orders/*", "refund")
        case .pull: ("POST", queue, "pull")
        case .acknowledgeMessages: ("POST", queue, "acknowledge")
        case .setDeadline: ("POST", queue, "modifyAckDeadline")
        case .token: ("POST", "token", nil)
        case .keySet: ("GET", "oauth2/v3/certs", nil)
        case .certificates: ("GET", "oauth2/v1/certs", nil)
        }
    }

    /// The scopes that permit the operation: a token needs one. Empty if no token is required.
    var scopes: Set<PlayScope> {
        switch self {
        case .pull, .acknowledgeMessages, .setDeadline: [.pubSub, .cloudPlatform]
        case .token, .keySet, .certificates: []
        default: [.androidPublisher]
        }
    }

    /// Whether it is a Pub/Sub operation.
    var isOfQueue: Bool {
        switch self {
        case .pull, .acknowledgeMessages, .setDeadline: true
        default: false
        }
    }
}

/// A recognised request.
struct PlayCall {
    let operation: PlayOperation
    /// The variable parts of the path, in order.
    let ids: [String]
    let request: Request

    /// Returns nil for a path or a method that Google does not have.
    init?(_ request: Request) {
        guard let segments = request.segments, let last = segments.last else { return nil }
        for operation in PlayOperation.allCases where operation.route.method == request.method {
            var segments = segments
            if let verb = operation.route.verb {
                guard last.hasSuffix(":\(verb)") else { continue }
                segments[segments.count - 1] = String(last.dropLast(verb.count + 1))
            }
            guard let ids = segments.ids(matching: operation.route.path) else { continue }
            self.operation = operation
            self.ids = ids
            self.request = request
            return
        }
        return nil
    }

    /// The purchase token, the order or another subject of the call; empty if there is none.
    var subject: String { ids.count > 1 ? ids[ids.count - 1] : "" }
}

/// The record of one call to Google.
public struct PlayCallRecord: Hashable, Codable, Sendable {
    /// The instant, in milliseconds since 1970.
    public let at: Int64
    /// The operation.
    public let operation: PlayOperation
    /// The purchase token or the order in the path, empty if there is none.
    public let id: String
    /// The response's status; 0 if there was none.
    public let status: Int
}
