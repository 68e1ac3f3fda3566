package import TideoverAppStore
package import TideoverCore
package import TideoverHTTP

/// The billing grace period set in App Store Connect, or the reason it is unknown.
package enum GraceSetting: Sendable {
    case stated(BillingGraceSetting)
    /// The reason in a sentence, without its full stop.
    case untold(String)

    /// Queries App Store Connect with the app's App Store Server API key. Most such keys are for
    /// purchases only, and App Store Connect rejects them. `connect` sends requests to App Store
    /// Connect; paths are relative to its URL. Throws `CancellationError`.
    package static func ask(
        _ access: StoreAccess,
        of identity: AppStoreIdentity,
        clock: @escaping @Sendable () -> Instant,
        connect: @escaping Handler
    ) async throws -> GraceSetting {
        guard let appAppleId = identity.appAppleId else {
            return .untold("appStore.appAppleId is not set")
        }
        let api = AppStoreAPI(
            app: identity,
            environment: access.environment,
            tokens: AppStoreTokens(key: access.key, signer: access.signer),
            clock: clock,
            handler: connect
        )
        do {
            return .stated(try await api.billingGraceSetting(of: appAppleId).content)
        } catch let failure as AppStoreAPIFailure {
            return .untold(failure.refusesTheKey ?? String(failure.sentence.dropLast()))
        }
    }
}

extension AppStoreAPIFailure {
    /// A key for the App Store Server API may not be valid for App Store Connect.
    fileprivate var refusesTheKey: String? {
        switch reason {
        case .unauthorised(let skew) where !skew.explainsRefusal: "it does not know appStore.keyId"
        case .status(403), .refused(_, status: 403): "appStore.keyId may not read it"
        default: nil
        }
    }
}
