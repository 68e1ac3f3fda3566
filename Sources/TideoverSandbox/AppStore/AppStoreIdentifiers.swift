/// Draws every number that the store generates, in rising order as in the App Store, from one seed.
struct AppStoreIdentifiers: Codable, Sendable {
    private var random: SeededRandom
    private var transaction: Int64
    private var lineItem: Int64

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        transaction = random.number(in: 200_000_000_000_000...799_999_999_999_999)
        lineItem = random.number(in: 200_000_000_000_000...799_999_999_999_999)
    }

    mutating func term() -> AppStoreSubscription.TermIds {
        transaction += random.number(in: 1...9999)
        lineItem += random.number(in: 1...9999)
        return AppStoreSubscription.TermIds(
            transactionId: String(transaction),
            webOrderLineItemId: String(lineItem),
            orderId: "M" + String(lineItem, radix: 36, uppercase: true)
        )
    }

    /// Draws an `appTransactionId`.
    mutating func appTransaction() -> String {
        String(random.number(in: 700_000_000_000_000_000...799_999_999_999_999_999))
    }

    mutating func uuid() -> String { random.uuid() }

    /// Draws the time that the store needs for one signature, in milliseconds.
    mutating func signingTime() -> Int64 { random.number(in: 1...40) }
}
