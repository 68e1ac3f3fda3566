public import TideoverJSON

/// A simulated Google Play: customers, what they buy and the passing of time, as one value. It reads no
/// clock and draws every number from its seed, so that the same calls give the same notifications and
/// the same resources.
public struct GooglePlayMachine: Sendable {
    /// The app on sale.
    public let app: GooglePlayApp
    /// The store's clock, in milliseconds since 1970.
    public private(set) var now: Int64

    /// A store without customers, whose clock shows `now` (milliseconds since 1970).
    public init(app: GooglePlayApp, seed: UInt64, now: Int64) {
        self.app = app
        self.now = now
    }

    /// Makes a customer known; refused with `customerExists` when the name is taken.
    public mutating func register(_ customer: GooglePlayCustomer) throws(GooglePlayRefusal) {
    }

    /// When the store will next do something by itself.
    public var nextEvent: Int64? { nil }

    /// Lets time pass, and does on the way whatever falls due up to and including the instant.
    public mutating func advance(to instant: Int64) -> [GooglePlayNotification] { [] }

    /// Carries out an action now, and returns what the store notifies of at once.
    public mutating func perform(
        _ action: GooglePlayAction,
        by customer: String
    ) throws(GooglePlayRefusal) -> [GooglePlayNotification] {
        throw GooglePlayRefusal(.unknownCustomer, customer)
    }

    /// Carries out what the developer asks for, and returns what the store notifies of at once.
    public mutating func write(
        _ write: GooglePlayWrite
    ) throws(GooglePlayRefusal) -> [GooglePlayNotification] {
        throw GooglePlayRefusal(.unknownToken, "")
    }

    /// The notification that the Play Console sends on request.
    public func requestTestNotification() -> GooglePlayNotification {
        GooglePlayNotification(packageName: app.packageName, at: now, event: .tested, customer: nil)
    }

    // MARK: What can be read

    /// `purchases.subscriptionsv2`; nil for a token of no subscription.
    public func subscription(token: String) -> JSONObject? { nil }

    /// `purchases.productsv2`; nil for a token of no one-time purchase.
    public func product(token: String) -> JSONObject? { nil }

    /// `orders`; nil for an order that does not exist.
    public func order(_ id: String) -> JSONObject? { nil }

    /// The orders whose voiding was recorded from `since` up to but not including `until`, oldest first.
    public func voided(since: Int64, until: Int64) -> [GooglePlayVoidedPurchase] { [] }

    /// Whether the API still answers for a token.
    public func state(ofToken token: String) -> GooglePlayTokenState { .unknown }

    /// The tokens of a customer's purchases, oldest first.
    public func tokens(of customer: String) -> [String] { [] }

    /// What the store held to be so at an instant up to `now`; of several purchases the best one.
    public func truth(of customer: String, at instant: Int64) -> GooglePlayTruth { .never }

    /// What the store held to be so of each product of each purchase, in the order bought.
    public func holdings(of customer: String, at instant: Int64) -> [GooglePlayHolding] { [] }
}
