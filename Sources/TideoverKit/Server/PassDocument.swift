import TideoverCore
import TideoverJSON

/// Verifies an Ed25519 signature (RFC 8032) over bytes with a public key of 32 bytes.
public typealias PassSignatureCheck =
    @Sendable (_ signature: [UInt8], _ message: [UInt8], _ publicKey: [UInt8]) -> Bool

/// A pass as the server signed it.
package struct PassDocument: Hashable, Sendable {
    package let compact: String
    package let keyId: String
    private let document: CompactJWS

    /// Fails unless the text is a pass signed with Ed25519.
    package init?(_ compact: String) {
        guard let document = try? CompactJWS(compact.utf8),
            let header = try? JSONDocument(document.header).root,
            header["alg"]?.string == "EdDSA", header["typ"]?.string == Pass.documentType,
            header["crit"] == nil, let keyId = header["kid"]?.string
        else { return nil }
        self.compact = compact
        self.keyId = keyId
        self.document = document
    }

    /// Returns the claims if the signature is valid; nil otherwise.
    package func claims(
        verifiedWith key: PassKey,
        by check: PassSignatureCheck
    ) -> [UInt8]? {
        guard key.id == keyId, check(document.signature, document.signingInput, key.bytes) else {
            return nil
        }
        return document.payload
    }
}

extension PassKey {
    /// Reads the Ed25519 keys of a JWK set (RFC 7517, RFC 8037), as published by the server.
    package static func keys(ofSet bytes: [UInt8]) -> [PassKey]? {
        guard let root = try? JSONDocument(bytes).root, let keys = root["keys"],
            keys.kind == .array
        else { return nil }
        return keys.elements.compactMap { key in
            guard key["kty"]?.string == "OKP", key["crv"]?.string == "Ed25519",
                let id = key["kid"]?.string, let text = key["x"]?.string,
                let bytes = Base64.decode(text.utf8, .urlSafe), bytes.count == 32
            else { return nil }
            return PassKey(id: id, bytes: bytes)
        }
    }
}
