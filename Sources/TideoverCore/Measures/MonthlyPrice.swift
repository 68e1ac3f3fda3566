/// The price of a subscription and the period that it pays for.
struct MonthlyPrice: Hashable, Sendable {
    let price: Money
    let length: Length

    /// The length of a period, in 4,380ths of a year: a month has 365, a day 12. So a year has 12
    /// months or 365 days, and both are whole numbers.
    struct Length: Hashable, Sendable {
        let parts: Int64

        /// Nil for a period without a length.
        init?(_ period: Period) {
            let months = period.years.multipliedSaturated(by: 12).addingSaturated(period.months)
            let days = period.weeks.multipliedSaturated(by: 7).addingSaturated(period.days)
            self.init(
                parts: months.multipliedSaturated(by: Self.month)
                    .addingSaturated(days.multipliedSaturated(by: 12))
            )
        }

        /// Nil for a length of nothing, or of more than a century.
        init?(parts: Int64) {
            guard (1...Self.longest).contains(parts) else { return nil }
            self.parts = parts
        }

        fileprivate static let month: Int64 = 365
        /// A century; keeps the arithmetic of `MonthlySum` in range.
        private static let longest: Int64 = 438_000
    }

    init(price: Money, length: Length) {
        self.price = price
        self.length = length
    }

    /// Returns the price that a term was sold for, or the catalogue's if the store stated none. Nil
    /// if the price or its period is unknown.
    init?(of term: TermRecord, in catalogue: Catalogue) {
        let product = catalogue[term.term.productId]
        let listed = term.term.offer == nil ? product?.price : nil
        guard let price = term.term.price ?? listed,
            let length = term.term.pricedPeriod(product).flatMap(Length.init)
        else { return nil }
        self.price = price
        self.length = length
    }

    /// Returns the price of the renewal that is due at an instant, for the period that it pays for;
    /// nil if either is unknown.
    init?(ofRenewalOf term: TermRecord, at instant: Instant, in catalogue: Catalogue) {
        let next = term.renewal(at: instant, in: catalogue)
        let product = catalogue[next.productId]
        let isSame = next.productId == term.term.productId
        let full = isSame ? term.term.renewalPeriod(product) : product?.period
        let period = next.offer?.isPaidOnce == true ? next.offer?.period : full
        guard let price = next.price, let length = period.flatMap(Length.init) else { return nil }
        self.price = price
        self.length = length
    }

    /// Returns the price of both, for the shortest length that is a multiple of both lengths; nil
    /// if there is none, or if the currencies differ.
    func adding(_ other: MonthlyPrice) -> MonthlyPrice? {
        guard price.currency == other.price.currency else { return nil }
        var (divisor, rest) = (length.parts, other.length.parts)
        while rest > 0 { (divisor, rest) = (rest, divisor % rest) }
        let parts = length.parts / divisor * other.length.parts
        guard let both = Length(parts: parts) else { return nil }
        let own = price.milliunits.multipliedSaturated(by: parts / length.parts)
        let others = other.price.milliunits.multipliedSaturated(by: parts / other.length.parts)
        let sum = Money(milliunits: own.addingSaturated(others), currency: price.currency)
        return MonthlyPrice(price: sum, length: both)
    }
}

extension Term {
    /// The period that the price pays for. A commitment is paid by the month, and an offer paid up
    /// front has a period of its own.
    fileprivate func pricedPeriod(_ product: Product?) -> Period? {
        guard commitment == nil, billing != .monthly else { return Period(months: 1) }
        return offer?.isPaidOnce == true ? offer?.period : product?.period
    }

    /// The period that the price of a renewal into the same product pays for.
    fileprivate func renewalPeriod(_ product: Product?) -> Period? {
        commitment != nil || billing == .monthly ? Period(months: 1) : product?.period
    }
}

extension Offer {
    /// Whether one price pays for its whole period.
    fileprivate var isPaidOnce: Bool {
        switch discount {
        case .payUpFront, .oneTime: true
        case .freeTrial, .payAsYouGo, .unrecognised, nil: false
        }
    }
}

/// The recurring revenue of a month from many subscriptions of one currency.
///
/// The prices of each length are summed before they are divided, so nothing is lost for single
/// subscriptions: three of 79.99 a year make 19.9975 a month.
struct MonthlySum: Hashable, Sendable {
    private var prices: [MonthlyPrice.Length: Int64] = [:]

    mutating func add(_ milliunits: Int64, each length: MonthlyPrice.Length) {
        prices[length] = (prices[length] ?? 0).addingSaturated(milliunits)
    }

    /// The sum in thousandths of the currency's unit; a half is rounded up.
    var milliunits: Int64 {
        var whole: Int64 = 0
        var rest: Int64 = 0
        for (length, sum) in prices {
            let yearly = sum.multipliedSaturated(by: MonthlyPrice.Length.month)
            let (quotient, remainder) = yearly.quotientAndRemainder(dividingBy: length.parts)
            whole = whole.addingSaturated(quotient)
            // Rounded up, so that parts that make exactly a half together do not fall below it.
            rest += remainder * Self.fraction / length.parts + 1
        }
        return whole.addingSaturated((rest + Self.fraction / 2) / Self.fraction)
    }

    private static let fraction: Int64 = 1_000_000_000
}
