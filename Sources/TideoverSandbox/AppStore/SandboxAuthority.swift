import TideoverCalendar
public import TideoverJSON
public import TideoverSignatures

/// The simulated store's own certificate chain and signing key. Only receivers that are configured
/// with its root trust it.
public struct SandboxAuthority: Sendable {
    /// The name in the root certificate, different from the name of any real store's root.
    public static let rootName = "Tideover Simulated Store Root"
    private static let intermediateName = "Tideover Simulated Store Authority"
    /// The extension that marks the App Store's signing certificates.
    public static let leafMarker = "1.2.840.113635.100.6.11.1"
    /// The extension that marks the authority above them.
    public static let intermediateMarker = "1.2.840.113635.100.6.2.1"

    /// The root certificate as DER, which a receiver must trust for simulated data.
    public let root: [UInt8]
    private let intermediate: CertificateAuthority
    private let validity: ClosedRange<Int64>
    private let header: JSONObject
    private let key: P256PrivateKey
    /// The clock that dates all signed content.
    private(set) var dial = StoreTimeScale.identity

    /// Creates new keys, and certificates valid between two instants, in milliseconds since 1970;
    /// by default from 2000 to the end of 2099.
    ///
    /// - Throws: `instant` if a certificate cannot contain one of them.
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

    /// Creates a new signing key certified by the intermediate authority.
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

    /// Returns the same authority, dating its output by another clock than the store's.
    func dating(by dial: StoreTimeScale) -> SandboxAuthority {
        var authority = self
        authority.dial = dial
        return authority
    }

    /// Returns the same authority with another signing key, as the App Store sometimes changes its
    /// key.
    func withNewKey() -> SandboxAuthority {
        do {
            return try SandboxAuthority(root, intermediate, validity).dating(by: dial)
        } catch {
            preconditionFailure("what could be certified once can be again: \(error)")
        }
    }

    /// Returns the same authority with a signing certificate that had expired at an instant.
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

    /// Returns the store's request body with a payload changed before it is signed.
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

    /// Returns the store's request body, `{"signedPayload":"..."}`, with all of its content signed.
    ///
    /// - Throws: `tooLarge` for content that no receiver would read.
    public func body(of notification: AppStoreNotification) throws(SignatureRefusal) -> [UInt8] {
        let body: JSONObject = ["signedPayload": try signed(notification)]
        return JSONValue.object(body).encoded()
    }

    /// Signs a notification, with its content signed inside.
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

    /// Signs one document of the store, such as a transaction, in compact form.
    func signed(_ content: JSONObject) throws(SignatureRefusal) -> JSONValue {
        let payload = JSONValue.object(dial.dated(content)).encoded()
        let compact = try JWS.sign(header: header, payload: payload, with: key)
        return .string(String(decoding: compact, as: UTF8.self))
    }
}

// MARK: - In a file

/// Stores an authority across rehearsals, so that its root must be trusted only once.
extension SandboxAuthority {
    /// The certifying authority and the root, as a JSON object. Any reader of it can sign as this
    /// store, so its file must be private.
    public var file: JSONValue {
        [
            "root": .string(Base64.encodeString(root, .standard)),
            "authority": .string(Base64.encodeString(intermediate.certificate, .standard)),
            "privateKey": .string(intermediate.privateKeyPEM),
            "notBefore": .integer(validity.lowerBound),
            "notAfter": .integer(validity.upperBound),
        ]
    }

    /// Creates the authority in a file, with a new signing key.
    ///
    /// - Throws: `SandboxAuthorityFileError` for a file without an authority.
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
