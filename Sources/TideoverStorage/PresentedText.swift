package import TideoverCore

/// What a customer's devices presented of their stores.
package struct PresentedStores: Hashable, Sendable {
    /// When a device of a store first presented all the customer's purchases in that store.
    package var instants: [Store: Instant]
    /// When a device first presented each introductory offer of its store account that paid for
    /// another customer's purchase.
    package var accountOffers: [AccountOffer: Instant]

    package init(
        _ instants: [Store: Instant] = [:],
        accountOffers: [AccountOffer: Instant] = [:]
    ) {
        self.instants = instants
        self.accountOffers = accountOffers
    }

    /// Adds what was presented, too; the first instant of each counts.
    package mutating func merge(_ other: PresentedStores) {
        instants.merge(other.instants) { min($0, $1) }
        accountOffers.merge(other.accountOffers) { min($0, $1) }
    }

    /// Adds offers that a device presented at an instant.
    package mutating func add(_ offers: [AccountOffer], at instant: Instant) {
        merge(
            PresentedStores(
                accountOffers: Dictionary(offers.map { ($0, instant) }, uniquingKeysWith: min)
            )
        )
    }
}

/// The text of `customer.presented`: stores, each with milliseconds since 1970, and offers, each
/// also with whether it was used and its product, in alphabetical order. Earlier versions skip the
/// offers.
package enum PresentedText {
    /// Returns nil if nothing was presented.
    package static func write(_ presented: PresentedStores) -> String? {
        let stores = presented.instants.map { "\($0.rawValue) \($1.millisecondsSince1970)" }
        let offers = presented.accountOffers.map { offer, seenAt in
            "\(offer.store.rawValue) \(seenAt.millisecondsSince1970) "
                + "\(offer.isUsed ? used : unknown) \(offer.productId)"
        }
        let parts = stores + offers.filter { $0.unicodeScalars.allSatisfy(isWritable) }
        return parts.isEmpty ? nil : parts.sorted().joined(separator: ",")
    }

    package static func read(_ text: String) -> PresentedStores {
        var presented = PresentedStores()
        for part in text.unicodeScalars.split(separator: ",") {
            let words = part.split(separator: " ", maxSplits: 3).map { String($0) }
            guard words.count >= 2, let store = Store(rawValue: words[0]),
                let milliseconds = Int64(words[1])
            else { continue }
            let instant = Instant(millisecondsSince1970: milliseconds)
            if words.count == 2 { presented.instants[store] = instant }
            guard words.count == 4, [used, unknown].contains(words[2]) else { continue }
            let isUsed = words[2] == used
            let offer = AccountOffer(store: store, productId: words[3], isUsed: isUsed)
            presented.accountOffers[offer] = instant
        }
        return presented
    }

    /// Whether a product may have it. A comma ends a part, and PostgreSQL stores no U+0000.
    private static func isWritable(_ scalar: Unicode.Scalar) -> Bool {
        scalar != "," && scalar != "\0"
    }

    private static let used = IntroductoryEligibility.used.rawValue
    private static let unknown = IntroductoryEligibility.unknown.rawValue
}
