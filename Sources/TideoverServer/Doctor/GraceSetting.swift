public import TideoverAppStore
import TideoverCore
public import TideoverHTTP

/// The billing grace period that App Store Connect is set to, or why it does not say.
public enum GraceSetting: Sendable {
    case stated(BillingGraceSetting)
    /// The reason in a sentence, without its full stop.
    case untold(String)

    /// Asks App Store Connect under the key by which the store of an app is asked. Most such keys are
    /// made for purchases only, and are turned away there. `connect` goes to App Store Connect; paths are
    /// under its URL. It throws `CancellationError`.
    public static func ask(
        _ access: StoreAccess,
        of app: App,
        clock: @escaping Clock,
        connect: @escaping Handler
    ) async throws -> GraceSetting {
        guard let identity = app.appStore?.identity, let appAppleId = identity.appAppleId else {
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
    /// A key that is good for the App Store Server API need not be for App Store Connect.
    fileprivate var refusesTheKey: String? {
        switch reason {
        case .unauthorised(let skew) where !skew.explainsRefusal: "it does not know appStore.keyId"
        case .status(403), .refused(_, status: 403): "appStore.keyId may not read it"
        default: nil
        }
    }
}
