import TideoverSandbox

/// A customer with one monthly subscription that is still running; everything about him or her
/// follows from the number.
struct Subscriber: Sendable {
    /// The id by which the app asks for the customer.
    let token: String
    private let started: Int64
    private let seed: UInt64

    private static let day: Int64 = 86_400_000
    private static let name = "subscriber"

    /// The customer of a number, whose subscription began at least so many whole months before `now`,
    /// in milliseconds since 1970.
    init(_ number: Int, months: Int, now: Int64) {
        var random = SeededRandom(seed: UInt64(number))
        token = random.uuid()
        // The last term then ends between 1 and 27 days from now: no answer changes while measuring.
        let since = random.number(in: Self.day...27 * Self.day)
        started = now - since - Int64(months) * 30 * Self.day
        seed = random.next()
    }

    /// What the store has said of the subscription until `now`: the purchase, and the renewals.
    func notifications(until now: Int64) throws -> [AppStoreNotification] {
        var store = AppStoreMachine(app: Store.app, seed: seed, now: started)
        try store.register(StoreCustomer(name: Self.name, appAccountToken: token))
        let purchase = AppStoreAction.subscribe(product: Store.product, trial: .declined)
        return try store.perform(purchase, by: Self.name) + store.advance(to: now)
    }
}
