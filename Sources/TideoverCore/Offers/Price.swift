/// What a period of a product costs.
public struct Price: Hashable, Sendable {
    public var amount: Money
    /// How often it is charged; nil for once, or where the catalogue does not say.
    public var period: Period?

    public init(amount: Money, period: Period? = nil) {
        self.amount = amount
        self.period = period
    }
}

extension Product {
    /// What the catalogue says it costs.
    var fullPrice: Price? {
        price.map { Price(amount: $0, period: kind == .autoRenewable ? period : nil) }
    }
}

/// What a lineage's next charge would be for.
struct Renewal: Hashable, Sendable {
    /// The product it renews into, else the one it is for.
    var productId: String?
    /// What the store says the charge will be; nil where it has not said.
    var statedPrice: Money?
    /// Whether an offer lowers that charge.
    var isDiscounted = false

    /// What the charge will be: the store's word, else the catalogue's.
    func price(in catalogue: Catalogue) -> Price? {
        let product = productId.flatMap { catalogue[$0] }
        guard let statedPrice else { return product?.fullPrice }
        return Price(amount: statedPrice, period: product?.period)
    }

    /// What it costs without any offer.
    func fullPrice(in catalogue: Catalogue) -> Price? {
        isDiscounted ? productId.flatMap { catalogue[$0] }?.fullPrice : price(in: catalogue)
    }
}

extension Ground {
    /// What the next charge would be for.
    var renewal: Renewal {
        switch self {
        case .term(let now):
            Renewal(
                productId: now.nextProduct,
                statedPrice: now.outlook?.value.renewalPrice,
                isDiscounted: now.outlook?.value.offer != nil
            )
        case .item(let now):
            Renewal(productId: now.nextProduct, statedPrice: now.nextPrice)
        }
    }
}

extension PlaySituation {
    /// What the store says a renewal costs, which is the price of what runs now.
    fileprivate var nextPrice: Money? {
        nextProduct == statement?.productId ? statement?.item?.price : nil
    }
}
