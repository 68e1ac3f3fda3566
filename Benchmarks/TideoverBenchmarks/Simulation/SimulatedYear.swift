import Glibc
import TideoverSignatures

/// A year of customers in a simulated store, with its cost.
struct SimulatedYear {
    let store: String
    let customers: Int
    /// The number of paid months.
    private(set) var months = 0
    private(set) var messages = 0
    /// The number of actions that the store rejected.
    private(set) var refusals = 0
    /// The processor time of the thread for the store alone, in nanoseconds.
    private(set) var nanoseconds: Int64 = 0
    /// The digest of all messages in order.
    private(set) var digest: [UInt8] = []

    /// Simulates the year. Messages are digested once a day, while the measured time is paused.
    static func run<Store: MeasuredStore>(
        with type: Store.Type,
        _ plan: CustomerYear,
        seed: UInt64
    ) throws -> SimulatedYear {
        var year = SimulatedYear(store: Store.name, customers: plan.customers)
        var store = Store(seed: seed, now: CustomerYear.begin)
        try year.measure { _ in
            for customer in 0..<plan.customers { try store.register(customer) }
        }
        var rest = plan.entries[...]
        for day in 1...CustomerYear.days {
            let evening = CustomerYear.begin + day * CustomerYear.day
            let today = rest.prefix { $0.at < evening }
            rest = rest.dropFirst(today.count)
            var said: [Store.Message] = []
            year.measure { year in
                for entry in today {
                    said += store.advance(to: entry.at)
                    if let answer = store.perform(entry.deed, by: entry.customer) {
                        said += answer
                    } else {
                        year.refusals += 1
                    }
                }
                said += store.advance(to: evening)
            }
            year.note(said, of: type)
        }
        return year
    }

    private mutating func measure(_ body: (inout SimulatedYear) throws -> Void) rethrows {
        let began = Clocks.now(CLOCK_THREAD_CPUTIME_ID)
        try body(&self)
        nanoseconds += Clocks.now(CLOCK_THREAD_CPUTIME_ID) - began
    }

    private mutating func note<Store: MeasuredStore>(_ said: [Store.Message], of: Store.Type) {
        messages += said.count
        months += said.count(where: Store.beginsMonth)
        for message in said { digest = SHA256.hash(digest + Store.bytes(of: message)) }
    }

    var monthsPerSecond: Double { Double(months) * 1_000_000_000 / Double(nanoseconds) }
    var microsecondsPerMonth: Double { Double(nanoseconds) / 1_000 / Double(months) }
}
