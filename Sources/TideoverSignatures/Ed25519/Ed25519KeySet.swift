public import TideoverJSON

/// The public keys whose signatures count, by their ids: the one that signs now, those that signed
/// before it, and those that will.
public struct Ed25519KeySet: Hashable, Sendable {
    private var keys: [String: Ed25519PublicKey]

    /// Keys by the ids that headers name them by.
    public init(_ keys: [String: Ed25519PublicKey]) {
        self.keys = keys
    }

    /// The keys of a JSON Web Key Set (RFC 7517) that are of this kind and have an id; others are left
    /// out, as the RFC has it. Of two with one id the first counts.
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

    /// Throws unless this is a document of the type named, signed with Ed25519 by the key of the set
    /// that its header names.
    ///
    /// Algorithm and type are the caller's and ours: the header's are only compared with them. What
    /// would bring another key or change the meaning of the bytes is refused.
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
