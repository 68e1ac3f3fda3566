/// The pages on which a store lets a customer act.
package enum StoreLink {
    /// Where a payment method is mended; nil for a store that has no such page.
    package static func payment(for standing: Standing, package: String?) -> String? {
        switch standing.lineage?.store {
        case .appStore: "https://apps.apple.com/account/billing"
        case .googlePlay: googlePlay(standing.productId, package)
        case .revenueCat, .tideover, nil: nil
        }
    }

    /// Where a subscription is resumed, cancelled or made to renew again.
    package static func manage(_ standing: Standing, package: String?) -> String? {
        switch standing.lineage?.store {
        case .appStore: "https://apps.apple.com/account/subscriptions"
        case .googlePlay: googlePlay(standing.productId, package)
        case .revenueCat, .tideover, nil: nil
        }
    }

    /// The subscription's own page, or the list of all where the app is not known.
    private static func googlePlay(_ product: String?, _ package: String?) -> String {
        let list = "https://play.google.com/store/account/subscriptions"
        guard let product, let package else { return list }
        // The catalogue may name a base plan behind the product.
        let sku = product.prefix { $0 != ":" }
        return "\(list)?sku=\(encoded(sku))&package=\(encoded(package))"
    }

    /// Product ids come from outside: whatever is not unreserved in RFC 3986 is escaped.
    private static func encoded(_ text: some StringProtocol) -> String {
        let digits = Array("0123456789ABCDEF")
        return text.utf8.reduce(into: "") { result, byte in
            let character = Character(Unicode.Scalar(byte))
            let isPlain = byte < 0x80 && (character.isLetter || character.isNumber)
            if isPlain || "-._~".contains(character) {
                result.append(character)
            } else {
                result += ["%", digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
    }
}
