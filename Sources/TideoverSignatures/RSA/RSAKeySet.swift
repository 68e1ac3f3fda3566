public import TideoverJSON

/// The trusted RSA public keys by their ids, as published by a store.
public struct RSAKeySet: Hashable, Sendable {
    private var keys: [String: RSAPublicKey]

    /// Creates a set from keys by the ids that headers contain.
    public init(_ keys: [String: RSAPublicKey]) {
        self.keys = keys
    }

    /// Reads the RSA keys with an id from a JSON Web Key Set (RFC 7517). Others are ignored, as the
    /// RFC requires. Of two keys with one id the first is used.
    public init(jwkSet: JSONNode) {
        keys = [:]
        for jwk in jwkSet["keys"]?.elements.map({ $0 }) ?? [] {
            guard let id = jwk["kid"]?.string, keys[id] == nil else { continue }
            keys[id] = RSAPublicKey(jwk: jwk)
        }
    }

    /// The ids, in no order.
    public var ids: Set<String> { Set(keys.keys) }

    public subscript(_ id: String) -> RSAPublicKey? { keys[id] }
}

extension JWS {
    /// The algorithm of RSA with PKCS #1 version 1.5 and SHA-256 in a header (RFC 7518).
    public static let rs256 = "RS256"

    /// Throws unless the key signed this document with RS256.
    ///
    /// The algorithm is a constant here; the header's `alg` is only compared with it. So "none", or
    /// a MAC by the public key's bytes, is rejected. `kid` is allowed, since the caller has chosen
    /// the key already. Parameters that provide another key or change the meaning of the bytes are
    /// rejected.
    public func verify(with key: RSAPublicKey) throws(SignatureRefusal) {
        let parameters = Self.parametersThatChangeMeaning + ["x5c"]
        try checkHeader(algorithm: Self.rs256, forbidding: parameters)
        guard key.verify(signature: signature, of: signingInput) else { throw .badSignature }
    }

    /// Throws unless the key of the set that the header names signed this document with RS256.
    public func verify(with keys: RSAKeySet) throws(SignatureRefusal) {
        let id = header.root["kid"]?.string
        guard let key = id.flatMap({ keys[$0] }) else { throw .unknownKey(found: id) }
        try verify(with: key)
    }

    /// Returns the compact form of `payload` signed with RS256. The header is written unchanged:
    /// the caller sets `"alg": "RS256"`. Throws `tooLarge` if the result exceeds the limit for
    /// reading.
    public static func sign(
        header: JSONObject,
        payload: [UInt8],
        with key: RSAPrivateKey
    ) throws(SignatureRefusal) -> [UInt8] {
        try sign(header: header, payload: payload) { key.sign($0, .sha256) }
    }
}
