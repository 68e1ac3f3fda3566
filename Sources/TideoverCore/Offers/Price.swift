/// The price of one period of a product.
public struct Price: Hashable, Sendable {
    public var amount: Money
    /// How often it is charged; nil for a single charge, or if the catalogue does not state it.
    public var period: Period?

    public init(amount: Money, period: Period? = nil) {
        self.amount = amount
        self.period = period
    }
}

extension Product {
    /// The price in the catalogue.
    var fullPrice: Price? {
        price.map { Price(amount: $0, period: kind == .autoRenewable ? period : nil) }
    }
}

/// The next charge of a lineage.
struct Renewal: Hashable, Sendable {
    /// The product that it renews into; otherwise the current one.
    var productId: String?
    /// The charge that the store states; nil if it states none.
    var statedPrice: Money?
    /// Whether an offer lowers that charge.
    var isDiscounted = false

    /// Returns the charge: from the store if stated, otherwise from the catalogue.
    func price(in catalogue: Catalogue) -> Price? {
        let product = productId.flatMap { catalogue[$0] }
        guard let statedPrice else { return product?.fullPrice }
        return Price(amount: statedPrice, period: product?.period)
    }

    /// Returns the price without any offer.
    func fullPrice(in catalogue: Catalogue) -> Price? {
        isDiscounted ? productId.flatMap { catalogue[$0] }?.fullPrice : price(in: catalogue)
    }
}

extension DecisionBasis {
    /// The next charge.
    var renewal: Renewal {
        switch self {
        case .term(let now):
            Renewal(
                productId: now.nextProduct,
                statedPrice: now.chargeOutlook?.value.renewalPrice,
                isDiscounted: now.chargeOutlook?.value.offer != nil
            )
        case .item(let now):
            Renewal(productId: now.nextProduct, statedPrice: now.statement?.renewalPrice)
        }
    }
}
