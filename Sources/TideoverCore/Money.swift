/// An amount in thousandths of a currency's unit. The App Store states prices in these "milliunits"
/// for every currency, including the yen.
public struct Money: Hashable, Sendable {
    public var milliunits: Int64
    /// ISO 4217, upper case.
    public var currency: String

    public init(milliunits: Int64, currency: String) {
        self.milliunits = milliunits
        self.currency = currency
    }

    /// Reads `9.99 USD`: an amount with up to three decimals, a space, a currency code. Nil for any
    /// other text.
    public init?(text: some StringProtocol) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].utf8.count == 3,
            parts[1].utf8.allSatisfy({ (0x41...0x5A).contains($0) })
        else { return nil }
        let amount = parts[0].split(separator: ".", omittingEmptySubsequences: false)
        guard amount.count <= 2, amount.allSatisfy({ $0.allSatisfy(\.isASCII) }),
            let whole = Int64(amount[0]), (0...1_000_000_000_000).contains(whole),
            amount[0].first?.isNumber == true
        else { return nil }
        let decimals = amount.count == 2 ? amount[1] : "0"
        guard (1...3).contains(decimals.count), decimals.allSatisfy(\.isNumber),
            let fraction = Int64(decimals + String(repeating: "0", count: 3 - decimals.count))
        else { return nil }
        self.init(milliunits: whole * 1000 + fraction, currency: String(parts[1]))
    }

    /// The amount as `9.99 USD`, with two decimals, or three if needed.
    public var text: String { text(decimal: ".") }

    /// Returns the amount with a language's sign between units and decimals.
    func text(decimal: String) -> String {
        let (whole, rest) = milliunits.magnitude.quotientAndRemainder(dividingBy: 1000)
        var decimals = String(rest)
        decimals = String(repeating: "0", count: 3 - decimals.count) + decimals
        if decimals.last == "0" { decimals.removeLast() }
        return "\(milliunits < 0 ? "-" : "")\(whole)\(decimal)\(decimals) \(currency)"
    }
}
