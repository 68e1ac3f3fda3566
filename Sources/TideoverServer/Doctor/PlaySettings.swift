public import TideoverGooglePlay

/// What Google Play says of the subscriptions that an app sells, or why it does not.
public enum PlaySettings: Sendable {
    case stated([SubscriptionOnSale])
    case untold(PlayAPIFailure)

    /// Asks for them as the service account of an app; nil where it has none.
    ///
    /// - Throws: `CancellationError`.
    public static func ask(_ trust: PlayTrust) async throws -> PlaySettings? {
        guard let api = trust.api else { return nil }
        do {
            return .stated(try await api.allSubscriptionsOnSale())
        } catch let failure as PlayAPIFailure {
            return .untold(failure)
        }
    }
}
