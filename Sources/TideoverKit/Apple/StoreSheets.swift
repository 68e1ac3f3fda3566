#if canImport(StoreKit) && canImport(UIKit) && !os(watchOS) && !os(tvOS)
import StoreKit
public import UIKit

// The store's messages and sheets need a scene, so only iOS, Mac Catalyst and visionOS have them.

extension EntitlementStore {
    /// Takes over the store's messages, such as a failed payment or a higher price. They appear in
    /// this scene, at once or when `delaysMessages` ends. Without this call StoreKit shows them by
    /// itself at launch.
    public func controlMessages(in scene: UIWindowScene) {
        controlMessages(StoreKitMessages.stream()) { message in
            // A message that cannot be shown now returns at the next launch.
            (try? StoreKitMessages.latest[message]?.display(in: scene)) != nil
        }
    }

    /// Presents the sheet in which the customer changes or cancels a subscription. The store is
    /// read again afterwards. Without a group it lists all subscriptions.
    public func manageSubscriptions(in scene: UIWindowScene, group: String? = nil) async throws {
        try await present {
            if let group {
                try await AppStore.showManageSubscriptions(in: scene, subscriptionGroupID: group)
            } else {
                try await AppStore.showManageSubscriptions(in: scene)
            }
        }
    }

    /// Presents the sheet for an offer code. Its purchase arrives like any other.
    public func redeemOfferCode(in scene: UIWindowScene) async throws {
        try await present { try await AppStore.presentOfferCodeRedeemSheet(in: scene) }
    }
}

@MainActor
private enum StoreKitMessages {
    /// The newest message of each reason.
    static var latest: [StoreMessage: StoreKit.Message] = [:]

    static func stream() -> AsyncStream<StoreMessage> {
        AsyncStream { continuation in
            let task = Task {
                for await message in StoreKit.Message.messages {
                    latest[StoreMessage(message.reason)] = message
                    continuation.yield(StoreMessage(message.reason))
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}

extension StoreMessage {
    fileprivate init(_ reason: StoreKit.Message.Reason) {
        // A structure, not an enumeration: later versions have more reasons.
        switch reason {
        case .billingIssue: self = .billingIssue
        case .priceIncreaseConsent: self = .priceIncreaseConsent
        default: self = .other
        }
    }
}
#endif
