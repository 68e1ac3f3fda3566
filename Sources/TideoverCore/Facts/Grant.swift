/// An operator's gift of an entitlement: a term of its own lineage, without a product. Said again with
/// another end it is extended or cut short; a revocation of its key takes it back.
public struct Grant: Hashable, Sendable {
    /// The lineage's id too.
    public var id: String
    public var customer: CustomerID
    public var entitlement: String
    public var start: Instant
    /// Nil for what has no end.
    public var end: Instant?
    /// In the operator's words.
    public var why: String
    /// Who gave it, as far as the server knows: the name of a key. Nil where nobody said.
    public var by: String?

    public init(
        id: String,
        customer: CustomerID,
        entitlement: String,
        start: Instant,
        end: Instant?,
        why: String,
        by: String? = nil
    ) {
        self.id = id
        self.customer = customer
        self.entitlement = entitlement
        self.start = start
        self.end = end
        self.why = why
        self.by = by
    }

    /// What names its term.
    public var key: TermKey { term.key }

    /// A grant as a term without a product.
    var term: Term {
        Term(
            transactionId: id,
            productId: "",
            plan: end == nil ? .nonConsumable : .nonRenewing,
            start: start,
            end: end,
            origin: .purchase,
            accountToken: customer
        )
    }
}

/// A purchase that waits for somebody's approval or for a payment outside the app, such as Ask to
/// Buy. It is listed beside an answer and grants nothing.
public struct PendingPurchase: Hashable, Sendable {
    /// What tells this purchase from others of its lineage.
    public var id: String
    public var productId: String
    /// Whether it was approved, declined or called off.
    public var isOver: Bool
    /// When it lapses by itself, where known.
    public var until: Instant?

    public init(id: String, productId: String, isOver: Bool = false, until: Instant? = nil) {
        self.id = id
        self.productId = productId
        self.isOver = isOver
        self.until = until
    }
}
