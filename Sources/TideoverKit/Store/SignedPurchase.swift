public import TideoverCore

/// One transaction as signed by the store, with the device's own checks.
public struct SignedPurchase: Hashable, Sendable {
    /// The store's id of the transaction.
    public var transactionId: UInt64
    public var productId: String
    /// Whether StoreKit verified the signature on this device.
    public var isVerified: Bool
    /// Whether it is used up when it is delivered: StoreKit keeps no history of it.
    public var isConsumable: Bool
    /// The signed transaction in compact serialization.
    public var jws: String

    public init(
        transactionId: UInt64,
        productId: String,
        isVerified: Bool,
        isConsumable: Bool = false,
        jws: String
    ) {
        self.transactionId = transactionId
        self.productId = productId
        self.isVerified = isVerified
        self.isConsumable = isConsumable
        self.jws = jws
    }
}

/// The status of one subscription as StoreKit reports it.
public struct SignedStatus: Hashable, Sendable {
    public var transaction: SignedPurchase
    /// The signed renewal info; nil if StoreKit could not verify it.
    public var renewalInfo: String?
    public var state: State

    public init(transaction: SignedPurchase, renewalInfo: String?, state: State) {
        self.transaction = transaction
        self.renewalInfo = renewalInfo
        self.state = state
    }

    /// The states of a subscription, numbered as in the App Store Server API. Any other number is
    /// an unknown state; it changes nothing.
    public struct State: RawRepresentable, Hashable, Sendable {
        public let rawValue: Int64

        public init(rawValue: Int64) { self.rawValue = rawValue }

        public static let subscribed = State(rawValue: 1)
        public static let expired = State(rawValue: 2)
        public static let inBillingRetry = State(rawValue: 3)
        public static let inGracePeriod = State(rawValue: 4)
        public static let revoked = State(rawValue: 5)
    }
}

/// The complete content of the store at one instant.
public struct StoreReading: Hashable, Sendable {
    /// The statuses of every subscription group.
    public var statuses: [SignedStatus]
    /// Purchases outside subscription groups, refunded ones included.
    public var purchases: [SignedPurchase]
    /// Transactions that were never finished.
    public var unfinished: [SignedPurchase]
    /// The environment of the app itself; nil if the store cannot name it. It counts while no
    /// transaction names one.
    public var environment: TideoverCore.Environment?

    public init(
        statuses: [SignedStatus] = [],
        purchases: [SignedPurchase] = [],
        unfinished: [SignedPurchase] = [],
        environment: TideoverCore.Environment? = nil
    ) {
        self.statuses = statuses
        self.purchases = purchases
        self.unfinished = unfinished
        self.environment = environment
    }

    public var isEmpty: Bool { statuses.isEmpty && purchases.isEmpty && unfinished.isEmpty }

    /// All transactions, verified or not.
    var transactions: [SignedPurchase] { unfinished + statuses.map(\.transaction) + purchases }
}
