public import TideoverJSON

extension JWS {
    /// Throws unless the key signed this document with ES256.
    ///
    /// The algorithm is a constant here; the header's `alg` is only compared with it. `kid` is
    /// allowed, since the caller has chosen the key already. Parameters that provide another key or
    /// change the meaning of the bytes are rejected.
    public func verify(with key: P256PublicKey) throws(SignatureRefusal) {
        try checkHeader(forbidding: Self.parametersThatChangeMeaning)
        try checkSignature(by: key)
    }

    /// Returns the compact form of `payload` signed with ES256. The header is written unchanged:
    /// the caller sets `"alg": "ES256"`. Throws `tooLarge` if the result exceeds the limit for
    /// reading.
    public static func sign(
        header: JSONObject,
        payload: [UInt8],
        with key: P256PrivateKey
    ) throws(SignatureRefusal) -> [UInt8] {
        try sign(header: header, payload: payload) { key.sign($0) }
    }

    func checkHeader(forbidding parameters: [String]) throws(SignatureRefusal) {
        try checkHeader(algorithm: "ES256", forbidding: parameters)
    }

    func checkSignature(by key: P256PublicKey) throws(SignatureRefusal) {
        try checkSignatureLength()
        guard key.verify(signature: signature, of: signingInput) else { throw .badSignature }
    }

    /// Does the same with the header's text already hashed. `hashedHeader` must be of `headerText`.
    func checkSignature(
        by key: P256PublicKey,
        _ hashedHeader: SHA256Prefix
    ) throws(SignatureRefusal) {
        try checkSignatureLength()
        guard hashedHeader.byteCount == headerText.count else { throw .badSignature }
        let digest = SHA256.hash(hashedHeader, followedBy: signingInput[headerText.endIndex...])
        guard key.verify(signature: signature, digest: digest) else { throw .badSignature }
    }
}
