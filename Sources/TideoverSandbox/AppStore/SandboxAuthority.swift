public import TideoverJSON
public import TideoverSignatures

/// The simulated store's own chain of certificates, and the key it signs with. Nothing trusts it but
/// those who are handed its root.
public struct SandboxAuthority: Sendable {
    /// The name in the root certificate, which no store's own root bears.
    public static let rootName = "Tideover Simulated Store Root"
    private static let intermediateName = "Tideover Simulated Store Authority"
    /// The extension that marks the App Store's signing certificates.
    public static let leafMarker = "1.2.840.113635.100.6.11.1"
    /// The extension that marks the authority above them.
    public static let intermediateMarker = "1.2.840.113635.100.6.2.1"

    /// The root certificate as DER: what a receiver is to trust for simulated data.
    public let root: [UInt8]
    private let intermediate: CertificateAuthority
    private let validity: ClosedRange<Int64>
    private let header: JSONObject
    private let key: P256PrivateKey
    /// By which clock everything signed is dated.
    private(set) var dial = StoreDial.identity

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
                subject: SandboxAuthority.intermediateName,
                notBefore: notBefore,
                notAfter: notAfter,
                marker: SandboxAuthority.intermediateMarker
            ),
            key: .generate(.p384)
        )
        try self.init(root.certificate, intermediate, notBefore...notAfter)
    }

    /// A new key that signs in the name of the intermediate authority.
    private init(
        _ root: [UInt8],
        _ intermediate: CertificateAuthority,
        _ validity: ClosedRange<Int64>,
        leafValidity: ClosedRange<Int64>? = nil
    ) throws(MintingError) {
        let (notBefore, notAfter) = (
            (leafValidity ?? validity).lowerBound, (leafValidity ?? validity).upperBound
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
        self.root = root
        self.intermediate = intermediate
        self.validity = validity
        self.key = key
        let chain = [leaf, intermediate.certificate, root]
        header = [
            "alg": "ES256",
            "x5c": .array(chain.map { .string(Base64.encodeString($0, .standard)) }),
        ]
    }

    /// The same authority, dating what it signs by another clock than the store's.
    func dating(by dial: StoreDial) -> SandboxAuthority {
        var authority = self
        authority.dial = dial
        return authority
    }

    /// The same authority, signing with another key from now on, as the App Store now and then does.
    func withNewKey() -> SandboxAuthority {
        do {
            return try SandboxAuthority(root, intermediate, validity).dating(by: dial)
        } catch {
            preconditionFailure("what could be certified once can be again: \(error)")
        }
    }

    /// The same authority, signing with a certificate that was over at an instant.
    func expired(by instant: Int64) -> SandboxAuthority {
        let year = 365 * CivilDate.millisecondsPerDay
        do {
            return try SandboxAuthority(
                root,
                intermediate,
                validity,
                leafValidity: instant - year...instant
            ).dating(by: dial)
        } catch {
            preconditionFailure("a certificate can end when the store's clock shows: \(error)")
        }
    }

    /// The body that the store would post, were the payload changed before it is signed.
    package func body(
        of notification: AppStoreNotification,
        changed: (inout JSONObject) -> Void
    ) throws(SignatureRefusal) -> [UInt8] {
        var payload = notification.payload(
            transaction: try signed(notification.transaction),
            renewal: try signed(notification.renewal)
        )
        changed(&payload)
        let body: JSONObject = ["signedPayload": try signed(payload)]
        return JSONValue.object(body).encoded()
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
        let payload = JSONValue.object(dial.dated(content)).encoded()
        let compact = try JWS.sign(header: header, payload: payload, with: key)
        return .string(String(decoding: compact, as: UTF8.self))
    }
}

// MARK: - In a file

/// What keeps an authority from one rehearsal to the next, so that its root need be trusted only once.
extension SandboxAuthority {
    /// The authority that certifies, and the root, as a JSON object. Whoever reads it signs as this store:
    /// it belongs into a file that nobody else opens.
    public var file: JSONValue {
        [
            "root": .string(Base64.encodeString(root, .standard)),
            "authority": .string(Base64.encodeString(intermediate.certificate, .standard)),
            "privateKey": .string(intermediate.privateKeyPEM),
            "notBefore": .integer(validity.lowerBound),
            "notAfter": .integer(validity.upperBound),
        ]
    }

    /// The authority that a file keeps, with a new key to sign with.
    ///
    /// - Throws: `SandboxAuthorityFileError` for a file that keeps none.
    public init(file bytes: [UInt8]) throws(SandboxAuthorityFileError) {
        guard let document = try? JSONDocument(bytes, limits: .local).root else { throw .notJSON }
        func certificate(_ name: String) throws(SandboxAuthorityFileError) -> [UInt8] {
            let text = document[name]?.string
            guard let der = text.flatMap({ Base64.decode(Array($0.utf8), .standard) }) else {
                throw .noCertificates
            }
            return der
        }
        let (root, authority) = (try certificate("root"), try certificate("authority"))
        let key = document["privateKey"]?.string.flatMap {
            try? CertificateAuthority(
                certificate: authority,
                privateKeyPEM: $0,
                subject: SandboxAuthority.intermediateName
            )
        }
        guard let key else { throw .noKey }
        guard let notBefore = document["notBefore"]?.int64,
            let notAfter = document["notAfter"]?.int64, notBefore <= notAfter
        else { throw .noValidity }
        do {
            try self.init(root, key, notBefore...notAfter)
        } catch {
            throw .noValidity
        }
    }
}
