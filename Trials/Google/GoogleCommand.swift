import TideoverCommandLine
import TideoverHTTP
import TideoverHTTPServer
import TideoverJSON
import TideoverSandbox
import TideoverSignatures

/// Serves the simulated Google for a comparison with Google's own library. It provides keys, valid
/// and invalid tokens of pushes, and a service account's key file.
enum GoogleCommand {
    static let command = Command(
        "google",
        summary: "serve the simulated Google for scripts/verify-google.sh",
        examples: [
            Example("TideoverTrials google", "one line of JSON, then it answers until it is ended")
        ],
        run: run
    )

    private static let audience = "https://billing.example.com/push"
    private static let pusher = "pusher@tideover-rehearsal.iam.gserviceaccount.com"
    private static let email = "tideover@tideover-rehearsal.iam.gserviceaccount.com"
    private static let package = "com.example.cards"

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let now = systemMilliseconds()
        let key = RSAPrivateKey.generate()
        var authority = PlayAuthority(seed: 1)
        let withdrawn = try authority.pushToken(to: audience, as: pusher, at: now)
        authority.rotate()
        let before = try authority.pushToken(to: audience, as: pusher, at: now)
        authority.rotate()
        let store = SimulatedGooglePlay(
            app,
            seed: 1,
            now: now,
            authority: authority,
            push: PubSubPush(audience: audience, email: pusher),
            accounts: [
                PlayServiceAccount(email: email, keyId: "key-1", publicKey: try publicKey(key))
            ]
        )
        try await store.register(GooglePlayCustomer(name: "anna", obfuscatedAccountId: "u_anna"))
        try await store.perform(
            .subscribe(to: [GooglePlayChoice("cards.pro")], payment: .prompt, from: .app),
            by: "anna"
        )
        let server = try HTTPServer(port: 0, handler: store.google)
        let words: JSONObject = [
            "url": .string("http://\(server.address)"), "audience": .string(audience),
            "email": .string(pusher), "package": .string(package),
            "purchase": .string(await store.tokens(of: "anna").last ?? ""),
            "tokens": [
                "current": .string(try authority.pushToken(to: audience, as: pusher, at: now)),
                "before": .string(before), "withdrawn": .string(withdrawn),
                "expired": .string(
                    try authority.pushToken(to: audience, as: pusher, at: now - 7_200_000)
                ),
            ],
            "keyFile": .object(keyFile(key, at: "http://\(server.address)")),
            "otherKeyFile": .object(keyFile(.generate(), at: "http://\(server.address)")),
        ]
        output.print(String(decoding: JSONValue.object(words).encoded(), as: UTF8.self))
        await server.run()
        return .success
    }

    private static var app: GooglePlayApp {
        guard let month = StorePeriod(iso: "P1M"), let price = StorePrice("9.99 USD") else {
            preconditionFailure("these are a period and a price")
        }
        let plan = GooglePlayBasePlan(id: "monthly", period: month, price: GooglePlayPrice(price))
        return GooglePlayApp(
            packageName: package,
            subscriptions: [GooglePlaySubscriptionProduct(id: "cards.pro", basePlans: [plan])]
        )
    }

    private static func publicKey(_ key: RSAPrivateKey) throws -> RSAPublicKey {
        let jwk = try JSONDocument(JSONValue.object(key.publicJWK).encoded()).root
        guard let key = RSAPublicKey(jwk: jwk) else {
            preconditionFailure("a key that was generated has a public half")
        }
        return key
    }

    /// In the format of the Cloud Console.
    private static func keyFile(_ key: RSAPrivateKey, at url: String) -> JSONObject {
        [
            "type": "service_account", "project_id": "tideover-rehearsal",
            "private_key_id": "key-1", "private_key": .string(key.pem),
            "client_email": .string(email), "token_uri": .string("\(url)/token"),
        ]
    }
}
