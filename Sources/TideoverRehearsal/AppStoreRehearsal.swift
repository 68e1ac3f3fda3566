package import TideoverAppStore
import TideoverCore
package import TideoverHTTP
package import TideoverSandbox
package import TideoverServer
import TideoverSignatures

/// The server's connection to a simulated App Store: its trust and its API access.
package struct AppStoreRehearsal: Sendable {
    package static let issuerId = "57246542-96fe-1a63-e053-0824d011072a"
    package static let keyId = "REHEARSAL1"

    /// Trusts the store's root, for the simulated environment.
    package let trust: AppStoreTrust
    /// The key that the store's Server API accepts.
    package let storeKey: TideoverSandbox.AppStoreAPIKey

    private let bundleId: String
    private let key: P256PrivateKey

    /// - Throws: `SignatureRefusal` if the root is not a certificate.
    package init(_ app: AppStoreApp, root: [UInt8]) throws {
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
    package func access(_ serverAPI: @escaping Handler) -> StoreAccess {
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
