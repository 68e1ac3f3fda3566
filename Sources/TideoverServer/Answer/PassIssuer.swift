package import TideoverCore
import TideoverJSON
public import TideoverSignatures
package import TideoverStorage

/// Signs what devices may trust offline, in one name and for as long as its keys count.
///
/// A pass is signed where an answer is derived, inside the one door, and kept beside it: whoever reads
/// an answer only copies it out. Ed25519 signs alike each time, so that deriving stays a pure function.
public struct PassIssuer: Sendable {
    /// Makes the Ed25519 signature of the current key over bytes.
    package typealias Signer = @Sendable (_ signingInput: [UInt8]) -> [UInt8]

    /// In whose name passes are signed.
    public let issuer: String
    /// The id of the key that signs.
    public let keyId: String
    /// All keys whose signatures count.
    public let keys: Ed25519KeySet
    private let sign: Signer
    /// What `IssuedPass.signer` says of passes that count.
    private let signers: Set<String>

    /// An issuer that signs with a key; signatures of the others count, too.
    public init(
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

    /// Under another name the same key is another signer: devices would refuse what it signed before.
    private static func signer(_ keyId: String, _ issuer: String) -> String {
        "\(keyId) \(issuer)"
    }

    /// Whether a pass can be handed out as it is: a key that counts signed it, less than half of its
    /// life is over, and no clock that was ahead has dated it.
    func isFresh(_ pass: IssuedPass?, at now: Instant) -> Bool {
        guard let pass, counts(pass), pass.issuedAt <= now + Ingest.clockTolerance else {
            return false
        }
        return pass.renewAt.map { now < $0 } ?? true
    }

    /// Whether devices that trust the keys of today believe a pass.
    func counts(_ pass: IssuedPass) -> Bool { signers.contains(pass.signer) }

    /// Signs a pass.
    package func issue(_ pass: Pass) -> IssuedPass {
        let header: JSONObject = [
            "alg": .string(JWS.edDSA), "typ": .string(Pass.documentType), "kid": .string(keyId),
        ]
        // What nobody would read for its length is not tried again at each read.
        let compact = try? JWS.sign(header: header, payload: pass.claims, by: sign)
        return IssuedPass(
            compact: compact ?? [],
            signer: Self.signer(keyId, issuer),
            issuedAt: pass.issued,
            renewAt: pass.renewAt
        )
    }
}
