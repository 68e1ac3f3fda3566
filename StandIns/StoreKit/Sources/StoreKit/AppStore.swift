public import Foundation
public import UIKit

/// https://developer.apple.com/documentation/storekit/appstore
@available(iOS 15.0, macOS 12.0, tvOS 15.0, watchOS 8.0, *)
public enum AppStore: Sendable {
    public static func sync() async throws { try await StoreBackend.current.sync() }

    @available(iOS 16.0, macOS 13.0, tvOS 16.0, watchOS 9.0, *)
    public struct Environment: RawRepresentable, Equatable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public static let production = Environment(rawValue: "Production")
        public static let sandbox = Environment(rawValue: "Sandbox")
        public static let xcode = Environment(rawValue: "Xcode")
    }
}

// The sheets.
@available(macOS, unavailable)
@available(tvOS, unavailable)
@available(watchOS, unavailable)
extension AppStore {
    @MainActor
    public static func showManageSubscriptions(in scene: UIWindowScene) async throws {
        try await StoreBackend.current.manageSubscriptions(nil)
    }

    @available(iOS 17.0, macCatalyst 17.0, visionOS 1.0, *)
    @MainActor
    public static func showManageSubscriptions(
        in scene: UIWindowScene,
        subscriptionGroupID: String
    ) async throws {
        try await StoreBackend.current.manageSubscriptions(subscriptionGroupID)
    }

    @available(iOS 16.0, macCatalyst 16.0, visionOS 1.0, *)
    @MainActor
    public static func presentOfferCodeRedeemSheet(in scene: UIWindowScene) async throws {
        try await StoreBackend.current.redeemOfferCode()
    }
}

/// https://developer.apple.com/documentation/storekit/storekiterror
@nonexhaustive
public enum StoreKitError: Error, Sendable, LocalizedError {
    case unknown
    case userCancelled
    case networkError(URLError)
    case systemError(any Error)
    case notAvailableInStorefront
    @available(iOS 15.4, macOS 12.3, tvOS 15.4, watchOS 8.5, *)
    case notEntitled
}
