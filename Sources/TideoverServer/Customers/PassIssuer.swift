package import TideoverCore
import TideoverJSON
package import TideoverSignatures
package import TideoverStorage

/// Signs the passes that devices trust offline, under one issuer name.
///
/// A pass is signed when an answer is derived, inside the commit, and stored with it; reads only
/// copy it. Ed25519 signatures are deterministic, so deriving stays a pure function.
package struct PassIssuer: Sendable {
    /// Returns the current key's Ed25519 signature of bytes.
    package typealias Signer = @Sendable (_ signingInput: [UInt8]) -> [UInt8]

    /// The issuer name in passes.
    package let issuer: String
    /// The id of the signing key.
    package let keyId: String
    /// All keys with valid signatures.
    package let keys: Ed25519KeySet
    private let sign: Signer
    /// The valid values of `IssuedPass.signer`.
    private let signers: Set<String>

    /// Creates an issuer that signs with a key; the signatures of the other keys are valid too.
    package init(
        issuer: String,
        key: Ed25519PrivateKey,
        others: [Ed25519PublicKey] = []
    ) {
        self.init(issuer: issuer, key: key.publicKey, others: others) { key.sign($0) }
    }

    package init(
        issuer: String,
        key: Ed25519PublicKey,
        others: [Ed25519PublicKey] = [],
        sign: @escaping Signer
    ) {
        let ids = (others + [key]).map { ($0.thumbprint, $0) }
        self.issuer = issuer
        self.sign = sign
        keyId = key.thumbprint
        keys = Ed25519KeySet(Dictionary(ids) { first, _ in first })
        signers = Set(ids.map { Self.signer($0.0, issuer) })
    }

    /// Returns the name of a signer. With another issuer name the same key is another signer,
    /// because devices would reject its earlier passes.
    private static func signer(_ keyId: String, _ issuer: String) -> String {
        "\(keyId) \(issuer)"
    }

    /// Returns whether a pass can be returned unchanged. A valid key signed it, less than half of
    /// its life is over, and it is not dated in the future.
    func isFresh(_ pass: IssuedPass?, at now: Instant) -> Bool {
        guard let pass, counts(pass), pass.issuedAt <= now + .clockTolerance else {
            return false
        }
        return pass.renewAt.map { now < $0 } ?? true
    }

    /// Returns whether devices that trust the current keys accept a pass.
    func counts(_ pass: IssuedPass) -> Bool { signers.contains(pass.signer) }

    /// Signs a pass.
    package func issue(_ pass: Pass) -> IssuedPass {
        let header: JSONObject = [
            "alg": .string(JWS.edDSA), "typ": .string(Pass.documentType), "kid": .string(keyId),
        ]
        // A pass that is too long to sign stays empty, so that reads do not retry.
        let compact = try? JWS.sign(header: header, payload: pass.claims, by: sign)
        return IssuedPass(
            compact: compact ?? [],
            signer: Self.signer(keyId, issuer),
            issuedAt: pass.issued,
            renewAt: pass.renewAt
        )
    }
}
