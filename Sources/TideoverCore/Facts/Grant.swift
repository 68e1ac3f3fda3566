/// An operator's grant of an entitlement: a term of its own lineage, without a product. A repeated
/// grant with another end extends or shortens it. A revocation of its key withdraws it.
public struct Grant: Hashable, Sendable {
    /// Also the lineage's ID.
    public var id: String
    public var customer: CustomerID
    public var entitlement: String
    public var start: Instant
    /// Nil if it has no end.
    public var end: Instant?
    /// The operator's reason.
    public var why: String
    /// The key name of the operator who granted it; nil if unknown.
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

    /// The key of its term.
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

/// A purchase that awaits approval or a payment outside the app, such as Ask to Buy. It is listed
/// beside an answer and grants nothing.
public struct PendingPurchase: Hashable, Sendable {
    /// An ID that distinguishes this purchase from others of its lineage.
    public var id: String
    public var productId: String
    /// Whether it was approved, declined or cancelled.
    public var isOver: Bool
    /// When it lapses by itself, if known.
    public var until: Instant?

    public init(id: String, productId: String, isOver: Bool = false, until: Instant? = nil) {
        self.id = id
        self.productId = productId
        self.isOver = isOver
        self.until = until
    }
}
