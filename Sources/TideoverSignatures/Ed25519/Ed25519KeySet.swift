public import TideoverJSON

/// The trusted public keys by their ids: the current signing key, earlier ones, and future ones.
public struct Ed25519KeySet: Hashable, Sendable {
    private var keys: [String: Ed25519PublicKey]

    /// Creates a set from keys by the ids that headers contain.
    public init(_ keys: [String: Ed25519PublicKey]) {
        self.keys = keys
    }

    /// Reads the Ed25519 keys with an id from a JSON Web Key Set (RFC 7517). Others are ignored, as
    /// the RFC requires. Of two keys with one id the first is used.
    public init(jwkSet: JSONNode) {
        keys = [:]
        for jwk in jwkSet["keys"]?.elements.map({ $0 }) ?? [] {
            guard let id = jwk["kid"]?.string, keys[id] == nil else { continue }
            keys[id] = Ed25519PublicKey(jwk: jwk)
        }
    }

    /// The ids, in no order.
    public var ids: Set<String> { Set(keys.keys) }

    public subscript(_ id: String) -> Ed25519PublicKey? { keys[id] }

    /// The keys as a JSON Web Key Set, in the order of their ids.
    public var jwkSet: JSONValue {
        let all = keys.sorted { $0.key < $1.key }.map { id, key in
            var jwk = key.jwk
            jwk["kid"] = .string(id)
            jwk["use"] = "sig"
            jwk["alg"] = .string(JWS.edDSA)
            return JSONValue.object(jwk)
        }
        return ["keys": .array(all)]
    }
}

extension JWS {
    /// The algorithm of Ed25519 in a header (RFC 8037).
    public static let edDSA = "EdDSA"

    /// Throws unless this is a document of the given type, signed with Ed25519 by the key of the
    /// set that its header names.
    ///
    /// The caller chooses algorithm and type; the header's are only compared with them. Parameters
    /// that provide another key or change the meaning of the bytes are rejected.
    public func verify(with keys: Ed25519KeySet, type: String) throws(SignatureRefusal) {
        let parameters = Self.parametersThatChangeMeaning + ["x5c"]
        try checkHeader(algorithm: Self.edDSA, forbidding: parameters)
        let found = header.root["typ"]?.string
        guard found == type else { throw .type(found: found) }
        let id = header.root["kid"]?.string
        guard let key = id.flatMap({ keys[$0] }) else { throw .unknownKey(found: id) }
        try checkSignatureLength()
        guard key.verify(signature: signature, of: signingInput) else { throw .badSignature }
    }
}
