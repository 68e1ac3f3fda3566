import TideoverJSON

/// The products in Xcode's StoreKit configuration file (`.storekit`).
///
/// Xcode's format is not documented. This type reads the format of Xcode 12 to 26 (versions 1 to
/// 5). It validates every member that it reads, and ignores the others.
/// https://developer.apple.com/documentation/xcode/setting-up-storekit-testing-in-xcode
public struct StoreKitFile: Hashable, Sendable {
    /// The version of the format.
    public let version: Int
    /// Whether subscriptions have a billing grace period; the file does not contain its length. Nil
    /// if the file has no such setting.
    public let hasBillingGrace: Bool?
    /// The storefront of the prices, by ISO 3166-1 alpha-3; nil if the file has none.
    public let storefront: String?
    public let groups: [Group]
    /// The products other than auto-renewable subscriptions, in the order of the file.
    public let purchases: [Product]

    /// The currency of all prices; nil if the storefront is absent or unknown.
    public var currency: String? { storefront.flatMap { Currencies.ofStorefronts[$0] } }

    /// All products; those of the groups come first.
    public var products: [Product] {
        groups.flatMap { $0.subscriptions.map(\.product) } + purchases
    }

    /// A subscription group; a customer has at most one of its subscriptions.
    public struct Group: Hashable, Sendable {
        /// The group's ID in this file; transactions made in Xcode contain it.
        public let id: String
        public let name: String
        public let subscriptions: [Subscription]
    }

    /// Something on sale.
    public struct Product: Hashable, Sendable {
        public let id: String
        public let kind: Kind
        public let referenceName: String?
        /// Thousandths of the currency's main unit; nil if the file has no price.
        public let milliunits: Int64?
        public let isFamilyShareable: Bool
        public let localizations: [Localization]
    }

    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case consumable = "Consumable"
        case nonConsumable = "NonConsumable"
        case nonRenewing = "NonRenewingSubscription"
        case recurring = "RecurringSubscription"
    }

    /// A product's texts in one language.
    public struct Localization: Hashable, Sendable {
        /// Such as `en_US`.
        public let locale: String
        public let name: String
        public let description: String
    }

    /// An auto-renewable subscription.
    public struct Subscription: Hashable, Sendable {
        public let product: Product
        /// The rank in the group: 1 is the highest.
        public let level: Int
        /// The duration of one paid period.
        public let period: ISOPeriod
        public let introductory: Offer?
        public let promotional: [Offer]
        public let winBack: [Offer]
        /// The offers of offer codes.
        public let codes: [Offer]
    }

    /// A discount.
    public struct Offer: Hashable, Sendable {
        /// For an offer of codes its reference name; nil for an introductory offer, which has no ID.
        public let id: String?
        public let mode: Mode
        /// The price per period, in thousandths of the currency's main unit; nil if it is free.
        public let milliunits: Int64?
        public let period: ISOPeriod
        /// The number of periods.
        public let count: Int

        /// The total duration.
        public var length: ISOPeriod { ISOPeriod(count: period.count * count, unit: period.unit) }
    }

    public enum Mode: String, Hashable, Sendable, CaseIterable {
        case free, payAsYouGo, payUpFront
    }
}

extension StoreKitFile {
    /// Reads a file.
    ///
    /// - Throws: The first error in the file, with its position.
    public init(_ bytes: [UInt8]) throws(StoreKitFileError) {
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
public struct ISOPeriod: Hashable, Sendable {
    public let count: Int
    public let unit: Unit

    public enum Unit: Character, Hashable, Sendable, CaseIterable {
        case day = "D"
        case week = "W"
        case month = "M"
        case year = "Y"
    }

    public init(count: Int, unit: Unit) {
        self.count = count
        self.unit = unit
    }

    /// Parses a period such as `P1M`; nil for any other text, and for a zero length.
    public init?(_ text: String) {
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
    public var text: String { "P\(count)\(unit.rawValue)" }
}
