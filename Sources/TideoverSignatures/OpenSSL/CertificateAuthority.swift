import CTideoverOpenSSL
import TideoverCalendar

/// A private key that can be certified or can certify others.
public struct CertificateKey: Sendable {
    private enum Storage: Sendable {
        case ellipticCurve(PrivateKeyStorage)
        case rsa(RSAPrivateKey)
    }

    private let storage: Storage

    /// Wraps a P-256 key, so that certificates can be created for it.
    public init(_ key: P256PrivateKey) {
        storage = .ellipticCurve(key.storage)
    }

    /// Wraps an RSA key, so that certificates can be created for it.
    public init(_ key: RSAPrivateKey) {
        storage = .rsa(key)
    }

    private init(_ storage: PrivateKeyStorage) {
        self.storage = .ellipticCurve(storage)
    }

    fileprivate init(pem: String) throws(KeyError) {
        guard let der = PEM.decode(pem, label: Self.pemLabel) else { throw .notPEM }
        self.init(try PrivateKeyStorage(pkcs8: der))
    }

    fileprivate var pem: String {
        switch storage {
        case .ellipticCurve(let storage): PEM.encode(storage.pkcs8, label: Self.pemLabel)
        case .rsa(let key): key.pem
        }
    }

    private static let pemLabel = "PRIVATE KEY"

    /// A new random key.
    public static func generate(_ curve: EllipticCurve) -> CertificateKey {
        CertificateKey(PrivateKeyStorage(generating: curve))
    }

    /// The key's curve; nil for an RSA key.
    public var curve: EllipticCurve? {
        if case .ellipticCurve(let storage) = storage { storage.curve } else { nil }
    }

    /// Runs `body` with exclusive access to libcrypto's `EVP_PKEY`; `body` must not retain it.
    fileprivate func withKey<Answer: Sendable>(_ body: (OpaquePointer) -> Answer) -> Answer {
        switch storage {
        case .ellipticCurve(let storage): storage.withKey(body)
        case .rsa(let key): key.withKey(body)
        }
    }

    /// 160 bits of the SHA-256 of the public half (RFC 7093 section 2, method 1).
    fileprivate var identifier: [UInt8] {
        switch storage {
        case .ellipticCurve(let storage): Array(SHA256.hash(storage.point).prefix(20))
        case .rsa(let key): Array(SHA256.hash(key.spki).prefix(20))
        }
    }
}

/// A certificate with its private key, which issues further certificates: the authority that signs
/// a simulated store's documents.
public struct CertificateAuthority: Sendable {
    /// The authority's own certificate as DER.
    public let certificate: [UInt8]
    private let key: CertificateKey
    private let subject: String
    private let keyIdentifier: [UInt8]

    private init(certificate: [UInt8], key: CertificateKey, subject: String) {
        self.certificate = certificate
        self.key = key
        self.subject = subject
        keyIdentifier = key.identifier
    }

    /// Restores an authority from its certificate, its key as PKCS #8 in PEM, and the subject of
    /// the certificate.
    ///
    /// - Throws: `notPEM` or `malformed` if the key is not on P-256 or P-384.
    public init(certificate: [UInt8], privateKeyPEM: String, subject: String) throws(KeyError) {
        self.init(
            certificate: certificate,
            key: try CertificateKey(pem: privateKeyPEM),
            subject: subject
        )
    }

    /// The key as PKCS #8 in PEM. This is the secret: store it in a file, never in a log.
    public var privateKeyPEM: String { key.pem }

    /// Creates a self-signed authority: a root.
    public static func selfSigned(
        _ template: CertificateTemplate,
        key: CertificateKey
    ) throws(MintingError) -> CertificateAuthority {
        let issuer = CertificateAuthority(certificate: [], key: key, subject: template.subject)
        return try issuer.authority(template, key: key)
    }

    /// Creates an authority signed by this one.
    public func authority(
        _ template: CertificateTemplate,
        key: CertificateKey
    ) throws(MintingError) -> CertificateAuthority {
        let certificate = try certificate(template, for: key)
        return CertificateAuthority(certificate: certificate, key: key, subject: template.subject)
    }

    /// Returns the DER of a certificate for another key, signed by this authority. The digest is
    /// SHA-384 for an authority key on P-384, otherwise SHA-256, unless the template requires
    /// SHA-1.
    public func certificate(
        _ template: CertificateTemplate,
        for subjectKey: CertificateKey
    ) throws(MintingError) -> [UInt8] {
        let draft = CertificateDraft()
        try draft.write(template)
        try draft.writeIssuer(subject, keyIdentifier: keyIdentifier)
        draft.write(subjectKey)
        return draft.signed(by: key, template.isSignedWithSHA1 ? EVP_sha1() : nil)
    }
}

/// A certificate under construction.
private struct CertificateDraft: ~Copyable {
    private let handle: OpaquePointer

    init() {
        guard let handle = X509_new(), X509_set_version(handle, 2) == 1 else {
            preconditionFailure("libcrypto could not make a certificate")
        }
        self.handle = handle
    }

    deinit {
        X509_free(handle)
    }

    func write(_ template: CertificateTemplate) throws(MintingError) {
        let serial = X509_get_serialNumber(handle)
        must(ASN1_INTEGER_set_uint64(serial, template.serial) == 1)
        try write(template.notBefore, to: X509_getm_notBefore(handle))
        try write(template.notAfter, to: X509_getm_notAfter(handle))
        try write(template.subject, to: X509_get_subject_name(handle))
        if let constraints = template.basicConstraints {
            try write(constraints)
        }
        if let usage = template.keyUsage {
            write(usage)
        }
        for item in template.extensions {
            try write(item)
        }
    }

    func writeIssuer(_ name: String, keyIdentifier: [UInt8]) throws(MintingError) {
        try write(name, to: X509_get_issuer_name(handle))
        let identifier = made(AUTHORITY_KEYID_new())
        defer { AUTHORITY_KEYID_free(identifier) }
        identifier.pointee.keyid = octets(keyIdentifier)
        add(NID_authority_key_identifier, identifier, isCritical: false)
    }

    func write(_ key: CertificateKey) {
        must(key.withKey { X509_set_pubkey(handle, $0) } == 1)
        let identifier = octets(key.identifier)
        defer { ASN1_OCTET_STRING_free(identifier) }
        add(NID_subject_key_identifier, identifier, isCritical: false)
    }

    func signed(by key: CertificateKey, _ digest: OpaquePointer?) -> [UInt8] {
        let digest = digest ?? (key.curve == .p384 ? EVP_sha384() : EVP_sha256())
        must(key.withKey { X509_sign(handle, $0, digest) } > 0)
        guard let der = encode({ i2d_X509(handle, $0) }) else {
            preconditionFailure("libcrypto could not write a certificate")
        }
        return der
    }
}

extension CertificateDraft {
    private func write(
        _ milliseconds: Int64,
        to time: UnsafeMutablePointer<ASN1_TIME>?
    ) throws(MintingError) {
        // libcrypto itself would write years of five digits, and then fail to sign them.
        guard CertificateTime.writable.contains(milliseconds) else { throw .instant(milliseconds) }
        let seconds = milliseconds.flooredQuotient(by: 1000)
        must(ASN1_TIME_set(time, time_t(seconds)) != nil)
    }

    private func write(_ commonName: String, to name: OpaquePointer?) throws(MintingError) {
        let text = Array(commonName.utf8)
        let isWritten = withCleanErrors {
            !text.isEmpty
                && X509_NAME_add_entry_by_NID(
                    name,
                    NID_commonName,
                    MBSTRING_UTF8,
                    text,
                    Int32(text.count),
                    -1,
                    0
                ) == 1
        }
        guard isWritten else { throw .subject(commonName) }
    }

    private func write(_ constraints: BasicConstraints) throws(MintingError) {
        let value = made(BASIC_CONSTRAINTS_new())
        defer { BASIC_CONSTRAINTS_free(value) }
        value.pointee.ca = constraints.isAuthority ? 0xFF : 0
        if let length = constraints.pathLength {
            guard length >= 0 else { throw .pathLength(length) }
            value.pointee.pathlen = ASN1_INTEGER_new()
            must(ASN1_INTEGER_set_uint64(value.pointee.pathlen, UInt64(length)) == 1)
        }
        add(NID_basic_constraints, value, isCritical: true)
    }

    private func write(_ usage: KeyUsage) {
        let bits = made(ASN1_BIT_STRING_new())
        defer { ASN1_BIT_STRING_free(bits) }
        for bit in 0..<KeyUsage.bitCount
        where usage.contains(KeyUsage(rawValue: 1 << UInt16(bit))) {
            must(ASN1_BIT_STRING_set_bit(bits, Int32(bit), 1) == 1)
        }
        add(NID_key_usage, bits, isCritical: true)
    }

    private func write(_ item: CertificateExtension) throws(MintingError) {
        let object = withCleanErrors { OBJ_txt2obj(item.identifier, 1) }
        guard let object else { throw .objectIdentifier(item.identifier) }
        defer { ASN1_OBJECT_free(object) }
        let value = octets(item.value)
        defer { ASN1_OCTET_STRING_free(value) }
        let ready = made(
            X509_EXTENSION_create_by_OBJ(nil, object, item.isCritical ? 1 : 0, value)
        )
        defer { X509_EXTENSION_free(ready) }
        must(X509_add_ext(handle, ready, -1) == 1)
    }

    private func add(_ nid: Int32, _ value: UnsafeMutableRawPointer?, isCritical: Bool) {
        must(X509_add1_ext_i2d(handle, nid, value, isCritical ? 1 : 0, 0) == 1)
    }

    private func octets(_ bytes: [UInt8]) -> UnsafeMutablePointer<ASN1_OCTET_STRING> {
        let string = made(ASN1_OCTET_STRING_new())
        must(ASN1_OCTET_STRING_set(string, bytes, Int32(bytes.count)) == 1)
        return string
    }

    private func must(_ isDone: Bool) {
        precondition(isDone, "libcrypto could not write a certificate")
    }

    private func made<Value>(_ value: Value?) -> Value {
        guard let value else { preconditionFailure("libcrypto has no memory left") }
        return value
    }
}
