import CTideoverOpenSSL

/// The elliptic curve key in a certificate or `SubjectPublicKeyInfo`, as encoded there.
///
/// Only a named curve and an uncompressed point are accepted (RFC 5480 section 2). With explicit
/// parameters, the author of the certificate would choose the curve.
struct SubjectKey: Hashable, Sendable {
    let curve: EllipticCurve
    /// 0x04, then x and y.
    let point: [UInt8]

    init?(spki: [UInt8]) {
        let info = withCleanErrors {
            decodeExactly(spki, free: X509_PUBKEY_free) { d2i_X509_PUBKEY(nil, &$0, $1) }
        }
        guard let info else { return nil }
        defer { X509_PUBKEY_free(info) }
        self.init(info)
    }

    /// Reads the key from libcrypto's `X509_PUBKEY`, which the caller keeps.
    init?(_ info: OpaquePointer) {
        var algorithm: OpaquePointer?
        var bytes: UnsafePointer<UInt8>?
        var byteCount: Int32 = 0
        var parameters: UnsafeMutablePointer<X509_ALGOR>?
        guard X509_PUBKEY_get0_param(&algorithm, &bytes, &byteCount, &parameters, info) == 1,
            OBJ_obj2nid(algorithm) == NID_X9_62_id_ecPublicKey,
            let curve = Self.namedCurve(parameters)
        else { return nil }
        let point = Array(UnsafeBufferPointer(start: bytes, count: Int(byteCount)))
        guard point.count == 1 + 2 * curve.coordinateCount, point[0] == 0x04 else { return nil }
        self.curve = curve
        self.point = point
    }

    private static func namedCurve(
        _ parameters: UnsafePointer<X509_ALGOR>?
    ) -> EllipticCurve? {
        var kind: Int32 = 0
        var value: UnsafeRawPointer?
        X509_ALGOR_get0(nil, &kind, &value, parameters)
        guard kind == V_ASN1_OBJECT, let value else { return nil }
        return EllipticCurve(nid: OBJ_obj2nid(OpaquePointer(value)))
    }
}
