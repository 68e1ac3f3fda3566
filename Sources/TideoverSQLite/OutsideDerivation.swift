import TideoverCore
import TideoverStorage

/// The circumstances of a derivation.
struct Occasion: Hashable, Sendable {
    let now: Instant
    let reconciledAt: Instant?
    let leastVersion: Int64
    /// The prompts that the commit reports; they are not stored yet during an outside derivation.
    var prompts: [PromptExposure] = []
    /// What devices presented of their stores with the commit.
    var presented = PresentedStores()
}

/// A customer's stored data, without the facts.
struct CustomerOutline: Sendable {
    let key: CustomerKey
    let identity: CustomerIdentity
    let answer: CustomerRow?
    let leftOut: LeftOut?
    /// The keys of the lineages to derive from, in order.
    let lineages: [String]
}

/// The input of a customer's derivation in a commit.
struct DerivationInput: Sendable {
    let outline: CustomerOutline
    let occasion: Occasion
    /// The lineages that the commit changes, in their new state, by key.
    let newFacts: [String: LineageRecord]
    /// Whether settled lineages are included.
    let isWhole: Bool
}

/// A customer with a derivation that is not stored yet.
struct DerivedCustomer: Sendable {
    let input: DerivationInput
    let row: CustomerRow
    let derivation: Derivation
    /// The lineages to mark as settled.
    let marks: [SettledLineage]

    init(
        _ input: DerivationInput,
        _ lineages: CustomerLineages,
        _ derivation: Derivation,
        marks: [SettledLineage]? = nil
    ) {
        self.input = input
        row = lineages.row(for: derivation)
        self.derivation = derivation
        self.marks = marks ?? derivation.settled
    }
}

/// A customer has more lineages than the writer may process.
struct TooLarge: Error {
    let input: DerivationInput
}

/// Decides where a commit derives its customers.
struct DerivationPlan: Sendable {
    /// The maximum number of lineages of a customer derived inside the transaction.
    var mostInside: Int
    /// Whether customers that are too large are derived outside next.
    var isOutside = false
    /// The derivations made outside.
    var derived: [CustomerKey: DerivedCustomer] = [:]
    /// Customers with a derivation that needs settled lineages too.
    var whole: Set<CustomerKey> = []
}

/// The result of one attempt at a commit.
enum CommitAttempt: Sendable {
    case ended([CommitOutcome])
    /// Nothing was stored: these customers are too large.
    case postponed([DerivationInput])
}

/// Records whether anything of certain customers changed while they are derived outside the writer.
///
/// It is kept in memory: one process at a time has the file open, and every change goes through one
/// thread. A change that is rolled back counts too; it only costs another derivation.
struct DerivationWatch {
    private var unchanged: Set<CustomerKey> = []

    /// Starts watching customers, and continues to watch those of `derived` that have not changed.
    mutating func begin(
        _ customers: [CustomerKey],
        keeping derived: some Sequence<CustomerKey>
    ) {
        unchanged = unchanged.intersection(derived).union(customers)
    }

    func isUnchanged(_ customer: CustomerKey) -> Bool { unchanged.contains(customer) }

    mutating func changed(_ customers: some Sequence<CustomerKey>) {
        guard !unchanged.isEmpty else { return }
        unchanged.subtract(customers)
    }

    mutating func changedAll() { unchanged = [] }
}
