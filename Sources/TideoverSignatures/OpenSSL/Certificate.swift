import CTideoverOpenSSL

/// An X.509 certificate decoded by libcrypto.
///
/// It lives inside one call on one thread. Only `CertificateFacts` or the DER outlive the call; the
/// DER is decoded again when needed. That is cheap compared with the public-key operation, and no
/// libcrypto handle is shared between threads.
struct Certificate: ~Copyable {
    /// The maximum size of a certificate in bytes; real ones have 1 to 1.5 KiB.
    static let maximumByteCount = 4096

    /// The encoded certificate.
    let der: [UInt8]
    /// libcrypto's certificate, only for calls that take one. It must not outlive this value.
    let handle: OpaquePointer

    /// nil if the bytes are not exactly one certificate.
    init?(der: [UInt8]) {
        let handle = withCleanErrors {
            decodeExactly(der, free: X509_free) { d2i_X509(nil, &$0, $1) }
        }
        guard let handle else { return nil }
        self.der = der
        self.handle = handle
    }

    deinit {
        X509_free(handle)
    }

    /// The DER of the issuer's name.
    var issuer: [UInt8]? { name(X509_get_issuer_name(handle)) }

    /// The identifier of the issuer's key, if present.
    var authorityKeyIdentifier: [UInt8]? {
        withCleanErrors { bytes(X509_get0_authority_key_id(handle)) }
    }

    /// The identifier of this certificate's own key, if present.
    var subjectKeyIdentifier: [UInt8]? {
        withCleanErrors { bytes(X509_get0_subject_key_id(handle)) }
    }

    /// The serial number, big-endian and without a sign.
    var serialNumber: [UInt8]? {
        withCleanErrors { bytes(X509_get0_serialNumber(handle)) }
    }

    /// Returns whether the key in `authority` signed this certificate. Costs one public-key
    /// operation.
    func isSigned(by authority: borrowing Certificate) -> Bool {
        withCleanErrors {
            guard let key = X509_get0_pubkey(authority.handle) else { return false }
            return X509_verify(handle, key) == 1
        }
    }

    /// Returns the error of OpenSSL's path validation for the path from `leaf` through
    /// `intermediate` to `anchor`; nil if the path is valid. Validity periods and the system's
    /// stores are ignored. Costs at most two public-key operations.
    ///
    /// The validation is strict, as RFC 5280 defines it, below every anchor with a key identifier.
    /// Strict mode requires that identifier, so it is off below an anchor without one.
    static func objection(
        toLeaf leaf: borrowing Certificate,
        intermediate: borrowing Certificate,
        anchor: borrowing Certificate
    ) -> String? {
        let strict = anchor.subjectKeyIdentifier == nil ? 0 : X509_V_FLAG_X509_STRICT
        return withCleanErrors {
            let store = X509_STORE_new()
            defer { X509_STORE_free(store) }
            let between = OPENSSL_sk_new_null()
            defer { OPENSSL_sk_free(between) }
            let context = X509_STORE_CTX_new()
            defer { X509_STORE_CTX_free(context) }
            guard X509_STORE_set_flags(store, UInt(X509_V_FLAG_NO_CHECK_TIME | strict)) == 1,
                X509_STORE_add_cert(store, anchor.handle) == 1,
                OPENSSL_sk_push(between, UnsafeRawPointer(intermediate.handle)) > 0,
                X509_STORE_CTX_init(context, store, leaf.handle, between) == 1
            else { return "libcrypto could not begin" }
            if X509_verify_cert(context) == 1 { return nil }
            let code = X509_STORE_CTX_get_error(context)
            return X509_verify_cert_error_string(Int(code)).map { String(cString: $0) }
                ?? "error \(code)"
        }
    }

    /// Whether the certificate states that its key may sign OCSP responses for its issuer.
    var allowsOCSPSigning: Bool {
        withCleanErrors {
            let flags = Int64(X509_get_extension_flags(handle))
            // Without the extension libcrypto reports every usage.
            return flags & Int64(EXFLAG_XKUSAGE) != 0 && flags & Int64(EXFLAG_INVALID) == 0
                && Int64(X509_get_extended_key_usage(handle)) & Int64(XKU_OCSP_SIGN) != 0
        }
    }

    /// The URLs of the OCSP responders in the certificate, at most `maximum`.
    func ocspResponders(atMost maximum: Int) -> [String] {
        withCleanErrors {
            guard let urls = X509_get1_ocsp(handle) else { return [] }
            defer { X509_email_free(urls) }
            return (0..<min(OPENSSL_sk_num(urls), Int32(maximum))).compactMap { index in
                OPENSSL_sk_value(urls, index).map {
                    String(cString: $0.assumingMemoryBound(to: CChar.self))
                }
            }
        }
    }

    /// The content of the certificate. nil if a required part is malformed, an extension is
    /// repeated, or there are unreasonably many extensions.
    var facts: CertificateFacts? {
        withCleanErrors {
            guard let subject = name(X509_get_subject_name(handle)), let validity,
                let extensions, let basicConstraints, let keyUsage
            else { return nil }
            return CertificateFacts(
                subject: subject,
                validity: validity,
                signature: signature,
                basicConstraints: basicConstraints.value,
                keyUsage: keyUsage.value,
                extensions: extensions,
                key: SubjectKey(X509_get_X509_PUBKEY(handle)),
                rsaKey: RSASubjectKey(X509_get_X509_PUBKEY(handle))
            )
        }
    }
}

extension Certificate {
    private static let maximumExtensionCount: Int32 = 32

    /// An extension that may be absent. The whole reading is nil if the extension is present but
    /// malformed.
    private struct Reading<Value> {
        var value: Value?
    }

    private func name(_ name: OpaquePointer?) -> [UInt8]? {
        encode { i2d_X509_NAME(name, $0) }
    }

    private func bytes(_ string: UnsafePointer<ASN1_OCTET_STRING>?) -> [UInt8]? {
        guard let string else { return nil }
        let count = Int(ASN1_STRING_length(string))
        return Array(UnsafeBufferPointer(start: ASN1_STRING_get0_data(string), count: count))
    }

    private var validity: Validity? {
        guard let notBefore = instant(X509_get0_notBefore(handle)),
            let notAfter = instant(X509_get0_notAfter(handle))
        else { return nil }
        return Validity(notBefore: notBefore, notAfter: notAfter)
    }

    private func instant(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
        guard let time, let text = bytes(time) else { return nil }
        return switch ASN1_STRING_type(time) {
        case V_ASN1_UTCTIME: CertificateTime.utcTime(text)
        case V_ASN1_GENERALIZEDTIME: CertificateTime.generalizedTime(text)
        default: nil
        }
    }

    private var signature: KeyFamily? {
        switch X509_get_signature_nid(handle) {
        case NID_ecdsa_with_SHA256, NID_ecdsa_with_SHA384, NID_ecdsa_with_SHA512: .ellipticCurve
        case NID_sha1WithRSAEncryption, NID_sha256WithRSAEncryption, NID_sha384WithRSAEncryption,
            NID_sha512WithRSAEncryption:
            .rsa
        default: nil
        }
    }

    private var extensions: [CertificateFacts.Extension]? {
        let count = X509_get_ext_count(handle)
        guard count <= Self.maximumExtensionCount else { return nil }
        var found: [CertificateFacts.Extension] = []
        for index in 0..<max(0, count) {
            let item = X509_get_ext(handle, index)
            guard let identifier = dotted(X509_EXTENSION_get_object(item)),
                !found.contains(where: { $0.identifier == identifier })
            else { return nil }
            let isCritical = X509_EXTENSION_get_critical(item) != 0
            found.append(.init(identifier: identifier, isCritical: isCritical))
        }
        return found
    }

    private func dotted(_ identifier: OpaquePointer?) -> String? {
        var text = [CChar](repeating: 0, count: 256)
        let count = Int(OBJ_obj2txt(&text, Int32(text.count), identifier, 1))
        guard count > 0, count < text.count else { return nil }
        return String(decoding: text.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private var basicConstraints: Reading<BasicConstraints>? {
        guard let reading = decoded(NID_basic_constraints) else { return nil }
        guard let value = reading.value else { return Reading() }
        let constraints = value.assumingMemoryBound(to: BASIC_CONSTRAINTS.self)
        defer { BASIC_CONSTRAINTS_free(constraints) }
        var pathLength: Int?
        if let number = constraints.pointee.pathlen {
            var wide: Int64 = -1
            guard ASN1_INTEGER_get_int64(&wide, number) == 1, wide >= 0 else { return nil }
            pathLength = Int(wide)
        }
        return Reading(
            value: BasicConstraints(
                isAuthority: constraints.pointee.ca != 0,
                pathLength: pathLength
            )
        )
    }

    private var keyUsage: Reading<KeyUsage>? {
        guard let reading = decoded(NID_key_usage) else { return nil }
        guard let value = reading.value else { return Reading() }
        let string = value.assumingMemoryBound(to: ASN1_BIT_STRING.self)
        defer { ASN1_BIT_STRING_free(string) }
        var usage: KeyUsage = []
        for bit in 0..<KeyUsage.bitCount where ASN1_BIT_STRING_get_bit(string, Int32(bit)) == 1 {
            usage.insert(KeyUsage(rawValue: 1 << UInt16(bit)))
        }
        return Reading(value: usage)
    }

    /// libcrypto reports -1 for an absent extension, and returns no value for a malformed one.
    private func decoded(_ nid: Int32) -> Reading<UnsafeMutableRawPointer>? {
        var critical: Int32 = 0
        let value = X509_get_ext_d2i(handle, nid, &critical, nil)
        return value == nil && critical != -1 ? nil : Reading(value: value)
    }
}
