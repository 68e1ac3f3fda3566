import TideoverAppStore
import TideoverCore
public import TideoverHTTP
public import TideoverSandbox
public import TideoverServer
import TideoverSignatures

/// The server's connection to a simulated App Store: its trust and its API access.
public struct AppStoreRehearsal: Sendable {
    public static let issuerId = "57246542-96fe-1a63-e053-0824d011072a"
    public static let keyId = "REHEARSAL1"

    /// Trusts the store's root, for the simulated environment.
    public let trust: AppStoreTrust
    /// The key that the store's Server API accepts.
    public let storeKey: TideoverSandbox.AppStoreAPIKey

    private let bundleId: String
    private let key: P256PrivateKey

    /// - Throws: `SignatureRefusal` if the root is not a certificate.
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

    /// Returns the server's access to the store behind this Server API.
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
