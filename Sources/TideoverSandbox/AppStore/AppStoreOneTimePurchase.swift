import TideoverJSON

/// A product on sale that does not renew by itself.
public struct AppStoreOneTimeProduct: Hashable, Codable, Sendable {
    /// The product id, such as `cards.lifetime`.
    public let id: String
    /// Its kind, which determines whether and how long it can be used.
    public let kind: Kind
    /// Its price.
    public let price: StorePrice
    /// The length of access that the app gives for a non-renewing subscription. The store does not
    /// define it.
    public let length: StorePeriod?
    /// Whether the product can be shared with the purchaser's family.
    public let isFamilyShareable: Bool

    /// Creates a product, by default for the purchaser alone.
    public init(
        id: String,
        kind: Kind,
        price: StorePrice,
        length: StorePeriod? = nil,
        isFamilyShareable: Bool = false
    ) {
        self.id = id
        self.kind = kind
        self.price = price
        self.length = length
        self.isFamilyShareable = isFamilyShareable
    }

    /// The kinds of products other than auto-renewable subscriptions.
    public enum Kind: String, CaseIterable, Hashable, Codable, Sendable {
        case consumable
        case nonConsumable
        case nonRenewing

        /// Apple's `type` of a transaction.
        var type: String {
            switch self {
            case .consumable: "Consumable"
            case .nonConsumable: "Non-Consumable"
            case .nonRenewing: "Non-Renewing Subscription"
            }
        }

        /// Apple's `productType` in the query of a transaction history.
        var filter: String {
            switch self {
            case .consumable: "CONSUMABLE"
            case .nonConsumable: "NON_CONSUMABLE"
            case .nonRenewing: "NON_RENEWABLE"
            }
        }
    }
}

/// One purchase of such a product, or a family member's share of one.
struct AppStoreOneTimePurchase: Hashable, Codable, Sendable {
    let ids: AppStoreSubscription.TermIds
    let product: AppStoreOneTimeProduct
    let at: Int64
    let price: StorePrice
    var appAccountToken: String?
    /// The transaction of the shared purchase; nil for a purchase.
    let sharedFrom: String?
    /// When the store created or last changed this transaction.
    private(set) var modifiedAt: Int64
    private(set) var revocation: AppStoreSubscription.Revocation?
    /// Whether a refund was requested and not yet decided.
    private(set) var refundIsRequested = false
    /// When the purchaser stopped this share; nil for a purchase, or if its refund ended the share.
    private(set) var unsharedAt: Int64?
    private var history: [AppStoreSubscription.Span] = []

    init(
        _ product: AppStoreOneTimeProduct,
        _ ids: AppStoreSubscription.TermIds,
        at instant: Int64,
        appAccountToken: String?,
        sharedFrom: String? = nil
    ) {
        self.ids = ids
        self.product = product
        self.appAccountToken = appAccountToken
        self.sharedFrom = sharedFrom
        at = instant
        modifiedAt = instant
        let nothing = StorePrice(milliunits: 0, currency: product.price.currency)
        price = sharedFrom == nil ? product.price : nothing
        record(at: instant)
    }

    var ownershipType: String { sharedFrom == nil ? "PURCHASED" : "FAMILY_SHARED" }
    var isRevoked: Bool { revocation != nil }

    func truth(at instant: Int64) -> AppStoreExpectedState {
        let truth = history.last { $0.from <= instant }?.truth ?? .never
        if case .active(let until) = truth, until <= instant { return .expired }
        return truth
    }

    private mutating func record(at instant: Int64) {
        let truth: AppStoreExpectedState =
            switch product.kind {
            case _ where isRevoked: .revoked
            case .consumable: .never
            case .nonConsumable: .owned
            case .nonRenewing:
                product.length.map { .active(until: $0.end(of: 1, from: at)) } ?? .never
            }
        history.append(AppStoreSubscription.Span(from: instant, truth: truth))
    }

    mutating func requestRefund(_ reason: AppStoreAction.RefundRequestReason) -> AppStoreEvent {
        refundIsRequested = true
        return .refundRequested(reason)
    }

    mutating func declineRefund() -> AppStoreEvent {
        refundIsRequested = false
        return .refundDeclined
    }

    mutating func refund(
        _ reason: AppStoreAction.RefundReason,
        percent: Int64,
        at instant: Int64
    ) -> AppStoreEvent {
        refundIsRequested = false
        revoke(.init(refundAt: instant, reason: reason, percent: percent))
        return .refunded(reason: reason)
    }

    mutating func reverseRefund(at instant: Int64) -> AppStoreEvent {
        revocation = nil
        modifiedAt = instant
        record(at: instant)
        return .refundReversed(until: nil)
    }

    /// Ends a share for good, because the purchaser stopped sharing.
    mutating func unshare(at instant: Int64) -> AppStoreEvent {
        unsharedAt = instant
        return losePurchase(at: instant)
    }

    /// Ends a share, because the purchaser got a refund.
    mutating func losePurchase(at instant: Int64) -> AppStoreEvent {
        revoke(AppStoreSubscription.Revocation(at: instant, reason: .other, isOfShare: true))
        return .shareRevoked
    }

    private mutating func revoke(_ revocation: AppStoreSubscription.Revocation) {
        self.revocation = revocation
        modifiedAt = revocation.at
        record(at: revocation.at)
    }
}

extension AppStoreWire {
    /// https://developer.apple.com/documentation/appstoreserverapi/jwstransactiondecodedpayload
    static func transaction(
        _ app: AppStoreApp,
        _ account: AppStoreMachine.Account,
        _ purchase: AppStoreOneTimePurchase,
        signedDate: Int64
    ) -> JSONObject {
        var json: JSONObject = [
            "transactionId": .string(purchase.ids.transactionId),
            "originalTransactionId": .string(purchase.ids.transactionId),
            "bundleId": .string(app.bundleId),
            "productId": .string(purchase.product.id),
            "purchaseDate": .integer(purchase.at),
            "originalPurchaseDate": .integer(purchase.at),
            "quantity": 1,
            "type": .string(purchase.product.kind.type),
            "inAppOwnershipType": .string(purchase.ownershipType),
            "signedDate": .integer(signedDate),
            "environment": .string(app.environment.rawValue),
            "transactionReason": "PURCHASE",
            "storefront": .string(account.customer.storefront.country),
            "storefrontId": .string(account.customer.storefront.id),
            "price": .integer(purchase.price.milliunits),
            "currency": .string(purchase.price.currency),
            "appTransactionId": .string(account.appTransactionId),
        ]
        json["appAccountToken"] = purchase.appAccountToken.map(JSONValue.string)
        add(purchase.revocation, to: &json)
        return json
    }
}
