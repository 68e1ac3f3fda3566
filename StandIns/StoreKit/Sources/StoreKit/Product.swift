public import Foundation

/// Names, labels, types, isolation and availability equal those of Apple's interface; see
/// https://developer.apple.com/documentation/storekit/product
@available(iOS 15.0, macOS 12.0, tvOS 15.0, watchOS 8.0, *)
public struct Product: Identifiable, Equatable, Hashable, Sendable {
    public struct ProductType: RawRepresentable, Equatable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public static let consumable = ProductType(rawValue: "Consumable")
        public static let nonConsumable = ProductType(rawValue: "Non-Consumable")
        public static let nonRenewable = ProductType(rawValue: "Non-Renewing Subscription")
        public static let autoRenewable = ProductType(rawValue: "Auto-Renewable Subscription")
    }
    public typealias ID = String
    public let id: String
    public let type: ProductType

    package init(id: String, type: ProductType) {
        self.id = id
        self.type = type
    }

    public static func products<Identifiers>(
        for identifiers: Identifiers
    ) async throws -> [Product] where Identifiers: Collection, Identifiers.Element == String {
        try await StoreBackend.current.products(Array(identifiers))
    }

    @available(visionOS, unavailable)
    @MainActor
    public func purchase(
        options: Set<PurchaseOption> = []
    ) async throws -> PurchaseResult {
        try await StoreBackend.current.purchase(self, options)
    }
}

extension Product {
    @nonexhaustive
    public enum PurchaseResult: Sendable {
        case success(VerificationResult<Transaction>)
        case userCancelled
        case pending
    }

    @nonexhaustive
    public enum PurchaseError: Error, Equatable, Hashable, LocalizedError {
        case invalidQuantity, productUnavailable, purchaseNotAllowed, ineligibleForOffer
        case invalidOfferIdentifier, invalidOfferPrice, invalidOfferSignature
        case missingOfferParameters
    }

    public struct PurchaseOption: Equatable, Hashable, Sendable {
        package let name: String
        package let value: String

        public static func appAccountToken(_ token: UUID) -> PurchaseOption {
            PurchaseOption(name: "appAccountToken", value: token.uuidString)
        }
    }
}
