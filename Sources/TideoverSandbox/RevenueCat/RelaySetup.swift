/// The configuration of a RevenueCat project: the authentication of webhooks, and the lag behind
/// stores.
public struct RelaySetup: Hashable, Sendable {
    /// The value of the `Authorization` header of webhooks; nil for none.
    public var authorization: String?
    /// The secret that signs webhooks; nil for unsigned webhooks.
    public var signatureSecret: String?
    /// The delay after the store's own notification until it processes it, in milliseconds.
    public var lag: Int64
    /// The secret key for its API.
    public var apiKey: String
    /// The entitlements that each product unlocks, by product id.
    public var entitlements: [String: [String]]

    /// Creates a project without a delay.
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
