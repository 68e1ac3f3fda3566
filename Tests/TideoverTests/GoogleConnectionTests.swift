import Foundation
import Testing
import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverHTTPServer
import TideoverJSON
import TideoverLocks
import TideoverSQLite
import TideoverServer
import TideoverSignatures
import TideoverTestProcesses

@testable import tideover

/// A Google on a local socket: tokens, the Play Developer API, the keys of pushes and Pub/Sub. The
/// configuration names its addresses.
@Suite(.timeLimit(.minutes(20))) final class GoogleConnectionTests: SuiteWithFolder {
    /// Google's answers, and the received requests.
    private final class Google: Sendable {
        static let key = RSAPrivateKey.generate()
        private let asked = Locked<[String]>([])
        private let messages = Locked<[JSONValue]>([])
        private let acknowledged = Locked<[String]>([])

        var questions: [String] { asked.withLock { $0 } }
        var acknowledgements: [String] { acknowledged.withLock { $0 } }

        func hold(_ message: JSONValue) { messages.withLock { $0.append(message) } }

        @Sendable func respond(to request: Request) throws -> Response {
            asked.withLock { $0.append("\(request.method) \(request.path)") }
            switch request.path {
            case "/token": return try token(request)
            case "/oauth2/v3/certs":
                var jwk = Self.key.publicJWK
                jwk["kid"] = "google-1"
                return .json(["keys": [.object(jwk)]])
            case "/v1/projects/p/subscriptions/s:pull":
                guard request.bears("pubsub") else { return Response(status: 403) }
                let all = messages.withLock { messages in
                    defer { messages = [] }
                    return messages
                }
                return .json(["receivedMessages": .array(all)])
            case "/v1/projects/p/subscriptions/s:acknowledge":
                let body = try JSONDocument(request.body).root
                let ids = body["ackIds"]?.elements.compactMap(\.string) ?? []
                acknowledged.withLock { $0 += ids }
                return .json([:])
            default: return purchase(request)
            }
        }

        /// Returns a token that contains its requested scope.
        private func token(_ request: Request) throws -> Response {
            let form = String(decoding: request.body, as: UTF8.self)
            let assertion = form.split(separator: "=").last ?? ""
            let jws = try JWS(Array(assertion.utf8))
            let claims = try JSONDocument(jws.payload).root
            let scope = claims["scope"]?.string?.split(separator: "/").last.map(String.init)
            return .json([
                "access_token": .string(scope ?? "none"), "expires_in": 3600,
                "token_type": "Bearer",
            ])
        }

        private func purchase(_ request: Request) -> Response {
            let root = "/androidpublisher/v3/applications/com.example.cards/purchases/"
            guard request.path == root + "subscriptionsv2/tokens/token-1",
                request.bears("androidpublisher")
            else { return Response(status: 404) }
            return .json([
                "subscriptionState": "SUBSCRIPTION_STATE_ACTIVE",
                "startTime": "2026-05-01T10:00:00Z",
                "externalAccountIdentifiers": ["obfuscatedExternalAccountId": "u_42"],
                "lineItems": [
                    [
                        "productId": "cards.pro.monthly", "expiryTime": "2126-05-01T10:00:00Z",
                        "autoRenewingPlan": ["autoRenewEnabled": true],
                    ]
                ],
            ])
        }
    }

    private func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: folder.appending(path: name))
    }

    private func configuration(_ address: String) throws -> Configuration {
        var template = CertificateTemplate.root(
            subject: "Root",
            notBefore: 946_684_800_000,
            notAfter: 4_102_444_799_000
        )
        template.basicConstraints = BasicConstraints(isAuthority: true)
        let root = try CertificateAuthority.selfSigned(template, key: .generate(.p256))
        try write(root.certificate, to: "root.der")
        let account: JSONValue = [
            "type": "service_account", "client_email": "robot@p.example", "private_key_id": "1",
            "private_key": .string(Google.key.pem), "token_uri": .string("\(address)/token"),
        ]
        try write(account.encoded(), to: "play.json")
        let text = """
            {
              apps: [{
                id: "cards", environments: ["simulated"],
                googlePlay: {
                  packageName: "com.example.cards", serviceAccountFile: "play.json",
                  pull: { subscription: "projects/p/subscriptions/s" },
                  push: { audience: "https://a.example", email: "pusher@p.example" },
                },
                simulatedStore: { url: "\(address)", root: "root.der" },
                products: { "cards.pro.monthly": { entitlements: ["premium"], period: "P1M" } },
              }],
            }
            """
        try write(Array(text.utf8), to: "tideover.json")
        return try ConfigurationFile.load(
            folder.path + "/tideover.json",
            variables: [:],
            telling: Output(capturingAs: .plain)
        )
    }

    private static func notification(at now: Instant) -> String {
        let notification: JSONValue = [
            "version": "1.0", "packageName": "com.example.cards",
            "eventTimeMillis": .string("\(now.millisecondsSince1970)"),
            "subscriptionNotification": [
                "version": "1.0", "notificationType": 4, "purchaseToken": "token-1",
            ],
        ]
        return Base64.encodeString(notification.encoded(), .standard)
    }

    private static func push(at now: Instant) throws -> Request {
        let seconds = now.millisecondsSince1970 / 1000
        let claims: JSONValue = [
            "iss": "https://accounts.google.com", "aud": "https://a.example",
            "email": "pusher@p.example", "email_verified": true, "iat": .integer(seconds),
            "exp": .integer(seconds + 3600),
        ]
        let token = try JWS.sign(
            header: ["alg": "RS256", "kid": "google-1"],
            payload: claims.encoded(),
            with: Google.key
        )
        let body: JSONValue = [
            "message": ["data": .string(notification(at: now)), "messageId": "1"]
        ]
        return Request(
            method: "POST",
            path: "/v1/apps/cards/notifications/google-play",
            headers: ["Authorization": "Bearer \(String(decoding: token, as: UTF8.self))"],
            body: body.encoded()
        )
    }

    @Test(arguments: [
        ("service_account", "secret", "private_key is not a PEM text"),
        ("service_account", P256PrivateKey.generate().pem, "private_key is not an RSA key"),
        ("authorized_user", Google.key.pem, "type is not service_account"),
        ("service_account", nil, "private_key is missing"),
    ])
    func `an unusable key file is refused with its fault and the file that is needed`(
        type: String,
        key: String?,
        words: String
    ) throws {
        let configuration = try configuration("http://127.0.0.1:1")
        var account: JSONObject = ["type": .string(type), "client_email": "robot@p.example"]
        account["private_key"] = key.map { .string($0) }
        try write(JSONValue.object(account).encoded(), to: "play.json")
        let failure = #expect(throws: CommandFailure.self) { try StoreConnections(configuration) }
        let message = failure?.message ?? ""
        #expect(message.contains(words), "\(message)")
        #expect(message.contains("JSON key file of a service account"), "\(message)")
    }

    @Test func `purchases of pushed and pulled messages are looked up over a socket`() async throws
    {
        let google = Google()
        let socket = try HTTPServer(port: 0) { try google.respond(to: $0) }
        let configuration = try configuration("http://\(socket.address)")
        let connections = try StoreConnections(configuration)
        #expect(connections.notices.allSatisfy { !$0.contains("Google") })
        let storage = try SQLiteStorage(path: folder.path + "/tideover.db")
        let service = try Service(
            apps: try configuration.apps.map {
                try App($0, googlePlay: connections.googlePlay[$0.id])
            },
            storage: storage,
            version: "test",
            clock: SystemClock.now,
            log: { _ in }
        )
        let now = SystemClock.now()
        let pushed = try await service.handler(Self.push(at: now))
        #expect(pushed.status == 200)
        #expect(
            Set(google.questions) == [
                "GET /oauth2/v3/certs", "POST /token",
                "GET /androidpublisher/v3/applications/com.example.cards/purchases/"
                    + "subscriptionsv2/tokens/token-1",
            ]
        )
        // The same event, pulled with a different message id.
        google.hold([
            "ackId": "ack-1",
            "message": ["data": .string(Self.notification(at: now)), "messageId": "2"],
        ])
        let pulling = Task { await service.work(on: [.pulls]) }
        while google.acknowledgements.isEmpty {
            try await Task.sleep(for: .milliseconds(20))
        }
        pulling.cancel()
        await pulling.value
        #expect(google.acknowledgements == ["ack-1"])
        let answer = try await service.handler(
            Request(
                path: "/v1/apps/cards/customers/u_42",
                query: [
                    QueryItem(name: "environment", value: "simulated")
                ]
            )
        )
        let premium = try JSONDocument(answer.body).root["entitlements"]?["premium"]
        #expect(premium?["access"]?.bool == true)
        #expect(premium?["confidence"]?.string == "confirmed")
        await storage.close()
        await socket.stop(within: .zero)
    }
}

extension Request {
    /// Whether the request has the token of a scope.
    fileprivate func bears(_ scope: String) -> Bool {
        headers["Authorization"] == "Bearer \(scope)"
    }
}
