public import TideoverSignatures

/// A service account as Google knows it: its name, one of its keys, and what it may ask.
/// https://developers.google.com/identity/protocols/oauth2/service-account
public struct PlayServiceAccount: Hashable, Sendable {
    /// `client_email` of its key file.
    public let email: String
    /// `private_key_id` of its key file.
    public let keyId: String
    /// What its assertions are verified with.
    public let publicKey: RSAPublicKey
    /// Whether the Play Console gives it the right to this app's purchases and orders.
    public var mayReadApp: Bool
    /// Whether it may pull from the subscription.
    public var mayPull: Bool

    /// An account with all rights.
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

/// What an access token opens.
public enum PlayScope: String, CaseIterable, Hashable, Codable, Sendable {
    case androidPublisher = "https://www.googleapis.com/auth/androidpublisher"
    case pubSub = "https://www.googleapis.com/auth/pubsub"
    case cloudPlatform = "https://www.googleapis.com/auth/cloud-platform"
}
