import Testing
import TideoverConfiguration
import TideoverHTTP
import TideoverJSON
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// Authorisation as a function of the key, the route's requirement and the app.
@Suite struct AuthorisationTests {
    private static let publicKey = Presented.key(Grant(kind: .public, apps: ["cards"]), id: "k1")
    private static let secretKey = Presented.key(Grant(kind: .secret, apps: ["cards"]), id: "k1")
    private static let secretForAll = Presented.key(Grant(kind: .secret), id: "k1")
    private static let viewerKey = Presented.key(Grant(kind: .viewer, apps: ["cards"]), id: "k1")
    private static let adminKey = Presented.key(Grant(kind: .admin), id: "k1")
    /// A list that no admin key should have; it is ignored.
    private static let adminWithApps = Presented.key(Grant(kind: .admin, apps: ["chess"]), id: "k1")

    @Test(
        arguments: [
            (.unknown, [nil, "key-unknown", "key-unknown", "key-unknown"]),
            (publicKey, [nil, nil, "key-not-allowed", "key-not-allowed"]),
            (secretKey, [nil, nil, nil, "key-not-allowed"]),
            (secretForAll, [nil, nil, nil, "key-not-allowed"]),
            (viewerKey, [nil, nil, nil, "key-not-allowed"]),
            (adminKey, [nil, nil, nil, nil]),
            (adminWithApps, [nil, nil, nil, nil]),
        ] as [(Presented, [String?])]
    )
    func `each kind of key authorises its own routes`(presented: Presented, slugs: [String?]) {
        for (need, slug) in zip(Need.allCases, slugs) {
            for isRehearsal in [false, true] {
                let app = need == .admin ? nil : "cards"
                let found = need.objection(
                    to: presented,
                    app: app,
                    isRehearsal: isRehearsal,
                    writes: false
                )
                #expect(found?.slug == slug, "\(need), rehearsal: \(isRehearsal)")
                let writing = need.objection(
                    to: presented,
                    app: app,
                    isRehearsal: isRehearsal,
                    writes: true
                )
                let isViewer = presented == Self.viewerKey && need != .nothing
                #expect(writing?.slug == (isViewer ? "key-not-allowed" : slug), "\(need)")
            }
        }
    }

    @Test func `a viewer key reads what a secret key reads, and changes nothing`() async throws {
        let server = try TestServer()
        let wish = Array(#"{"kind": "viewer", "apps": ["cards"], "name": "support"}"#.utf8)
        let made = try await server.send("POST", "/v1/keys", body: wish)
        #expect(made.status == 201)
        let key = try #require(try JSONDocument(made.body).root["key"]?.string)
        #expect(key.hasPrefix("tideover_viewer_"))
        let bearer: Headers = ["Authorization": "Bearer \(key)"]
        for route in Service.routes where route.need != .nothing {
            let path = route.template.replacing("{app}", with: "cards")
                .replacing("{customer}", with: "u_1").replacing("{grant}", with: "g")
                .replacing("{id}", with: "k").replacing("{purchase}", with: "p")
                .replacing("{webhook}", with: "w")
            let request = Request(
                method: route.method,
                path: path,
                headers: bearer,
                body: Array("{}".utf8)
            )
            let status = try await server.service.handler(request).status
            let isReadable = !route.writes && route.need != .admin
            #expect((status == 403) != isReadable, "\(route.method) \(route.template): \(status)")
        }
        await server.close()
    }

    @Test func `without a key only public routes and rehearsed apps are readable`() {
        for need in Need.allCases {
            let real = need.objection(
                to: .nothing,
                app: "cards",
                isRehearsal: false,
                writes: false
            )
            #expect(real?.slug == (need == .nothing ? nil : "key-missing"))
            let rehearsed = need.objection(
                to: .nothing,
                app: "cards",
                isRehearsal: true,
                writes: false
            )
            #expect(rehearsed?.slug == (need == .admin ? "key-missing" : nil))
            let written = need.objection(
                to: .nothing,
                app: "cards",
                isRehearsal: true,
                writes: true
            )
            #expect(written?.slug == (need == .nothing ? nil : "key-missing"))
        }
    }

    /// These requests of stores are authenticated by their signature, Pub/Sub's token, or
    /// RevenueCat's header.
    private static let signed = ["app-store", "google-play", "revenuecat"].map {
        "/v1/apps/{app}/notifications/\($0)"
    }

    @Test(arguments: Service.routes.filter(\.writes).map { ($0.method, $0.template) })
    func `a route that writes needs a key in rehearsed apps too`(
        method: String,
        template: String
    ) async throws {
        guard !Self.signed.contains(template) else { return }
        let server = try TestServer()
        for app in ["cards", "rehearsal"] {
            let path = template.replacing("{app}", with: app).replacing("{customer}", with: "u_1")
                .replacing("{grant}", with: "g").replacing("{id}", with: "k")
            for environment in ["production", "sandbox", "simulated"] {
                let request = Request(
                    method: method,
                    path: path,
                    query: [QueryItem(name: "environment", value: environment)],
                    body: Array("{}".utf8)
                )
                let response = try await server.service.handler(request)
                #expect(response.status == 401, "\(method) \(path) \(environment)")
            }
        }
        await server.close()
    }

    @Test func `a key for one app opens no other app, existing or not`() {
        for presented in [Self.publicKey, Self.secretKey] {
            for app in ["chess", "Cards", "", "unheard-of"] {
                let objection = objection(of: .read, to: presented, app: app)
                #expect(objection?.slug == "key-not-allowed")
            }
        }
        #expect(objection(of: .read, to: Self.secretForAll, app: "unheard-of") == nil)
    }

    @Test func `a 401 response describes the authentication it needs`() {
        for presented in [Presented.nothing, .unknown] {
            let problem = objection(of: .read, to: presented, app: "cards")
            #expect(problem?.status == 401)
            #expect(problem?.headers["WWW-Authenticate"] == "Bearer")
        }
        let problem = objection(of: .secret, to: Self.publicKey, app: "cards")
        #expect(problem?.status == 403)
        #expect(problem?.members["kinds"] == ["secret", "viewer", "admin"])
    }

    /// Returns the objection to a request that reads from an app with real purchases.
    private func objection(of need: Need, to presented: Presented, app: String) -> Problem? {
        need.objection(to: presented, app: app, isRehearsal: false, writes: false)
    }
}

/// The format of a key.
@Suite struct APIKeyTests {
    private static let good = APIKey(.secret) { 0x0807_0605_0403_0201 }.text

    @Test(arguments: KeyKind.allCases)
    func `a new key contains its kind and 256 bits and parses again`(kind: KeyKind) throws {
        let key = APIKey(kind) { .random(in: .min ... .max) }
        #expect(key.text.hasPrefix("tideover_\(kind.rawValue)_"))
        #expect(key.text.utf8.count == "tideover_\(kind.rawValue)_".utf8.count + 43)
        #expect(APIKey(key.text) == key)
        #expect(APIKey(kind) { .random(in: .min ... .max) } != key)
    }

    @Test func `a key contains every random bit`() {
        #expect(Self.good == "tideover_secret_AQIDBAUGBwgBAgMEBQYHCAECAwQFBgcIAQIDBAUGBwg")
        var bits: UInt64 = 0
        let keys = (0..<256).map { number in
            var word = -1
            return APIKey(.secret) {
                word += 1
                bits = number / 64 == word ? 1 << (number % 64) : 0
                return bits
            }
        }
        #expect(Set(keys).count == 256)
    }

    @Test(
        arguments: [
            "", "tideover_secret_", "tideover_secret_AQID", good + "A", good + "=", good + "\n",
            " " + good, String(good.dropLast()), String(good.dropLast()) + "h",
            good.replacing("secret", with: "master"), good.replacing("secret", with: "Secret"),
            good.replacing("tideover", with: "tidepool"), good.replacing("A", with: "+"),
            good.replacing("_secret_", with: "_secret_\u{301}"),
        ]
    )
    func `malformed text is not a key`(text: String) {
        #expect(APIKey(text) == nil)
    }

    @Test func `the description of a key shows only its kind`() throws {
        let key = try #require(APIKey(Self.good))
        var dumped = ""
        dump(key, to: &dumped)
        for text in ["\(key)", String(reflecting: key), dumped, "\([key])"] {
            #expect(text.contains("secret"))
            #expect(!text.contains("AQID"))
        }
    }
}

/// The keys of a server.
@Suite struct KeyTableTests {
    private func record(
        _ number: UInt8,
        _ kind: KeyKind = .secret,
        apps: [String] = [],
        revoked: Bool = false
    ) -> KeyRecord {
        KeyRecord(
            id: "\(number)",
            digest: [UInt8](repeating: number, count: 32),
            kind: kind,
            apps: apps,
            createdAt: Message.start,
            revokedAt: revoked ? Message.end : nil
        )
    }

    @Test func `an app has a key when a public or secret key opens it`() {
        var table = KeyTable([record(1, .admin), record(2, apps: ["chess"], revoked: true)])
        #expect(!table.hasKey(for: "chess"))
        table.learn([record(3, .public, apps: ["chess", "go"])])
        #expect(table.hasKey(for: "chess"))
        #expect(!table.hasKey(for: "cards"))
        table.learn([record(4)])
        #expect(table.hasKey(for: "cards"))
    }

    @Test func `a revoked key stays revoked when an older record arrives`() {
        var table = KeyTable([record(1)])
        table.learn([record(1, revoked: true)])
        table.learn([record(1)])
        #expect(!table.hasKey(for: "cards"))
        #expect(table.all == [record(1, revoked: true)])
    }
}
