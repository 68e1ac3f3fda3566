import TideoverAppStore
import TideoverCore
public import TideoverHTTP
public import TideoverSandbox
public import TideoverServer
import TideoverSignatures

/// The server's side of a simulated App Store: whom it believes, and how it asks.
public struct AppStoreRehearsal: Sendable {
    public static let issuerId = "57246542-96fe-1a63-e053-0824d011072a"
    public static let keyId = "REHEARSAL1"

    /// Believes what the store's root vouches for, as simulated.
    public let trust: AppStoreTrust
    /// The key that the store's Server API is to open for.
    public let storeKey: TideoverSandbox.AppStoreAPIKey

    private let bundleId: String
    private let key: P256PrivateKey

    /// - Throws: `SignatureRefusal` where the root is no certificate.
    public init(_ app: AppStoreApp, root: [UInt8]) throws {
        trust = AppStoreTrust(
            identity: AppStoreIdentity(
                bundleId: app.bundleId,
                appAppleId: app.appAppleId,
                environments: [.simulated]
            ),
            authorities: try AppStoreTrust.roots(
                simulated: TrustAnchor(name: "simulated", der: root)
            )
        )
        key = P256PrivateKey.generate()
        storeKey = TideoverSandbox.AppStoreAPIKey(
            issuerId: Self.issuerId,
            keyId: Self.keyId,
            publicKey: key.publicKey
        )
        bundleId = app.bundleId
    }

    /// How the server asks the store whose Server API this is.
    public func access(_ serverAPI: @escaping Handler) -> StoreAccess {
        let key = key
        return StoreAccess(
            environment: .simulated,
            key: TideoverAppStore.AppStoreAPIKey(
                issuerId: Self.issuerId,
                keyId: Self.keyId,
                bundleId: bundleId
            ),
            signer: { key.sign($0) },
            handler: serverAPI
        )
    }
}
