package import TideoverAppStore
package import TideoverCore
package import TideoverJSON
package import TideoverSignatures

/// The trust of one app in the App Store: the roots of each environment, and the required identity
/// in signed data.
package struct AppStoreTrust: Sendable {
    package let identity: AppStoreIdentity
    private let verifier: ChainVerifier
    private let authorities: [TrustAnchor: Authority]
    private let receiptVerifier: SignedDataVerifier
    private let receiptAuthorities: [TrustAnchor: Authority]
    private let revocations: RevocationList?

    /// Creates trust in the given roots only. Receipts have separate roots with RSA keys. Revoked
    /// certificates are rejected if a list of them is given.
    package init(
        identity: AppStoreIdentity,
        authorities: [TrustAnchor: Authority],
        receiptAuthorities: [TrustAnchor: Authority] = [:],
        revocations: RevocationList? = nil
    ) {
        self.identity = identity
        self.revocations = revocations
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

    /// Returns the trusted roots: Apple's built-in root for production and sandbox, and a
    /// configured simulated store's root for `simulated` only.
    package static func roots(simulated: TrustAnchor?) throws(TrustAnchorError) -> [TrustAnchor:
        Authority]
    {
        let apple = try TrustAnchor(name: "apple", der: AppStoreSigning.appleRoot)
        // If Apple's own root is configured as simulated, real purchases must not become simulated.
        guard let simulated, simulated.der != apple.der else { return [apple: .appStore] }
        return [apple: .appStore, simulated: .simulated]
    }

    /// Returns the roots of receipts: the operator's root for production and sandbox, and a
    /// simulated store's root for `simulated` only. There is no built-in root.
    package static func receiptRoots(
        appStore: TrustAnchor?,
        simulated: TrustAnchor?
    ) -> [TrustAnchor: Authority] {
        var authorities: [TrustAnchor: Authority] = [:]
        if let appStore { authorities[appStore] = .appStore }
        // If the same root is configured twice, real purchases must not become simulated.
        if let simulated, simulated.der != appStore?.der { authorities[simulated] = .simulated }
        return authorities
    }

    /// The roots of signed data and of receipts, with what they certify.
    var trustedRoots: [TrustAnchor: Authority] {
        authorities.merging(receiptAuthorities) { first, _ in first }
    }

    /// The certificates that signed data and are still remembered; none unless revocation is
    /// checked.
    var rememberedCertificates: [RevocationTable.Entry] {
        revocations?.withTable { $0.all } ?? []
    }

    /// Whether a root of receipts is configured; receipts are rejected without one.
    package var readsReceipts: Bool { !receiptAuthorities.isEmpty }

    /// The number of certificate chains remembered as verified, and of public-key operations spent
    /// on other chains.
    var chainReading: (remembered: Int, operations: Int) {
        (verifier.cachedChainCount, verifier.publicKeyOperationCount)
    }

    /// Parses a signed document without verifying it.
    package func read(_ compact: ArraySlice<UInt8>) throws -> (JWS, payload: JSONDocument) {
        let jws = try verifier.read(compact)
        return (jws, try JSONDocument(jws.payload))
    }

    /// Returns the signature check for the reader of App Store data. Documents without a date are
    /// checked at `now`, and all documents with `validNow`. With `onlyKnownChains` a chain that has
    /// not been verified before is rejected as untrusted, without a public-key operation. Stored
    /// evidence is `isStored`: its certificate may have been revoked since.
    package func check(
        at now: Instant,
        onlyKnownChains: Bool = false,
        validNow: Bool = false,
        isStored: Bool = false
    ) -> SignatureCheck {
        { compact in
            let jws = try verifier.read(compact)
            guard !onlyKnownChains || verifier.remembers(jws) else {
                throw SignatureRefusal.untrustedRoot
            }
            let payload = try JSONDocument(jws.payload)
            let instant = validNow ? now : AppStoreSigning.signedDate(of: payload) ?? now
            let signer = try verifier.signer(of: jws, at: instant.millisecondsSince1970)
            if !isStored { try revocations?.check(signer) }
            guard let authority = authorities[signer.anchor] else {
                preconditionFailure("an anchor that verified is one of those configured")
            }
            return VerifiedPayload(payload: payload, authority: authority)
        }
    }

    /// Returns the signature check for receipts: certificates must have been valid when the receipt
    /// was created. A receipt without a date is checked at `now`.
    package func receiptCheck(
        at now: Instant,
        onlyKnownChains: Bool = false,
        isStored: Bool = false
    ) -> ReceiptCheck {
        { container in
            // A receipt contains its own chain, so no chain is known before it is parsed.
            guard !onlyKnownChains else { throw SignatureRefusal.untrustedRoot }
            let signed = try SignedData(container)
            let instant = AppStoreSigning.creationDate(ofReceipt: signed.content) ?? now
            let signer = try receiptVerifier.signer(
                of: signed,
                at: instant.millisecondsSince1970
            )
            if !isStored { try revocations?.check(signer) }
            guard let authority = receiptAuthorities[signer.anchor] else {
                preconditionFailure("an anchor that verified is one of those configured")
            }
            return VerifiedReceipt(content: signed.content, authority: authority)
        }
    }

    /// Returns why a check or a reader rejected data, as a sentence.
    package static func reason(_ error: any Error) -> String {
        (error as? any Refusal)?.sentence ?? String(reflecting: type(of: error))
    }

    /// Reads any data that the App Store signs: a notification, a signed document, a receipt, or a
    /// response of verifyReceipt with a receipt in it. Data without a date is checked at `now`.
    package func read(
        _ bytes: [UInt8],
        at now: Instant,
        isStored: Bool = false
    ) throws -> AppStoreReading {
        try AppStoreReader(app: identity).read(
            bytes,
            check: check(at: now, isStored: isStored),
            receipts: receiptCheck(at: now, isStored: isStored)
        )
    }

    /// Reads a receipt of StoreKit 1, or a response of verifyReceipt that contains one. It verifies
    /// the receipt and checks that it is for this app.
    ///
    /// - Throws: a refusal with a code and a sentence: ``AppStoreRefusal`` or `SignatureRefusal`.
    package func readReceipt(_ bytes: [UInt8], at now: Instant) throws -> AppStoreReading {
        let reader = AppStoreReader(app: identity)
        return AppStoreInput(bytes) == .receiptAnswer
            ? try reader.readReceiptAnswer(bytes, check: receiptCheck(at: now))
            : try reader.readReceipt(bytes, check: receiptCheck(at: now))
    }
}
