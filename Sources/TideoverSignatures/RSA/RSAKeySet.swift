public import TideoverJSON

/// The public keys of RSA whose signatures count, by their ids, as a store publishes them.
public struct RSAKeySet: Hashable, Sendable {
    private var keys: [String: RSAPublicKey]

    /// Keys by the ids that headers name them by.
    public init(_ keys: [String: RSAPublicKey]) {
        self.keys = keys
    }

    /// The keys of a JSON Web Key Set (RFC 7517) that are of this kind and have an id; others are left
    /// out, as the RFC has it. Of two with one id the first counts.
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
    /// The algorithm is a constant here; the header's `alg` is only compared with it, so that "none"
    /// and a MAC by the public key's bytes are other algorithms. `kid` is allowed, since the caller
    /// has chosen the key already; what would bring another key or change the meaning of the bytes
    /// is not.
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

    /// The compact form of `payload` signed with RS256. The header is written as given: saying
    /// `"alg": "RS256"` is the caller's part. Throws `tooLarge` when nobody here would read it.
    public static func sign(
        header: JSONObject,
        payload: [UInt8],
        with key: RSAPrivateKey
    ) throws(SignatureRefusal) -> [UInt8] {
        try sign(header: header, payload: payload) { key.sign($0, .sha256) }
    }
}
