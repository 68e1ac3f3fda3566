import TideoverSandbox

/// What customers do in a year, all of it drawn from a seed. The store decides what comes of it; some of
/// it, such as buying what runs already, it refuses.
struct CustomerYear {
    /// What a customer of any store can do.
    enum Deed {
        case subscribe
        case failPayments
        case fixPayments
        case cancel
        case reenable
        case refund
    }

    /// One deed: whose, and when, in milliseconds since 1970.
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
    /// In the order in which they happen.
    let entries: [Entry]

    init(customers: Int, seed: UInt64) {
        self.customers = customers
        var entries: [Entry] = []
        for customer in 0..<customers {
            // Each from a stream of its own, so that more customers leave the first ones as they were.
            var life = Life(customer, SeededRandom(seed: seed &+ UInt64(customer) &* 0x9E37_79B9))
            life.draw()
            entries += life.entries
        }
        let end = Self.begin + Self.days * Self.day
        self.entries = entries.filter { $0.at < end }
            .sorted { ($0.at, $0.customer) < ($1.at, $1.customer) }
    }
}

/// One customer's year: of three one has payments that fail, of four one cancels, of twenty one is refunded.
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
            // The store gives up after 60 days: some are too late, and buy again.
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
