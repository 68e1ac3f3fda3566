import TideoverJSON

/// The account that asks the Play Developer API, as Google's key file describes it.
/// https://cloud.google.com/iam/docs/keys-create-delete
public struct ServiceAccount: Hashable, Sendable {
    public let clientEmail: String
    /// The id of the key, where the file names it.
    public let privateKeyId: String?
    /// Where tokens are to be had.
    public let tokenURL: String

    public init(
        clientEmail: String,
        privateKeyId: String?,
        tokenURL: String = ServiceAccount.googleTokenURL
    ) {
        self.clientEmail = clientEmail
        self.privateKeyId = privateKeyId
        self.tokenURL = tokenURL
    }

    public static let googleTokenURL = "https://oauth2.googleapis.com/token"
    /// What an account must be allowed to do.
    public static let scope = "https://www.googleapis.com/auth/androidpublisher"

    /// The same, to pull messages of Pub/Sub.
    public static let pubSubScope = "https://www.googleapis.com/auth/pubsub"

    /// Reads a key file; gives back the private key in PEM beside it, which is a secret.
    public static func read(
        keyFile: [UInt8]
    ) throws(PlayRefusal) -> (account: ServiceAccount, privateKey: String) {
        let document: JSONDocument
        do {
            document = try JSONDocument(keyFile)
        } catch {
            throw .malformedJSON(error)
        }
        let fields = try WireFields(document.root)
        guard try fields.text("type") == "service_account" else { throw fields.malformed("type") }
        guard let email = try fields.text("client_email") else {
            throw fields.missing("client_email")
        }
        guard let key = try fields.text("private_key") else { throw fields.missing("private_key") }
        let account = ServiceAccount(
            clientEmail: email,
            privateKeyId: try fields.text("private_key_id"),
            tokenURL: try fields.text("token_uri") ?? googleTokenURL
        )
        guard account.tokenPath != nil else { throw fields.malformed("token_uri") }
        return (account, key)
    }

    /// The part of the URL that a handler adds; nil where the URL is none.
    public var tokenOrigin: String? {
        tokenPath.map { String(tokenURL.dropLast($0.count)) }
    }

    /// The path that tokens are asked for at; nil where the URL is none.
    var tokenPath: String? {
        let scheme = "https://"
        guard tokenURL.hasPrefix(scheme) || tokenURL.hasPrefix("http://"),
            let start = tokenURL.dropFirst(scheme.count).firstIndex(of: "/"),
            !tokenURL.contains("?"), !tokenURL.contains("#")
        else { return nil }
        return String(tokenURL[start...])
    }
}

/// Signs with RS256: the signature over the SHA-256 of `signingInput`. What it throws reaches whoever
/// asked, inside ``PlayAPIFailure``.
public typealias PlayTokenSigner = @Sendable (_ signingInput: [UInt8]) throws -> [UInt8]
