import CTideoverOpenSSL

/// The verified statement of an OCSP responder about one certificate (RFC 6960).
public struct RevocationStatement: Hashable, Sendable {
    /// The status of a certificate.
    public enum Status: Hashable, Sendable {
        /// It is not revoked.
        case good
        /// It is revoked, since this instant in milliseconds since 1970.
        case revoked(at: Int64)
        /// The responder does not know it.
        case unknown
    }

    public let status: Status
    /// When the status was known to be correct, in milliseconds since 1970.
    public let thisUpdate: Int64
    /// The last instant at which the statement is current, in milliseconds since 1970.
    public let validUntil: Int64
}

/// The reason why an OCSP response says nothing about a certificate.
public enum OCSPRefusal: String, Error, Hashable, Sendable, CaseIterable {
    /// The response is longer than `OCSPResponse.maximumByteCount`.
    case tooLarge = "too-large"
    /// The bytes are not an OCSP response with a basic response in it.
    case malformed
    /// The responder reports an error instead of a status.
    case unsuccessful
    /// The response is about other certificates.
    case otherCertificate = "other-certificate"
    /// Neither the issuer nor a responder that the issuer certified for OCSP signed the response.
    case untrustedSigner = "untrusted-signer"
    /// The signature is not by ECDSA or RSA with SHA-2.
    case algorithm
    /// The response has a critical extension.
    case criticalExtension = "critical-extension"
    /// The response is dated in the future.
    case notYetValid = "not-yet-valid"
    /// The response was replaced by a newer one since.
    case expired
}

/// Verifies OCSP responses (RFC 6960).
///
/// The signer must be the certificate's issuer, or a certificate that the same issuer signed for
/// the usage OCSP signing. No other chain is accepted, not even one below the same anchor.
public enum OCSPResponse {
    /// The maximum size of a response in bytes; real ones have 0.5 to 4 KiB.
    public static let maximumByteCount = 32 << 10
    /// How far the responder's clock may be ahead, in milliseconds.
    static let clockTolerance: Int64 = 300_000
    /// How long a response is current that does not state when it is replaced, in milliseconds.
    static let defaultLife: Int64 = 24 * 3_600_000
    /// How long any response is current at most, in milliseconds.
    static let longestLife: Int64 = 14 * 24 * 3_600_000
    fileprivate static let mostCertificates: Int32 = 4

    /// Returns the verified statement about a certificate at an instant, in milliseconds since
    /// 1970.
    public static func verify(
        _ bytes: [UInt8],
        about certificate: IssuedCertificate,
        at milliseconds: Int64
    ) throws(OCSPRefusal) -> RevocationStatement {
        guard bytes.count <= maximumByteCount else { throw .tooLarge }
        let basic = try BasicResponse(bytes)
        try basic.checkSignature(by: certificate, at: milliseconds)
        let statement = try basic.statement(about: certificate)
        guard statement.thisUpdate <= milliseconds + clockTolerance else { throw .notYetValid }
        guard milliseconds <= statement.validUntil else { throw .expired }
        return statement
    }

    /// libcrypto's basic response.
    fileprivate struct BasicResponse: ~Copyable {
        fileprivate let handle: OpaquePointer

        fileprivate init(_ bytes: [UInt8]) throws(OCSPRefusal) {
            let (status, handle) = withCleanErrors { () -> (Int32?, OpaquePointer?) in
                let response = decodeExactly(bytes, free: OCSP_RESPONSE_free) {
                    d2i_OCSP_RESPONSE(nil, &$0, $1)
                }
                guard let response else { return (nil, nil) }
                defer { OCSP_RESPONSE_free(response) }
                let status = OCSP_response_status(response)
                guard status == OCSP_RESPONSE_STATUS_SUCCESSFUL else { return (status, nil) }
                return (status, OCSP_response_get1_basic(response))
            }
            guard let status else { throw .malformed }
            guard status == OCSP_RESPONSE_STATUS_SUCCESSFUL else { throw .unsuccessful }
            guard let handle else { throw .malformed }
            self.handle = handle
        }

        deinit { OCSP_BASICRESP_free(handle) }
    }
}

// MARK: - The signature

extension OCSPResponse.BasicResponse {
    fileprivate func checkSignature(
        by certificate: IssuedCertificate,
        at milliseconds: Int64
    ) throws(OCSPRefusal) {
        guard isSignedWithSHA2 else { throw .algorithm }
        guard let issuer = Certificate(der: certificate.issuer) else { throw .untrustedSigner }
        if isSigned(by: issuer) { return }
        let certificates = OCSP_resp_get0_certs(handle)
        // The count is -1 without certificates.
        let count = OPENSSL_sk_num(certificates)
        guard count <= OCSPResponse.mostCertificates else { throw .untrustedSigner }
        for index in 0..<max(0, count) {
            guard let responder = Certificate(OPENSSL_sk_value(certificates, index)),
                isResponder(responder, of: issuer, at: milliseconds),
                isSigned(by: responder)
            else { continue }
            return
        }
        throw .untrustedSigner
    }

    private var isSignedWithSHA2: Bool {
        guard let algorithm = OCSP_resp_get0_tbs_sigalg(handle) else { return false }
        return switch OBJ_obj2nid(algorithm.pointee.algorithm) {
        case NID_ecdsa_with_SHA256, NID_ecdsa_with_SHA384, NID_ecdsa_with_SHA512,
            NID_sha256WithRSAEncryption, NID_sha384WithRSAEncryption, NID_sha512WithRSAEncryption:
            true
        default: false
        }
    }

    /// Whether the response names this certificate as its signer and its key made the signature.
    /// Costs one public-key operation if it does. No certificate in the response is used.
    private func isSigned(by signer: borrowing Certificate) -> Bool {
        withCleanErrors {
            let only = OPENSSL_sk_new_null()
            defer { OPENSSL_sk_free(only) }
            guard OPENSSL_sk_push(only, UnsafeRawPointer(signer.handle)) > 0 else { return false }
            let flags = OCSP_NOINTERN | OCSP_NOVERIFY
            return OCSP_basic_verify(handle, only, nil, UInt(flags)) == 1
        }
    }

    /// Whether the issuer itself certified the key for OCSP responses. The responder's own
    /// revocation is not checked, as with `id-pkix-ocsp-nocheck`.
    private func isResponder(
        _ responder: borrowing Certificate,
        of issuer: borrowing Certificate,
        at milliseconds: Int64
    ) -> Bool {
        guard responder.issuer == issuer.facts?.subject, responder.isSigned(by: issuer),
            let facts = responder.facts
        else { return false }
        return facts.signature != nil && (facts.key != nil || facts.rsaKey != nil)
            && responder.allowsOCSPSigning
            && facts.keyUsage?.contains(.digitalSignature) != false
            && facts.validity.contains(milliseconds)
    }
}

// MARK: - The statement

extension OCSPResponse.BasicResponse {
    fileprivate func statement(
        about certificate: IssuedCertificate
    ) throws(OCSPRefusal) -> RevocationStatement {
        guard OCSP_BASICRESP_get_ext_by_critical(handle, 1, -1) < 0 else {
            throw .criticalExtension
        }
        let index = certificate.withIdentifier { OCSP_resp_find(handle, $0, -1) } ?? -1
        guard index >= 0, let single = OCSP_resp_get0(handle, index) else {
            throw .otherCertificate
        }
        guard OCSP_SINGLERESP_get_ext_by_critical(single, 1, -1) < 0 else {
            throw .criticalExtension
        }
        return try Self.statement(in: single)
    }

    private static func statement(
        in single: OpaquePointer
    ) throws(OCSPRefusal) -> RevocationStatement {
        var revokedAt, thisUpdate, nextUpdate: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        let code = OCSP_single_get0_status(single, nil, &revokedAt, &thisUpdate, &nextUpdate)
        guard let from = instant(thisUpdate) else { throw .malformed }
        var until = from + OCSPResponse.defaultLife
        if let nextUpdate {
            guard let next = instant(nextUpdate), next >= from else { throw .malformed }
            until = min(next, from + OCSPResponse.longestLife)
        }
        let status: RevocationStatement.Status
        switch code {
        case V_OCSP_CERTSTATUS_GOOD: status = .good
        case V_OCSP_CERTSTATUS_UNKNOWN: status = .unknown
        case V_OCSP_CERTSTATUS_REVOKED:
            guard let at = instant(revokedAt) else { throw .malformed }
            status = .revoked(at: at)
        default: throw .malformed
        }
        return RevocationStatement(status: status, thisUpdate: from, validUntil: until)
    }

    private static func instant(
        _ time: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
    ) -> Int64? {
        guard let time, let start = ASN1_STRING_get0_data(time) else { return nil }
        let text = UnsafeBufferPointer(start: start, count: Int(ASN1_STRING_length(time)))
        return CertificateTime.generalizedTime(text)
    }
}

extension Certificate {
    /// Decodes a copy of libcrypto's certificate; nil if there is none or it is too large.
    fileprivate init?(_ handle: UnsafeMutableRawPointer?) {
        guard let handle, let der = encode({ i2d_X509(OpaquePointer(handle), $0) }),
            der.count <= Self.maximumByteCount
        else { return nil }
        self.init(der: der)
    }
}
