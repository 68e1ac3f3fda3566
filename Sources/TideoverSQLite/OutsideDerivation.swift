import TideoverCore
import TideoverStorage

/// What a customer is derived again on.
struct Occasion: Hashable, Sendable {
    let now: Instant
    let reconciledAt: Instant?
    let leastVersion: Int64
    /// The prompts that the commit reports; they are not stored yet where it is derived outside.
    var prompts: [PromptExposure] = []
    /// The stores whose devices presented everything with the commit.
    var presented: [Store: Instant] = [:]
}

/// What is stored of a customer, without the facts.
struct CustomerOutline: Sendable {
    let key: CustomerKey
    let identity: CustomerIdentity
    let answer: CustomerRow?
    let leftOut: LeftOut?
    /// The keys of the lineages to derive from, in order.
    let lineages: [String]
}

/// What a commit derives a customer from.
struct DerivationInput: Sendable {
    let outline: CustomerOutline
    let occasion: Occasion
    /// The lineages that the commit changes, as it leaves them, by key.
    let news: [String: Holding]
    /// Whether settled lineages are among them.
    let isWhole: Bool
}

/// A customer whose derivation is not stored yet.
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

/// A customer has more lineages than the writer may be held for.
struct TooLarge: Error {
    let input: DerivationInput
}

/// Where a commit derives its customers.
struct DerivationPlan: Sendable {
    /// A customer with more lineages to derive from is not derived in the transaction.
    var mostInside: Int
    /// Whether the customers that are too large are derived outside next.
    var isOutside = false
    /// What was derived outside.
    var derived: [CustomerKey: DerivedCustomer] = [:]
    /// Customers of whom the derivation needs settled lineages too.
    var whole: Set<CustomerKey> = []
}

/// How one attempt at a commit ended.
enum CommitAttempt: Sendable {
    case ended([CommitOutcome])
    /// Nothing was stored: these customers are too large.
    case postponed([DerivationInput])
}

/// Records whether anything of certain customers changed while they are derived outside the writer.
///
/// It is kept in memory: one process at a time has the file open, and every change goes through one
/// thread. A change that is undone afterwards counts too; that costs another derivation, no more.
struct DerivationWatch {
    private var unchanged: Set<CustomerKey> = []

    /// Watches customers, and goes on watching those of `derived` that have not changed.
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
