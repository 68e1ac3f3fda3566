public import TideoverHTTP

/// The configuration of Google's access to the system under test.
public struct ScenarioPlayTarget: Sendable {
    /// The path to which Pub/Sub pushes; `{app}` is replaced with the app's id.
    public var deliverPath = "/v1/apps/{app}/notifications/google-play"
    /// Whether it receives pushes; if not, it pulls messages and reads purchases itself.
    public var isPushedTo = true
    /// The audience of the tokens of pushes.
    public var audience = "https://tideover.example/push"
    /// The service account in the tokens of pushes.
    public var email = "pusher@tideover-rehearsal.iam.gserviceaccount.com"
    /// The service account of the system under test for Google's APIs; nil if it does not call
    /// them.
    public var account: PlayServiceAccount?
    /// `token_uri` of that account's key file, the audience of its assertions.
    public var tokenURL = SimulatedGooglePlay.tokenURL
    /// Signs the tokens of pushes; nil creates new keys for each scenario.
    public var authority: PlayAuthority?
    /// Receives Google's handler before a scenario begins, for a system that calls it.
    public var meetGoogle: @Sendable (_ google: @escaping Handler) async -> Void = { _ in }

    /// Creates a system with Tideover's own paths.
    public init() {}

    var push: PubSubPush { PubSubPush(audience: audience, email: email) }
}
