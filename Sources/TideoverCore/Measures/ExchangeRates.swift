/// Rates that an operator states to express sums of several currencies in one.
///
/// No rate is looked up. One that is missing leaves its currency out of the converted sum, and the
/// report names it.
package struct ExchangeRates: Hashable, Sendable {
    /// The currency that sums are expressed in.
    package let currency: String
    /// By currency: what one unit of it is worth, in millionths of `currency`.
    private let rates: [String: Int64]

    /// The most digits after the point of a rate.
    private static let decimals = 6
    private static let unit: Int64 = 1_000_000

    /// Reads rates such as `USD:0.92,JPY:0.0061`. Nil if a currency is not three capital letters or
    /// occurs twice, or a rate is not a positive number below a million with up to six decimals.
    package init?(to currency: String, rates text: String) {
        guard Self.isCode(currency) else { return nil }
        var rates = [currency: Self.unit]
        for entry in text.split(separator: ",", omittingEmptySubsequences: false)
        where !text.isEmpty {
            let parts = entry.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, Self.isCode(parts[0]), rates[String(parts[0])] == nil,
                let rate = Self.millionths(parts[1])
            else { return nil }
            rates[String(parts[0])] = rate
        }
        self.currency = currency
        self.rates = rates
    }

    private static func isCode(_ text: some StringProtocol) -> Bool {
        text.utf8.count == 3 && text.utf8.allSatisfy { (0x41...0x5A).contains($0) }
    }

    private static func millionths(_ text: Substring) -> Int64? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count),
            parts.allSatisfy({ part in
                (1...decimals).contains(part.utf8.count)
                    && part.utf8.allSatisfy { (0x30...0x39).contains($0) }
            })
        else { return nil }
        let fraction = parts.count == 2 ? parts[1] : "0"
        let zeros = String(repeating: "0", count: decimals - fraction.utf8.count)
        guard let whole = Int64(parts[0]), let rest = Int64(fraction + zeros) else { return nil }
        let rate = whole * unit + rest
        return rate > 0 ? rate : nil
    }

    /// The rates that were stated, by currency: `0.92`.
    package var stated: [(currency: String, rate: String)] {
        rates.filter { $0.key != currency }.sorted { $0.key < $1.key }
            .map { ($0.key, Self.text($0.value)) }
    }

    private static func text(_ millionths: Int64) -> String {
        let (whole, rest) = millionths.quotientAndRemainder(dividingBy: unit)
        guard rest > 0 else { return "\(whole)" }
        var decimals = String(String(unit + rest).dropFirst())
        while decimals.last == "0" { decimals.removeLast() }
        return "\(whole).\(decimals)"
    }

    /// Returns thousandths of a currency in thousandths of `currency`, a half rounded up. Nil
    /// without a rate.
    package func converted(_ milliunits: Int64, of currency: String) -> Int64? {
        guard let rate = rates[currency] else { return nil }
        let product = milliunits.magnitude.multipliedFullWidth(by: UInt64(rate))
        let (low, carry) = product.low.addingReportingOverflow(UInt64(Self.unit / 2))
        let high = product.high + (carry ? 1 : 0)
        guard high < UInt64(Self.unit) else { return milliunits < 0 ? .min : .max }
        let quotient = UInt64(Self.unit).dividingFullWidth((high, low)).quotient
        let amount = Int64(clamping: quotient)
        return milliunits < 0 ? -amount : amount
    }
}
