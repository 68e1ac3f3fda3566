/// https://developer.apple.com/documentation/storekit/apptransaction
@available(iOS 16.0, macOS 13.0, tvOS 16.0, watchOS 9.0, *)
public struct AppTransaction: Sendable, Equatable, Hashable {
    public let environment: AppStore.Environment

    package init(environment: AppStore.Environment) {
        self.environment = environment
    }

    public static var shared: VerificationResult<AppTransaction> {
        get async throws { try await StoreBackend.current.appTransaction() }
    }
}
