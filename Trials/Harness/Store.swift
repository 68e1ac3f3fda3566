import TideoverSandbox

/// A simulated App Store where every customer does the same: buys, turns renewal off, and receives
/// a refund.
///
/// Each life is a separate store, derived from a seed and the life's number. So it can be generated
/// again, on any thread.
struct Store: Sendable {
    static let bundleId = "com.example.trials"
    /// A product of the configuration.
    static let listed = "trials.monthly"
    /// A product outside the configuration. The server counts its purchases, so duplicated work is
    /// visible.
    static let unlisted = "trials.unlisted"
    /// A consumable, which unlocks nothing.
    static let coins = "trials.coins"

    let seed: UInt64
    /// The end of every life, in milliseconds since 1970, and the time between two of its events.
    let end: Int64
    var spacing: Int64 = 3_600_000

    /// One customer and the store's messages about it, in order.
    struct Life: Sendable {
        let number: Int
        let customer: String
        let isListed: Bool
        let letters: [AppStoreNotification]
    }

    static let lettersOfALife = 3

    /// Returns a life. Every fourth customer buys the unlisted product.
    func life(_ number: Int) -> Life {
        life(number, isListed: number % 4 != 3)
    }

    private func life(_ number: Int, isListed: Bool) -> Life {
        var random = SeededRandom(seed: seed ^ UInt64(number) &* 0x9E37_79B9_7F4A_7C15)
        let customer = random.uuid()
        let begin = end - 3 * spacing
        var machine = AppStoreMachine(app: Self.app(in: .sandbox), seed: random.next(), now: begin)
        do {
            try machine.register(StoreCustomer(name: "c", appAccountToken: customer))
            let product = isListed ? Self.listed : Self.unlisted
            var letters = try machine.perform(
                .subscribe(product: product, trial: .declined),
                by: "c"
            )
            _ = machine.advance(to: begin + spacing)
            letters += try machine.perform(.cancel(product: nil), by: "c")
            _ = machine.advance(to: begin + 2 * spacing)
            letters += try machine.perform(.refund(product: nil, reason: .other), by: "c")
            precondition(letters.count == Self.lettersOfALife, "a life has three letters")
            return Life(number: number, customer: customer, isListed: isListed, letters: letters)
        } catch {
            preconditionFailure("a store lets its customer buy, cancel and be refunded: \(error)")
        }
    }

    static func app(in environment: AppStoreEnvironment) -> AppStoreApp {
        AppStoreApp(
            bundleId: bundleId,
            environment: environment,
            products: [product(listed, group: "main"), product(unlisted, group: "other")],
            oneTimeProducts: [
                AppStoreOneTimeProduct(id: coins, kind: .consumable, price: price)
            ]
        )
    }

    private static func product(_ id: String, group: String) -> AppStoreProduct {
        guard let month = StorePeriod(iso: "P1M") else {
            preconditionFailure("a month can be read")
        }
        return AppStoreProduct(id: id, group: group, period: month, price: price)
    }

    private static var price: StorePrice {
        guard let price = StorePrice("9.99 USD") else {
            preconditionFailure("a price can be read")
        }
        return price
    }

    /// Returns the purchase of a consumable by the customer of that token. Each number is a
    /// separate purchase.
    func purchase(_ number: Int, by token: String) -> AppStoreNotification {
        var random = SeededRandom(seed: seed ^ UInt64(number) &* 0x9E37_79B9_7F4A_7C15)
        var machine = AppStoreMachine(
            app: Self.app(in: .sandbox),
            seed: random.next(),
            now: end - spacing
        )
        do {
            try machine.register(StoreCustomer(name: "c", appAccountToken: token))
            let letters = try machine.perform(.buy(product: Self.coins, outsideApp: false), by: "c")
            precondition(letters.count == 1, "a purchase causes one notification")
            return letters[0]
        } catch {
            preconditionFailure("a store sells a consumable to its customer: \(error)")
        }
    }
}
