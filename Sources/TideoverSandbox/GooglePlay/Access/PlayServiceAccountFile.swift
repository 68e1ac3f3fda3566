public import TideoverJSON
import TideoverSignatures

/// The key file of a service account in Google Cloud's format, for an account of the simulated
/// Google. https://cloud.google.com/iam/docs/keys-create-delete
public struct PlayServiceAccountFile: Sendable {
    /// The account's token endpoint: `token_uri`.
    public let tokenURL: String
    private let email: String
    private let keyId: String
    private let key: RSAPrivateKey

    private static let project = "tideover-rehearsal"

    /// Creates a new key for the service account of rehearsals, with this token endpoint.
    public init(tokenURL: String) {
        self.tokenURL = tokenURL
        email = "tideover@\(Self.project).iam.gserviceaccount.com"
        key = RSAPrivateKey.generate()
        var random = SystemRandomNumberGenerator()
        keyId = (0..<5).map { _ in
            let digits = String(random.next() as UInt32, radix: 16)
            return String(repeating: "0", count: 8 - digits.count) + digits
        }.joined()
    }

    /// Reads the key in a file.
    ///
    /// - Throws: `PlayKeyFileError` for a file without a key.
    public init(file bytes: [UInt8]) throws(PlayKeyFileError) {
        let fields = try PlayKeyFields(bytes)
        tokenURL = try fields.text("token_uri")
        email = try fields.text("client_email")
        keyId = try fields.text("private_key_id")
        let pem = try fields.text("private_key")
        do {
            key = try RSAPrivateKey(pem: pem)
        } catch {
            throw .noKey("private_key")
        }
    }

    /// The file. Any reader of it can act as this account.
    public var json: JSONValue {
        [
            "type": "service_account",
            "project_id": .string(Self.project),
            "private_key_id": .string(keyId),
            "private_key": .string(key.pem),
            "client_email": .string(email),
            "client_id": "100000000000000000001",
            "token_uri": .string(tokenURL),
            "universe_domain": "googleapis.com",
        ]
    }

    /// Google's record of the account, with all permissions.
    public var account: PlayServiceAccount {
        let jwk = JSONValue.object(key.publicJWK).encoded()
        guard let root = try? JSONDocument(jwk).root, let publicKey = RSAPublicKey(jwk: root) else {
            preconditionFailure("the public half of a key is a key")
        }
        return PlayServiceAccount(email: email, keyId: keyId, publicKey: publicKey)
    }
}
