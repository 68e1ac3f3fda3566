import TideoverCore
import TideoverJSON

/// The stored state of a purchase in the naive back end.
struct Purchase {
    /// When each product ends, in milliseconds since 1970; `Int64.max` if it never does.
    var ends: [String: Int64]
    /// `gracePeriodExpiresDate` of the App Store.
    var graceUntil: Int64?
    /// Whether the store revoked it.
    var isOver = false
    /// `subscriptionState` of Google Play.
    var state: String?
    /// The purchase token that this one replaces.
    var replaces: String?
    /// When it was signed or read.
    let asOf: Int64

    func gives(_ product: String, by check: NaiveBackEnd.Check, at now: Int64) -> Bool {
        guard !isOver, let end = ends[product] else { return false }
        switch check {
        case .expiry: return end > now
        case .grace:
            return max(end, graceUntil ?? 0) > now && (state.map(Self.open.contains) ?? true)
        }
    }

    /// States of Google Play with access until the expiry.
    private static let open: Set<String> = [
        "SUBSCRIPTION_STATE_ACTIVE", "SUBSCRIPTION_STATE_IN_GRACE_PERIOD",
        "SUBSCRIPTION_STATE_CANCELED",
    ]

    /// Reads a subscription from an answer of `purchases.subscriptionsv2.get`.
    static func subscription(_ answer: JSONValue, _ now: Int64) -> Purchase {
        var purchase = Purchase(ends: [:], asOf: now)
        for item in answer["lineItems"]?.array ?? [] {
            guard let product = item["productId"]?.string,
                let expiry = item["expiryTime"]?.string.flatMap({ Instant(rfc3339: $0) })
            else { continue }
            purchase.ends[product] = expiry.millisecondsSince1970
        }
        purchase.state = answer["subscriptionState"]?.string
        purchase.replaces = answer["linkedPurchaseToken"]?.string
        return purchase
    }

    /// Reads a one-time purchase from an answer of `purchases.productsv2.getproductpurchasev2`.
    static func oneTime(_ answer: JSONValue, _ now: Int64) -> Purchase {
        let products = (answer["productLineItem"]?.array ?? []).compactMap {
            $0["productId"]?.string
        }
        var purchase = Purchase(
            ends: Dictionary(products.map { ($0, Int64.max) }) { first, _ in first },
            asOf: now
        )
        purchase.isOver = answer["purchaseStateContext"]?["purchaseState"]?.string != "PURCHASED"
        return purchase
    }
}
