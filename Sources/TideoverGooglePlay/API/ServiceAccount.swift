import TideoverCore
import TideoverJSON

/// The service account for the Play Developer API, as Google's key file describes it.
/// https://cloud.google.com/iam/docs/keys-create-delete
package struct ServiceAccount: Hashable, Sendable {
    package let clientEmail: String
    /// The ID of the key, if the file states it.
    package let privateKeyId: String?
    /// The URL to request tokens from.
    package let tokenURL: String

    package init(
        clientEmail: String,
        privateKeyId: String?,
        tokenURL: String = ServiceAccount.googleTokenURL
    ) {
        self.clientEmail = clientEmail
        self.privateKeyId = privateKeyId
        self.tokenURL = tokenURL
    }

    package static let googleTokenURL = "https://oauth2.googleapis.com/token"
    /// The OAuth scope for the Play Developer API.
    package static let scope = "https://www.googleapis.com/auth/androidpublisher"

    /// The OAuth scope to pull Pub/Sub messages.
    package static let pubSubScope = "https://www.googleapis.com/auth/pubsub"

    /// Reads a key file. Also returns the private key in PEM, which is a secret.
    package static func read(
        keyFile: [UInt8]
    ) throws(PlayRefusal) -> (account: ServiceAccount, privateKey: String) {
        let fields = try WireFields(JSONDocument(google: keyFile).root)
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

    /// The origin of the token URL, which a handler adds; nil for an invalid URL.
    package var tokenOrigin: String? {
        tokenPath.map { String(tokenURL.dropLast($0.count)) }
    }

    /// The path of the token URL; nil for an invalid URL.
    var tokenPath: String? {
        let scheme = "https://"
        guard tokenURL.hasPrefix(scheme) || tokenURL.hasPrefix("http://"),
            let start = tokenURL.dropFirst(scheme.count).firstIndex(of: "/"),
            !tokenURL.contains("?"), !tokenURL.contains("#")
        else { return nil }
        return String(tokenURL[start...])
    }
}

/// Signs with RS256: returns the signature over the SHA-256 of `signingInput`. Its errors reach the
/// caller of the request inside ``PlayAPIFailure``.
package typealias PlayTokenSigner = @Sendable (_ signingInput: [UInt8]) throws -> [UInt8]
