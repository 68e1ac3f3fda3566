import TideoverCore
import TideoverGooglePlay
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSandbox
import TideoverServer
import TideoverSignatures

/// The server's connection to a simulated Google Play: its trust and its API access.
struct GooglePlayRehearsal: Sendable {
    let trust: PlayTrust
    let target: ScenarioPlayTarget

    private static let email = "tideover@tideover-rehearsal.iam.gserviceaccount.com"
    private static let keyId = "rehearsal-1"
    /// Generating these takes longer than most scenarios, so all rehearsals of a process share
    /// them.
    private static let key = RSAPrivateKey.generate()
    private static let authority = PlayAuthority(seed: 1)

    /// Without credentials, the server trusts pushes and cannot query the store.
    init(_ play: ScenarioGooglePlay, clock: @escaping Clock) {
        let app = play.app
        let key = Self.key
        let google = Locked<Handler?>(nil)
        let ask: Handler = { request in
            guard let ask = google.withLock({ $0 }) else { return Response(status: 503) }
            return try await ask(request)
        }
        var target = ScenarioPlayTarget()
        target.account = RSAPublicKey(key).map {
            PlayServiceAccount(email: Self.email, keyId: Self.keyId, publicKey: $0)
        }
        target.authority = Self.authority
        target.meetGoogle = { handler in google.withLock { $0 = handler } }
        self.target = target
        let access = PlayAccess(
            account: ServiceAccount(clientEmail: Self.email, privateKeyId: Self.keyId),
            signer: { key.sign($0, .sha256) },
            clock: clock,
            handler: ask
        )
        trust = PlayTrust(
            identity: PlayIdentity(
                packageName: app.packageName,
                environments: [.simulated],
                isSimulated: true
            ),
            expectation: PushExpectation(audience: target.audience, email: target.email),
            keys: PushKeys(clock: clock, handler: ask),
            api: play.hasCredentials
                ? PlayAPI(
                    packageName: app.packageName,
                    access: access,
                    clock: clock,
                    handler: ask
                ) : nil
        )
    }
}

extension RSAPublicKey {
    /// Creates the public half of a key.
    fileprivate init?(_ key: RSAPrivateKey) {
        let text = JSONValue.object(key.publicJWK).encoded()
        guard let jwk = try? JSONDocument(text).root else { return nil }
        self.init(jwk: jwk)
    }
}
