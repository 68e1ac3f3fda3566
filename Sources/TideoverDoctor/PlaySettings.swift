package import TideoverGooglePlay

/// The subscriptions that Google Play lists for an app, or the reason they are unknown.
package enum PlaySettings: Sendable {
    case stated([SubscriptionOnSale])
    case untold(PlayAPIFailure)

    /// Queries them.
    ///
    /// - Throws: `CancellationError`.
    package static func ask(_ api: PlayAPI) async throws -> PlaySettings {
        do {
            return .stated(try await api.allSubscriptionsOnSale())
        } catch let failure as PlayAPIFailure {
            return .untold(failure)
        }
    }
}
