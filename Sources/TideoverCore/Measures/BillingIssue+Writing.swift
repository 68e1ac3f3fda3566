extension BillingIssue {
    /// Creates an issue from given values: imported from another system, or invented for a
    /// simulation.
    public init(
        id: String,
        lineage: Lineage,
        productId: String? = nil,
        storefront: String? = nil,
        isTrial: Bool = false,
        enteredAt: Instant,
        learnedAt: Instant? = nil,
        moneyAtRisk: Money? = nil,
        graceFrom: Instant? = nil,
        holdFrom: Instant? = nil,
        outcome: Outcome
    ) {
        self.id = id
        anchor = id
        self.lineage = lineage
        self.productId = productId
        self.storefront = storefront
        self.isTrial = isTrial
        self.enteredAt = enteredAt
        self.learnedAt = learnedAt ?? enteredAt
        self.moneyAtRisk = moneyAtRisk
        self.graceFrom = graceFrom
        self.holdFrom = holdFrom
        self.outcome = outcome
    }
}

extension BillingIssue.Recovery {
    /// Creates a recovery from given values.
    public init(
        from: State,
        at instant: Instant,
        learnedAt: Instant? = nil,
        productId: String? = nil,
        money: Money? = nil
    ) {
        self.from = from
        at = instant
        self.learnedAt = learnedAt ?? instant
        self.productId = productId
        self.money = money
    }
}
