public import TideoverAppStore
package import TideoverCore
package import TideoverJSON
public import TideoverSignatures

/// Whom one app believes about the App Store: which roots vouch for which environments, and what
/// the signed data must say of the app.
public struct AppStoreTrust: Sendable {
    public let identity: AppStoreIdentity
    private let verifier: ChainVerifier
    private let authorities: [TrustAnchor: Authority]

    /// Trust in the given roots, and in no others.
    public init(identity: AppStoreIdentity, authorities: [TrustAnchor: Authority]) {
        self.identity = identity
        self.authorities = authorities
        verifier = ChainVerifier(
            policy: ChainPolicy(
                leafMarker: AppStoreSigning.leafMarker,
                intermediateMarker: AppStoreSigning.intermediateMarker
            ),
            anchors: authorities.keys.sorted { $0.name < $1.name }
        )
    }

    /// Apple's built-in root vouches for production and sandbox; a simulated store's, where one is
    /// configured, for `simulated` and nothing else.
    public static func roots(simulated: TrustAnchor?) throws(TrustAnchorError) -> [TrustAnchor:
        Authority]
    {
        let apple = try TrustAnchor(name: "apple", der: AppStoreSigning.appleRoot)
        // Apple's own root named as a simulated store's must not make real purchases simulated.
        guard let simulated, simulated.der != apple.der else { return [apple: .appStore] }
        return [apple: .appStore, simulated: .simulated]
    }

    /// How many chains of certificates are remembered as verified, and how many public-key operations
    /// those cost that were not.
    var chainReading: (remembered: Int, operations: Int) {
        (verifier.cachedChainCount, verifier.publicKeyOperationCount)
    }

    /// A signed document taken apart, not yet believed.
    package func read(_ compact: ArraySlice<UInt8>) throws -> (JWS, payload: JSONDocument) {
        let jws = try verifier.read(compact)
        return (jws, try JSONDocument(jws.payload))
    }

    /// The signature check that the reader of App Store data is given. What carries no date of its
    /// own is checked at `now`.
    package func check(at now: Instant) -> SignatureCheck {
        { compact in
            let (jws, payload) = try read(compact)
            let instant = AppStoreSigning.signedDate(of: payload) ?? now
            let anchor = try verifier.verify(jws, at: instant.millisecondsSince1970)
            guard let authority = authorities[anchor] else {
                preconditionFailure("an anchor that verified is one of those configured")
            }
            return VerifiedPayload(payload: payload, authority: authority)
        }
    }
}
