package import TideoverCore
package import TideoverHTTP

/// The access to the App Store for one app in one environment: the key and the handler.
package struct StoreAccess: Sendable {
    package let environment: Environment
    package let key: AppStoreAPIKey
    package let signer: TokenSigner
    package let handler: Handler

    /// - Parameters:
    ///   - environment: The environment of the handler's store.
    ///   - key: A key of the App Store Server API.
    ///   - signer: Signs with the private half of that key.
    ///   - handler: Sends requests to the store; paths are relative to its URL.
    package init(
        environment: Environment,
        key: AppStoreAPIKey,
        signer: @escaping TokenSigner,
        handler: @escaping Handler
    ) {
        self.environment = environment
        self.key = key
        self.signer = signer
        self.handler = handler
    }
}
