import TideoverCore
public import TideoverGooglePlay
import TideoverHTTP
import TideoverJSON
import TideoverSignatures
import TideoverStorage

/// Whom one app believes about Google Play: who may push, and how the store is asked.
public struct PlayTrust: Sendable {
    public let identity: PlayIdentity
    /// The app's name on Google Play.
    var packageName: String { identity.packageName }
    /// Nil where nothing is pushed.
    let pushes: PushGuard?
    /// Nil where no credentials are configured: then nobody can ask.
    private(set) var api: PlayAPI?
    let reader: PlayReader
    /// Whether credentials are configured, also where this process does not ask.
    private(set) var hasServiceAccount: Bool
    /// How messages are pulled; nil where none are.
    let pubSub: PubSubAPI?

    /// Trust in one push subscription, and in the store where it can be asked.
    ///
    /// - Parameters:
    ///   - identity: Which app is read for, in which environments.
    ///   - expectation: What the token of a push must say; nil where nothing is pushed.
    ///   - keys: Google's keys for those tokens.
    ///   - api: How the store is asked about this app.
    ///   - pubSub: How messages are pulled; nil where none are.
    public init(
        identity: PlayIdentity,
        expectation: PushExpectation?,
        keys: PushKeys,
        api: PlayAPI?,
        pubSub: PubSubAPI? = nil
    ) {
        self.identity = identity
        self.api = api
        hasServiceAccount = api != nil
        self.pubSub = pubSub
        pushes = expectation.map {
            PushGuard(expectation: $0, keys: keys, check: Self.verify)
        }
        reader = PlayReader(app: identity, naming: Self.name)
    }

    /// Trust in the subscriptions that are configured for an app; nil where it does not sell on Google
    /// Play.
    ///
    /// - Parameters:
    ///   - configured: The app.
    ///   - keys: Google's keys for the tokens of pushes.
    ///   - api: How the store is asked about this app.
    ///   - pubSub: How messages are pulled; nil where none are.
    public init?(
        _ configured: Configuration.App,
        keys: PushKeys,
        api: PlayAPI?,
        pubSub: PubSubAPI? = nil
    ) {
        guard let play = configured.googlePlay else { return nil }
        var expectation: PushExpectation?
        if let audience = play.audience, let email = play.email {
            expectation = PushExpectation(audience: audience, email: email)
        }
        self.init(
            identity: PlayIdentity(
                packageName: play.packageName,
                environments: Set(configured.environments),
                isSimulated: configured.environments == [.simulated]
            ),
            expectation: expectation,
            keys: keys,
            api: api,
            pubSub: pubSub
        )
    }

    /// The same where nobody is to be reached: no push is believed.
    init?(offline configured: Configuration.App) {
        let keys = PushKeys(clock: { .distantPast }, handler: { _ in Response(status: 503) })
        self.init(configured, keys: keys, api: nil)
        hasServiceAccount = configured.googlePlay?.serviceAccountFile != nil
    }

    /// The payload of a token that the key signed with RS256.
    private static func verify(_ compact: [UInt8], _ key: JSONObject) throws -> [UInt8] {
        let jwk = try JSONDocument(JSONValue.object(key).encoded()).root
        guard let key = RSAPublicKey(jwk: jwk) else {
            throw SignatureRefusal.unknownKey(found: nil)
        }
        let jws = try JWS(compact)
        try jws.verify(with: key)
        return jws.payload
    }

    /// The same trust, where every response of the store is compared with our clock.
    func comparingClocks(_ watch: StoreClockWatch) -> PlayTrust {
        var trust = self
        trust.api = api?.reporting(to: watch.note)
        return trust
    }

    /// A token is a secret; its digest names it.
    private static func name(_ purchaseToken: String) -> PlayToken {
        PlayToken(EvidenceID(of: Array(purchaseToken.utf8)).hex)
    }

    /// The address of the service account that asks; nil where nobody can.
    public var askingEmail: String? { api?.account.clientEmail }

    /// What an answer lacks that rests on the types of notifications.
    static let missingAccount =
        "No service account is configured for Google Play, so that the purchase cannot be verified: "
        + "set `googlePlay.serviceAccountFile`."

    func token(_ purchaseToken: String) -> PlayToken { Self.name(purchaseToken) }
}

extension PlayReader {
    /// What a kept delivery states.
    func facts(in delivery: PlayDelivery, of piece: Evidence) throws(PlayRefusal) -> [Fact] {
        // It was the notification that made us ask: it tells how the answer reached us, and how late.
        facts(in: try read(delivery), of: piece).map { fact in
            var fact = fact
            fact.source = piece.source
            fact.envelopeSignedAt = piece.signedAt ?? fact.envelopeSignedAt
            return fact
        }
    }

    /// The same of answers that no notification prompted.
    func facts(in answers: PlayAnswers, of piece: Evidence) throws(PlayRefusal) -> [Fact] {
        facts(in: try read(answers), of: piece)
    }

    private func facts(in readings: [PlayReading], of piece: Evidence) -> [Fact] {
        readings.flatMap { $0.facts(learnedAt: piece.receivedAt, evidence: piece.id) }
    }
}
