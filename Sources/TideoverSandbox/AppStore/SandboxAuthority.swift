import TideoverJSON
public import TideoverSignatures

/// The simulated store's own chain of certificates, and the key it signs with. Nothing trusts it but
/// those who are handed its root.
public struct SandboxAuthority: Sendable {
    /// The name in the root certificate, which no store's own root bears.
    public static let rootName = "Tideover Simulated Store Root"
    /// The extension that marks the App Store's signing certificates.
    public static let leafMarker = "1.2.840.113635.100.6.11.1"
    /// The extension that marks the authority above them.
    public static let intermediateMarker = "1.2.840.113635.100.6.2.1"

    /// The root certificate as DER: what a receiver is to trust for simulated data.
    public let root: [UInt8]
    /// What it signs with and those above it as DER, the root last.
    let chain: [[UInt8]]
    private let header: JSONObject
    let key: P256PrivateKey

    /// Makes new keys, and certificates valid between two instants, in milliseconds since 1970; without
    /// them from 2000 to the end of 2099.
    ///
    /// - Throws: `instant` when a certificate cannot state one of them.
    public init(
        notBefore: Int64 = 946_684_800_000,
        notAfter: Int64 = 4_102_444_799_000
    ) throws(MintingError) {
        let root = try CertificateAuthority.selfSigned(
            .root(subject: SandboxAuthority.rootName, notBefore: notBefore, notAfter: notAfter),
            key: .generate(.p384)
        )
        let intermediate = try root.authority(
            .intermediate(
                subject: "Tideover Simulated Store Authority",
                notBefore: notBefore,
                notAfter: notAfter,
                marker: SandboxAuthority.intermediateMarker
            ),
            key: .generate(.p384)
        )
        let key = P256PrivateKey.generate()
        let leaf = try intermediate.certificate(
            .leaf(
                subject: "Tideover Simulated Store Signing",
                notBefore: notBefore,
                notAfter: notAfter,
                marker: SandboxAuthority.leafMarker
            ),
            for: CertificateKey(key)
        )
        self.init(
            chain: [leaf, intermediate.certificate],
            root: root.certificate,
            key: key
        )
    }

    /// An authority made before: the certificates below the root from the signing one up.
    init(chain: [[UInt8]], root: [UInt8], key: P256PrivateKey) {
        self.chain = chain + [root]
        self.root = root
        self.key = key
        header = [
            "alg": "ES256",
            "x5c": .array(self.chain.map { .string(Base64.encodeString($0, .standard)) }),
        ]
    }

    /// The body that the store posts: `{"signedPayload":"..."}`, with everything in it signed.
    ///
    /// - Throws: `tooLarge` for content that no receiver would read.
    public func body(of notification: AppStoreNotification) throws(SignatureRefusal) -> [UInt8] {
        let body: JSONObject = ["signedPayload": try signed(notification)]
        return JSONValue.object(body).encoded()
    }

    /// A notification as the store signs it, with what it carries signed inside.
    func signed(_ notification: AppStoreNotification) throws(SignatureRefusal) -> JSONValue {
        try signed(
            notification.payload(
                transaction: try signed(notification.transaction),
                renewal: try signed(notification.renewal)
            )
        )
    }

    private func signed(_ content: JSONObject?) throws(SignatureRefusal) -> JSONValue? {
        guard let content else { return nil }
        return try signed(content)
    }

    /// One document of the store's, such as a transaction, in compact form.
    func signed(_ content: JSONObject) throws(SignatureRefusal) -> JSONValue {
        let payload = JSONValue.object(content).encoded()
        let compact = try JWS.sign(header: header, payload: payload, with: key)
        return .string(String(decoding: compact, as: UTF8.self))
    }
}
