import CTideoverOpenSSL

/// A verified certificate below an anchor, as the subject of an OCSP request (RFC 6960).
public struct IssuedCertificate: Hashable, Sendable {
    /// OCSP's `CertID` as DER: digests of the issuer's name and key, and the serial number. It does
    /// not depend on the certificate's signature, which anyone can encode in a second way.
    public let identifier: [UInt8]
    /// The position in its chain.
    public let position: ChainPosition
    /// The root of its chain.
    public let anchor: TrustAnchor
    /// The serial number, big-endian.
    public let serialNumber: [UInt8]
    /// The last instant of its validity, in milliseconds since 1970.
    public let notAfter: Int64
    /// The URLs of the OCSP responders that the certificate names, at most two.
    public let responders: [String]
    /// The DER of the issuer's certificate.
    let issuer: [UInt8]

    private static let mostResponders = 2

    /// nil if libcrypto has no memory left.
    init?(
        _ certificate: borrowing Certificate,
        _ position: ChainPosition,
        until notAfter: Int64,
        issuer: borrowing Certificate,
        below anchor: TrustAnchor
    ) {
        guard let identifier = Self.identifier(certificate, issuer),
            let serialNumber = certificate.serialNumber
        else { return nil }
        self.identifier = identifier
        self.serialNumber = serialNumber
        self.notAfter = notAfter
        self.position = position
        self.anchor = anchor
        responders = certificate.ocspResponders(atMost: Self.mostResponders)
        self.issuer = issuer.der
    }

    private static func identifier(
        _ certificate: borrowing Certificate,
        _ issuer: borrowing Certificate
    ) -> [UInt8]? {
        withCleanErrors {
            // RFC 6960 requires responders to support SHA-1 only. It names the certificate here and
            // protects nothing: both certificates are verified.
            let id = OCSP_cert_to_id(EVP_sha1(), certificate.handle, issuer.handle)
            defer { OCSP_CERTID_free(id) }
            guard let id else { return nil }
            return encode { i2d_OCSP_CERTID(id, $0) }
        }
    }

    /// Runs `body` with libcrypto's form of the identifier.
    func withIdentifier<Answer>(_ body: (OpaquePointer) -> Answer?) -> Answer? {
        let id = decodeExactly(identifier, free: OCSP_CERTID_free) {
            d2i_OCSP_CERTID(nil, &$0, $1)
        }
        guard let id else { return nil }
        defer { OCSP_CERTID_free(id) }
        return body(id)
    }
}

extension IssuedCertificate {
    /// The body of an OCSP request about this certificate; nil if libcrypto has no memory left.
    ///
    /// It has no nonce: public responders sign their responses in advance and ignore it.
    public var ocspRequest: [UInt8]? {
        withCleanErrors {
            withIdentifier { id in
                guard let request = OCSP_REQUEST_new() else { return nil }
                defer { OCSP_REQUEST_free(request) }
                guard let own = OCSP_CERTID_dup(id) else { return nil }
                guard OCSP_request_add0_id(request, own) != nil else {
                    OCSP_CERTID_free(own)
                    return nil
                }
                return encode { i2d_OCSP_REQUEST(request, $0) }
            }
        }
    }
}
