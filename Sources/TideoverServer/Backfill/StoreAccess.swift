public import TideoverAppStore
public import TideoverCore
public import TideoverHTTP
import TideoverSignatures

/// How the App Store is asked about one app in one environment: under which key, and by which handler.
public struct StoreAccess: Sendable {
    public let environment: Environment
    let key: AppStoreAPIKey
    let signer: TokenSigner
    let handler: Handler

    /// - Parameters:
    ///   - environment: The one whose store the handler asks.
    ///   - key: A key of the App Store Server API.
    ///   - signer: Signs by the private half of that key.
    ///   - handler: Goes to the store; paths are under its URL.
    public init(
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
