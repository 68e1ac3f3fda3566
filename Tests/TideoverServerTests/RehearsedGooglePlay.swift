import TideoverCore
import TideoverGooglePlay
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSandbox
import TideoverServer
import TideoverSignatures

/// What a server under test needs for a simulated Google Play: whom it believes, and how it asks.
struct RehearsedGooglePlay: Sendable {
    let trust: PlayTrust
    let target: ScenarioPlayTarget
    private let play: ScenarioGooglePlay
    private static let key = RSAPrivateKey.generate()
    private static let email = "tideover@project.iam.gserviceaccount.com"

    init(_ play: ScenarioGooglePlay, clock: @escaping @Sendable () -> Instant) {
        let google = Locked<Handler?>(nil)
        let ask: Handler = { request in
            guard let ask = google.withLock({ $0 }) else { return Response(status: 503) }
            return try await ask(request)
        }
        var target = ScenarioPlayTarget()
        target.account = Self.publicKey.map {
            PlayServiceAccount(email: Self.email, keyId: "1", publicKey: $0)
        }
        target.meetGoogle = { handler in google.withLock { $0 = handler } }
        self.target = target
        self.play = play
        let access = PlayAccess(
            account: ServiceAccount(clientEmail: Self.email, privateKeyId: "1"),
            signer: { Self.key.sign($0, .sha256) },
            clock: clock,
            handler: ask
        )
        let packageName = play.app.packageName
        trust = PlayTrust(
            identity: PlayIdentity(
                packageName: packageName,
                environments: [.simulated],
                isSimulated: true
            ),
            expectation: PushExpectation(audience: target.audience, email: target.email),
            keys: PushKeys(clock: clock, handler: ask),
            api: PlayAPI(packageName: packageName, access: access, clock: clock, handler: ask)
        )
    }

    private static var publicKey: RSAPublicKey? {
        let text = JSONValue.object(key.publicJWK).encoded()
        return (try? JSONDocument(text)).flatMap { RSAPublicKey(jwk: $0.root) }
    }

    func addProducts(to catalogue: inout Catalogue) {
        for subscription in play.app.subscriptions {
            for plan in subscription.basePlans {
                catalogue.products["\(subscription.id):\(plan.id)"] = Product(
                    entitlements: play.entitlements[subscription.id] ?? [],
                    period: Period(iso8601: plan.period.text),
                    grace: Period(iso8601: "P\(plan.graceDays)D")
                )
            }
        }
        for product in play.app.products {
            catalogue.products[product.id] = Product(
                entitlements: play.entitlements[product.id] ?? [],
                kind: product.isConsumable ? .consumable : .nonConsumable
            )
        }
    }
}
