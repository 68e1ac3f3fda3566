import TideoverJSON

/// The products in Xcode's StoreKit configuration file (`.storekit`).
///
/// Xcode's format is not documented. This type reads the format of Xcode 12 to 26 (versions 1 to
/// 5). It validates every member that it reads, and ignores the others.
/// https://developer.apple.com/documentation/xcode/setting-up-storekit-testing-in-xcode
package struct StoreKitFile: Hashable, Sendable {
    /// The version of the format.
    package let version: Int
    /// Whether subscriptions have a billing grace period; the file does not contain its length. Nil
    /// if the file has no such setting.
    package let hasBillingGrace: Bool?
    /// The storefront of the prices, by ISO 3166-1 alpha-3; nil if the file has none.
    package let storefront: String?
    package let groups: [Group]
    /// The products other than auto-renewable subscriptions, in the order of the file.
    package let purchases: [Product]

    /// The currency of all prices; nil if the storefront is absent or unknown.
    package var currency: String? { storefront.flatMap { Currencies.ofStorefronts[$0] } }

    /// All products; those of the groups come first.
    package var products: [Product] {
        groups.flatMap { $0.subscriptions.map(\.product) } + purchases
    }

    /// A subscription group; a customer has at most one of its subscriptions.
    package struct Group: Hashable, Sendable {
        /// The group's ID in this file; transactions made in Xcode contain it.
        package let id: String
        package let name: String
        package let subscriptions: [Subscription]
    }

    /// Something on sale.
    package struct Product: Hashable, Sendable {
        package let id: String
        package let kind: Kind
        package let referenceName: String?
        /// Thousandths of the currency's main unit; nil if the file has no price.
        package let milliunits: Int64?
        package let isFamilyShareable: Bool
        package let localizations: [Localization]
    }

    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case consumable = "Consumable"
        case nonConsumable = "NonConsumable"
        case nonRenewing = "NonRenewingSubscription"
        case recurring = "RecurringSubscription"
    }

    /// A product's texts in one language.
    package struct Localization: Hashable, Sendable {
        /// Such as `en_US`.
        package let locale: String
        package let name: String
        package let description: String
    }

    /// An auto-renewable subscription.
    package struct Subscription: Hashable, Sendable {
        package let product: Product
        /// The rank in the group: 1 is the highest.
        package let level: Int
        /// The duration of one paid period.
        package let period: ISOPeriod
        package let introductory: Offer?
        package let promotional: [Offer]
        package let winBack: [Offer]
        /// The offers of offer codes.
        package let codes: [Offer]
    }

    /// A discount.
    package struct Offer: Hashable, Sendable {
        /// Nil for an introductory offer, which has no ID.
        package let id: String?
        package let mode: Mode
        /// The price per period, in thousandths of the currency's main unit; nil if it is free.
        package let milliunits: Int64?
        package let period: ISOPeriod
        /// The number of periods.
        package let count: Int

        /// The total duration.
        package var length: ISOPeriod { ISOPeriod(count: period.count * count, unit: period.unit) }
    }

    package enum Mode: String, Hashable, Sendable, CaseIterable {
        case free, payAsYouGo, payUpFront
    }
}

extension StoreKitFile {
    /// Reads a file.
    ///
    /// - Throws: The first error in the file, with its position.
    package init(_ bytes: [UInt8]) throws(StoreKitFileError) {
        let document: JSONDocument
        do {
            document = try JSONDocument(
                bytes,
                limits: JSONLimits(maxBytes: 8 << 20, maxDepth: 32)
            )
        } catch {
            throw StoreKitFileError(
                path: "",
                line: error.line,
                column: error.column,
                reason: .syntax(error.reason)
            )
        }
        self = try StoreKitFileReader.file(FileNode(document.root, path: ""))
    }
}

/// A duration as the file writes it: a number of days, weeks, months or years.
package struct ISOPeriod: Hashable, Sendable {
    package let count: Int
    package let unit: Unit

    package enum Unit: Character, Hashable, Sendable, CaseIterable {
        case day = "D"
        case week = "W"
        case month = "M"
        case year = "Y"
    }

    package init(count: Int, unit: Unit) {
        self.count = count
        self.unit = unit
    }

    /// Parses a period such as `P1M`; nil for any other text, and for a zero length.
    package init?(_ text: String) {
        guard text.first == "P", let unit = text.last.flatMap(Unit.init(rawValue:)) else {
            return nil
        }
        let digits = text.dropFirst().dropLast()
        guard (1...3).contains(digits.utf8.count),
            digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let count = Int(digits), count > 0
        else { return nil }
        self.init(count: count, unit: unit)
    }

    /// ISO 8601, such as `P1M`.
    package var text: String { "P\(count)\(unit.rawValue)" }
}
