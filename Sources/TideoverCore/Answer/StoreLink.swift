/// The store pages for customer actions.
package enum StoreLink {
    /// Returns the page to fix a payment method; nil for a store without one.
    package static func payment(for standing: Standing, package: String?) -> String? {
        switch standing.lineage?.store {
        case .appStore: "https://apps.apple.com/account/billing"
        case .googlePlay: googlePlay(standing.productId, package)
        case .revenueCat, .tideover, nil: nil
        }
    }

    /// Returns the page to resume, cancel or renew a subscription.
    package static func manage(_ standing: Standing, package: String?) -> String? {
        switch standing.lineage?.store {
        case .appStore: "https://apps.apple.com/account/subscriptions"
        case .googlePlay: googlePlay(standing.productId, package)
        case .revenueCat, .tideover, nil: nil
        }
    }

    /// Returns the subscription's own page, or the list of all subscriptions if the app is unknown.
    private static func googlePlay(_ product: String?, _ package: String?) -> String {
        let list = "https://play.google.com/store/account/subscriptions"
        guard let product, let package else { return list }
        // The catalogue may append a base plan to the product.
        let sku = product.prefix { $0 != ":" }
        return "\(list)?sku=\(encoded(sku))&package=\(encoded(package))"
    }

    /// Escapes everything that is not unreserved in RFC 3986. Product IDs come from outside.
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
