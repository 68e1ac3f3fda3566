import TideoverSandbox

/// The actions of customers in a year, derived from a seed. The store decides their results. It
/// rejects some, such as buying an active subscription again.
struct CustomerYear {
    /// The possible actions of a customer, for any store.
    enum Deed {
        case subscribe
        case failPayments
        case fixPayments
        case cancel
        case reenable
        case refund
    }

    /// One action with its customer and its time, in milliseconds since 1970.
    struct Entry {
        let at: Int64
        let customer: Int
        let deed: Deed
    }

    /// 1 January 2026.
    static let begin: Int64 = 1_767_225_600_000
    static let days: Int64 = 365
    static let day: Int64 = 86_400_000

    let customers: Int
    /// In chronological order.
    let entries: [Entry]

    init(customers: Int, seed: UInt64) {
        self.customers = customers
        var entries: [Entry] = []
        for customer in 0..<customers {
            // Each customer has a separate random stream, so that adding customers does not change
            // the first ones.
            var life = Life(customer, SeededRandom(seed: seed &+ UInt64(customer) &* 0x9E37_79B9))
            life.draw()
            entries += life.entries
        }
        let end = Self.begin + Self.days * Self.day
        self.entries = entries.filter { $0.at < end }
            .sorted { ($0.at, $0.customer) < ($1.at, $1.customer) }
    }
}

/// One customer's year: one in three has failed payments, one in four cancels, one in twenty is
/// refunded.
private struct Life {
    private let customer: Int
    private var random: SeededRandom
    private(set) var entries: [CustomerYear.Entry] = []

    init(_ customer: Int, _ random: SeededRandom) {
        self.customer = customer
        self.random = random
    }

    mutating func draw() {
        let bought = add(.subscribe, CustomerYear.begin, afterDays: 0...27)
        if isOne(of: 3) {
            let failed = add(.failPayments, bought, afterDays: 10...300)
            // The store gives up after 60 days: some payments are too late, and those customers buy
            // again.
            let fixed = add(.fixPayments, failed, afterDays: 5...100)
            add(.subscribe, fixed, afterDays: 0...1)
        }
        if isOne(of: 4) {
            let cancelled = add(.cancel, bought, afterDays: 2...300)
            if isOne(of: 2) {
                add(.reenable, cancelled, afterDays: 0...20)
            } else {
                add(.subscribe, cancelled, afterDays: 20...120)
            }
        }
        if isOne(of: 20) {
            let refunded = add(.refund, bought, afterDays: 10...300)
            add(.subscribe, refunded, afterDays: 1...60)
        }
    }

    private mutating func isOne(of count: Int64) -> Bool { random.number(in: 1...count) == 1 }

    @discardableResult
    private mutating func add(
        _ deed: CustomerYear.Deed,
        _ instant: Int64,
        afterDays days: ClosedRange<Int64>
    ) -> Int64 {
        let seconds = random.number(
            in: days.lowerBound * 86_400 + 1...(days.upperBound + 1) * 86_400
        )
        let at = instant + seconds * 1000
        entries.append(CustomerYear.Entry(at: at, customer: customer, deed: deed))
        return at
    }
}
