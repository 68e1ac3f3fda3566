public import TideoverSignatures

/// Google's record of a service account: its name, one of its keys, and its permissions.
/// https://developers.google.com/identity/protocols/oauth2/service-account
public struct PlayServiceAccount: Hashable, Sendable {
    /// `client_email` of its key file.
    public let email: String
    /// `private_key_id` of its key file.
    public let keyId: String
    /// The key that verifies its assertions.
    public let publicKey: RSAPublicKey
    /// Whether it has the Play Console permission for this app's purchases and orders.
    public var mayReadApp: Bool
    /// Whether it may pull from the subscription.
    public var mayPull: Bool

    /// Creates an account with all permissions.
    public init(
        email: String,
        keyId: String,
        publicKey: RSAPublicKey,
        mayReadApp: Bool = true,
        mayPull: Bool = true
    ) {
        self.email = email
        self.keyId = keyId
        self.publicKey = publicKey
        self.mayReadApp = mayReadApp
        self.mayPull = mayPull
    }
}

/// The scopes of an access token.
public enum PlayScope: String, CaseIterable, Hashable, Codable, Sendable {
    case androidPublisher = "https://www.googleapis.com/auth/androidpublisher"
    case pubSub = "https://www.googleapis.com/auth/pubsub"
    case cloudPlatform = "https://www.googleapis.com/auth/cloud-platform"
}
