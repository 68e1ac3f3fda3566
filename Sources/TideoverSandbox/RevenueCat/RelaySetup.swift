/// How a project of RevenueCat's is set up: by what its webhooks are known, and how it hears of stores.
public struct RelaySetup: Hashable, Sendable {
    /// The value of the `Authorization` header of webhooks; nil for none.
    public var authorization: String?
    /// What webhooks are signed with; nil where they are not.
    public var signatureSecret: String?
    /// How much later than the store's own notification it hears of something, in milliseconds.
    public var lag: Int64
    /// The secret key with which its API is asked.
    public var apiKey: String
    /// What each product unlocks: entitlements by product id.
    public var entitlements: [String: [String]]

    /// A project that hears at once.
    public init(
        authorization: String?,
        signatureSecret: String? = nil,
        lag: Int64 = 0,
        apiKey: String = "sk_rehearsal",
        entitlements: [String: [String]]
    ) {
        self.authorization = authorization
        self.signatureSecret = signatureSecret
        self.lag = lag
        self.apiKey = apiKey
        self.entitlements = entitlements
    }
}
