package import TideoverGooglePlay

/// The subscriptions that Google Play lists for an app, or the reason they are unknown.
package enum PlaySettings: Sendable {
    case stated([SubscriptionOnSale])
    case untold(PlayAPIFailure)

    /// Queries them with the app's service account; nil if it has none.
    ///
    /// - Throws: `CancellationError`.
    package static func ask(_ trust: PlayTrust) async throws -> PlaySettings? {
        guard let api = trust.api else { return nil }
        do {
            return .stated(try await api.allSubscriptionsOnSale())
        } catch let failure as PlayAPIFailure {
            return .untold(failure)
        }
    }
}
