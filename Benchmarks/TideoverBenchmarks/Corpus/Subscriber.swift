import TideoverSandbox

/// A customer with one active monthly subscription, derived from the number.
struct Subscriber: Sendable {
    /// The id by which the app requests the customer.
    let token: String
    private let started: Int64
    private let seed: UInt64

    private static let day: Int64 = 86_400_000
    private static let name = "subscriber"

    /// Creates the customer of a number. The subscription began at least `months` complete months
    /// before `now`, in milliseconds since 1970.
    init(_ number: Int, months: Int, now: Int64) {
        var random = SeededRandom(seed: UInt64(number))
        token = random.uuid()
        // The last term then ends between 1 and 27 days from now: no answer changes while
        // measuring.
        let since = random.number(in: Self.day...27 * Self.day)
        started = now - since - Int64(months) * 30 * Self.day
        seed = random.next()
    }

    /// Returns the store's messages about the subscription until `now`: the purchase and the
    /// renewals.
    func notifications(until now: Int64) throws -> [AppStoreNotification] {
        var store = AppStoreMachine(app: Store.app, seed: seed, now: started)
        try store.register(StoreCustomer(name: Self.name, appAccountToken: token))
        let purchase = AppStoreAction.subscribe(product: Store.product, trial: .declined)
        return try store.perform(purchase, by: Self.name) + store.advance(to: now)
    }
}
