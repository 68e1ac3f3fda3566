public import TideoverHTTP

/// The system under test, as Google meets it.
public struct ScenarioPlayTarget: Sendable {
    /// Where Pub/Sub pushes; `{app}` stands for the app's id.
    public var deliverPath = "/v1/apps/{app}/notifications/google-play"
    /// Whether it is pushed to; one that is not pulls, and asks for what it wants to know.
    public var isPushedTo = true
    /// The audience of the tokens of pushes.
    public var audience = "https://tideover.example/push"
    /// The service account in whose name Pub/Sub pushes.
    public var email = "pusher@tideover-rehearsal.iam.gserviceaccount.com"
    /// The service account with which the system under test may ask; nil if it asks nothing.
    public var account: PlayServiceAccount?
    /// `token_uri` of that account's key file, which its assertions are addressed to.
    public var tokenURL = SimulatedGooglePlay.tokenURL
    /// What signs the tokens of pushes; nil for keys made anew for each scenario.
    public var authority: PlayAuthority?
    /// Told of Google before a scenario begins, for a system that asks.
    public var meetGoogle: @Sendable (_ google: @escaping Handler) async -> Void = { _ in }

    /// A system with the paths that Tideover itself has.
    public init() {}

    var push: PubSubPush { PubSubPush(audience: audience, email: email) }
}
