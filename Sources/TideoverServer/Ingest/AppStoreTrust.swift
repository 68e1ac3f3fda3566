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
    private let receiptVerifier: SignedDataVerifier
    private let receiptAuthorities: [TrustAnchor: Authority]

    /// Trust in the given roots, and in no others: of receipts, in roots of their own, whose keys are of
    /// RSA.
    public init(
        identity: AppStoreIdentity,
        authorities: [TrustAnchor: Authority],
        receiptAuthorities: [TrustAnchor: Authority] = [:]
    ) {
        self.identity = identity
        self.authorities = authorities
        self.receiptAuthorities = receiptAuthorities
        receiptVerifier = SignedDataVerifier(
            leafMarker: AppStoreSigning.leafMarker,
            intermediateMarker: AppStoreSigning.intermediateMarker,
            anchors: receiptAuthorities.keys.sorted { $0.name < $1.name }
        )
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

    /// The root that an operator pinned for receipts vouches for production and sandbox; that of a
    /// simulated store for `simulated` and nothing else. None is built in.
    public static func receiptRoots(
        appStore: TrustAnchor?,
        simulated: TrustAnchor?
    ) -> [TrustAnchor: Authority] {
        var authorities: [TrustAnchor: Authority] = [:]
        if let appStore { authorities[appStore] = .appStore }
        // The same root named twice must not make real purchases simulated.
        if let simulated, simulated.der != appStore?.der { authorities[simulated] = .simulated }
        return authorities
    }

    /// Whether a root of receipts is pinned, without which none can be believed.
    package var readsReceipts: Bool { !receiptAuthorities.isEmpty }

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
    /// own is checked at `now`, and so is everything with `validNow`. With `onlyKnownChains` a chain that no document was verified by so far is
    /// refused as untrusted, without a public-key operation.
    package func check(
        at now: Instant,
        onlyKnownChains: Bool = false,
        validNow: Bool = false
    ) -> SignatureCheck {
        { compact in
            let jws = try verifier.read(compact)
            guard !onlyKnownChains || verifier.remembers(jws) else {
                throw SignatureRefusal.untrustedRoot
            }
            let payload = try JSONDocument(jws.payload)
            let instant = validNow ? now : AppStoreSigning.signedDate(of: payload) ?? now
            let anchor = try verifier.verify(jws, at: instant.millisecondsSince1970)
            guard let authority = authorities[anchor] else {
                preconditionFailure("an anchor that verified is one of those configured")
            }
            return VerifiedPayload(payload: payload, authority: authority)
        }
    }

    /// The check of receipts that the reader is given: certificates must have been valid when the
    /// receipt was made. One without a date is checked at `now`.
    package func receiptCheck(at now: Instant, onlyKnownChains: Bool = false) -> ReceiptCheck {
        { container in
            // A receipt carries its chain inside what is signed: none is known beforehand.
            guard !onlyKnownChains else { throw SignatureRefusal.untrustedRoot }
            let signed = try SignedData(container)
            let instant = AppStoreSigning.creationDate(ofReceipt: signed.content) ?? now
            let anchor = try receiptVerifier.verify(signed, at: instant.millisecondsSince1970)
            guard let authority = receiptAuthorities[anchor] else {
                preconditionFailure("an anchor that verified is one of those configured")
            }
            return VerifiedReceipt(content: signed.content, authority: authority)
        }
    }

    /// Reads whatever the App Store signed: a notification, any one signed document, a receipt, an
    /// answer of verifyReceipt with a receipt in it. What carries no date of its own is checked at `now`.
    package func read(_ bytes: [UInt8], at now: Instant) throws -> AppStoreReading {
        try AppStoreReader(app: identity).read(
            bytes,
            check: check(at: now),
            receipts: receiptCheck(at: now)
        )
    }

    /// Reads a receipt of StoreKit 1, or an answer of verifyReceipt that carries one: verified, checked
    /// to be for this app, and ready to state its facts.
    ///
    /// - Throws: a refusal with a code and a sentence: ``AppStoreRefusal`` or `SignatureRefusal`.
    package func readReceipt(_ bytes: [UInt8], at now: Instant) throws -> AppStoreReading {
        let reader = AppStoreReader(app: identity)
        return AppStoreInput(bytes) == .receiptAnswer
            ? try reader.readReceiptAnswer(bytes, check: receiptCheck(at: now))
            : try reader.readReceipt(bytes, check: receiptCheck(at: now))
    }
}
