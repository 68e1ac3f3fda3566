package import TideoverConfiguration
import TideoverCore
package import TideoverGooglePlay
import TideoverHTTP
import TideoverJSON
import TideoverSignatures
import TideoverStorage

/// The trust of one app in Google Play: who may push, and how the store is queried.
package struct PlayTrust: Sendable {
    package let identity: PlayIdentity
    /// The app's package name.
    var packageName: String { identity.packageName }
    /// Nil if nothing is pushed.
    let pushes: PushGuard?
    /// Nil if no credentials are configured, so that the store cannot be queried.
    package private(set) var api: PlayAPI?
    let reader: PlayReader
    /// Whether credentials are configured, even if this process does not query.
    private(set) var hasServiceAccount: Bool
    /// The client that pulls messages; nil if none are pulled.
    let pubSub: PubSubAPI?

    /// Creates the trust in one push subscription, and in the store if it can be queried.
    ///
    /// - Parameters:
    ///   - identity: The app and its environments.
    ///   - expectation: The required claims of a push token; nil if nothing is pushed.
    ///   - keys: Google's keys for push tokens.
    ///   - api: The client that queries the store about this app.
    ///   - pubSub: The client that pulls messages; nil if none are pulled.
    package init(
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

    /// Creates the trust in the subscriptions configured for an app; nil if it is not sold on
    /// Google Play.
    ///
    /// - Parameters:
    ///   - configured: The app.
    ///   - keys: Google's keys for push tokens.
    ///   - api: The client that queries the store about this app.
    ///   - pubSub: The client that pulls messages; nil if none are pulled.
    package init?(
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

    /// Creates the trust for use without network, which accepts no push.
    init?(offline configured: Configuration.App) {
        let keys = PushKeys(clock: { .distantPast }, handler: { _ in Response(status: 503) })
        self.init(configured, keys: keys, api: nil)
        hasServiceAccount = configured.googlePlay?.serviceAccountFile != nil
    }

    /// Returns the payload of a token that the key signed with RS256.
    private static func verify(_ compact: [UInt8], _ key: JSONObject) throws -> [UInt8] {
        let jwk = try JSONDocument(JSONValue.object(key).encoded()).root
        guard let key = RSAPublicKey(jwk: jwk) else {
            throw SignatureRefusal.unknownKey(found: nil)
        }
        let jws = try JWS(compact)
        try jws.verify(with: key)
        return jws.payload
    }

    /// Returns the same trust, which also compares the date of each store response with our clock.
    func comparingClocks(_ watch: StoreClockWatch) -> PlayTrust {
        var trust = self
        trust.api = api?.reporting(to: watch.note)
        return trust
    }

    /// Returns the name of a token: its digest, since the token is a secret.
    private static func name(_ purchaseToken: String) -> PlayToken {
        PlayToken(EvidenceID(of: Array(purchaseToken.utf8)).hex)
    }

    /// The address of the service account for queries; nil if there is none.
    package var askingEmail: String? { api?.account.clientEmail }

    /// The explanation for an answer that is based only on the types of notifications.
    static let missingAccount =
        "No service account is configured for Google Play, so the purchase cannot be verified: "
        + "set `googlePlay.serviceAccountFile`."

    func token(_ purchaseToken: String) -> PlayToken { Self.name(purchaseToken) }
}

extension PlayReader {
    /// Returns the facts of a stored delivery.
    func facts(in delivery: PlayDelivery, of piece: Evidence) throws(PlayRefusal) -> [Fact] {
        // The notification prompted the query, so it determines the source and the delay of the
        // facts.
        facts(in: try read(delivery), of: piece).map { fact in
            var fact = fact
            fact.source = piece.source
            fact.envelopeSignedAt = piece.signedAt ?? fact.envelopeSignedAt
            return fact
        }
    }

    /// Returns the facts of responses that no notification prompted.
    func facts(in answers: PlayAnswers, of piece: Evidence) throws(PlayRefusal) -> [Fact] {
        facts(in: try read(answers), of: piece)
    }

    private func facts(in readings: [PlayReading], of piece: Evidence) -> [Fact] {
        readings.flatMap { $0.facts(learnedAt: piece.receivedAt, evidence: piece.id) }
    }
}
