import Testing
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSQLite
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// Keys over HTTP: created, used, listed, revoked.
@Suite struct KeyTests {
    private static let anna = "/v1/apps/cards/customers/\(TestServer.anna)"
    private static let read = anna + "?environment=sandbox"
    private static let explain = anna + "/explain?environment=sandbox"

    private func make(_ server: TestServer, _ body: String) async throws -> JSONNode {
        let response = try await server.send("POST", "/v1/keys", body: Array(body.utf8))
        #expect(response.status == 201)
        #expect(response.headers["Cache-Control"] == "no-store")
        return try JSONDocument(response.body).root
    }

    private func key(_ server: TestServer, _ body: String) async throws -> String {
        try #require(try await make(server, body)["key"]?.string)
    }

    /// Returns the status of a request, and the code of the problem if there is one.
    private func asked(
        _ server: TestServer,
        _ target: String,
        _ authorisation: String?,
        method: String = "GET"
    ) async throws -> String {
        let headers: Headers = authorisation.map { ["Authorization": $0] } ?? [:]
        let response = try await server.ask(method, target, headers: headers)
        let type = try JSONDocument(response.body).root["type"]?.string ?? ""
        let slug = type.split(separator: "/").last.map { " \($0)" } ?? ""
        if response.status == 401 { #expect(response.headers["WWW-Authenticate"] == "Bearer") }
        return "\(response.status)\(slug)"
    }

    @Test func `reads need any key, explanations a secret key, and key management an admin key`()
        async throws
    {
        let server = try TestServer()
        let publicKey = try await key(server, #"{"kind": "public", "apps": ["cards"]}"#)
        let secretKey = try await key(server, #"{"kind": "secret"}"#)
        let adminKey = try await key(server, #"{"kind": "admin", "name": "Ann"}"#)
        let table: [(String?, [String])] = [
            (nil, ["401 key-missing", "401 key-missing", "401 key-missing"]),
            (publicKey, ["200", "403 key-not-allowed", "403 key-not-allowed"]),
            (secretKey, ["200", "200", "403 key-not-allowed"]),
            (adminKey, ["200", "200", "200"]), (TestServer.adminKey.text, ["200", "200", "200"]),
            (APIKey(.admin) { 9 }.text, [String](repeating: "401 key-unknown", count: 3)),
        ]
        for (key, answers) in table {
            var found: [String] = []
            for target in [Self.read, Self.explain, "/v1/keys"] {
                found.append(try await asked(server, target, key.map { "Bearer \($0)" }))
            }
            #expect(found == answers, "\(key?.prefix(16) ?? "no key")")
        }
        await server.close()
    }

    @Test func `a revoked key gets the same response, byte by byte, as an unknown key`()
        async throws
    {
        let server = try TestServer()
        let made = try await make(server, #"{"kind": "secret", "apps": ["cards"]}"#)
        let key = try #require(made["key"]?.string)
        let id = try #require(made["id"]?.string)
        #expect(try await asked(server, Self.read, "Bearer \(key)") == "200")
        let revoked = try await server.send("DELETE", "/v1/keys/\(id)")
        #expect(try JSONDocument(revoked.body).root["revokedAt"]?.string != nil)
        let again = try await server.send("DELETE", "/v1/keys/\(id)")
        #expect(again.body == revoked.body)
        var answers = Set<[UInt8]>()
        let other = APIKey(.secret) { 9 }.text
        for presented in [
            "Bearer \(key)", "Bearer \(other)", "Bearer x", "Bearer", "bearer  ", "Basic YTpi", key,
            "", "Bearer \(key) ", "Bearer \(String(repeating: "a", count: 1_000))",
        ] {
            #expect(try await asked(server, Self.read, presented) == "401 key-unknown")
            var headers: Headers = ["Authorization": presented]
            headers.append("If-None-Match", "*")
            answers.insert(try await server.ask("GET", Self.read, headers: headers).body)
        }
        #expect(answers.count == 1)
        await server.close()
    }

    @Test func `the scheme is matched in any case, and two headers are rejected`() async throws {
        let server = try TestServer()
        let key = TestServer.adminKey.text
        #expect(try await asked(server, Self.read, "bearer \(key)") == "200")
        #expect(try await asked(server, Self.read, "BEARER   \(key)") == "200")
        var twice = TestServer.credentials
        twice.append("Authorization", "Bearer \(key)")
        #expect(try await server.ask("GET", Self.read, headers: twice).status == 401)
        await server.close()
    }

    @Test func `a client without access to an app does not learn whether it exists`() async throws {
        let server = try TestServer()
        let key = try await key(server, #"{"kind": "secret", "apps": ["rehearsal"]}"#)
        for presented in [nil, "Bearer \(key)", "Bearer x"] {
            var answers = Set<[UInt8]>()
            for app in ["cards", "unheard-of"] {
                let headers: Headers = presented.map { ["Authorization": $0] } ?? [:]
                let target = "/v1/apps/\(app)/customers/x?environment=sandbox"
                answers.insert(try await server.ask("GET", target, headers: headers).body)
            }
            #expect(answers.count == 1)
        }
        let all = try await self.key(server, #"{"kind": "public"}"#)
        let target = "/v1/apps/unheard-of/customers/x"
        #expect(try await asked(server, target, "Bearer \(all)") == "404 unknown-app")
        await server.close()
    }

    @Test func `a rehearsed app is readable without a key, but not with a wrong key`()
        async throws
    {
        let server = try TestServer()
        let key = try await key(server, #"{"kind": "public", "apps": ["cards"]}"#)
        let read = "/v1/apps/rehearsal/customers/x?environment=simulated"
        let explain = "/v1/apps/rehearsal/customers/x/explain?environment=simulated"
        for target in [read, explain] {
            #expect(try await asked(server, target, nil) == "200")
            #expect(try await asked(server, target, "Bearer x") == "401 key-unknown")
            #expect(try await asked(server, target, "Bearer \(key)") == "403 key-not-allowed")
        }
        let simulated = Self.anna + "?environment=simulated"
        #expect(try await asked(server, simulated, nil) == "401 key-missing")
        await server.close()
    }

    @Test func `notifications and monitoring need no key and ignore one`() async throws {
        let server = try TestServer()
        for target in ["/healthz", "/readyz", "/metrics", "/openapi.json", "/problems/key-missing"]
        {
            for headers: Headers in [[:], ["Authorization": "Bearer x"]] {
                #expect(try await server.ask("GET", target, headers: headers).status == 200)
            }
        }
        let taken = try await server.ask(
            "POST",
            "/v1/apps/cards/notifications/app-store",
            headers: ["Authorization": "Bearer x"],
            body: try Message.purchase().body(server.store)
        )
        #expect(taken.status == 200)
        await server.close()
    }

    @Test func `keys outlive the server, and their texts are not stored`() async throws {
        let server = try TestServer()
        let key = try await key(
            server,
            #"{"kind": "secret", "apps": ["rehearsal", "cards"], "name": "back end"}"#
        )
        await server.storage.close()
        let later = try TestServer(folder: server.folder, store: server.store)
        #expect(try await asked(later, Self.read, "Bearer \(key)") == "200")
        let listed = try await later.get("/v1/keys")
        #expect(!String(decoding: listed.body, as: UTF8.self).contains(key.suffix(43)))
        let only = try JSONDocument(listed.body).root["keys"]?[0]
        #expect(only?["name"]?.string == "back end")
        #expect(only?["apps"]?.elements.compactMap(\.string) == ["cards", "rehearsal"])
        #expect(only?["createdAt"]?.string == "2026-05-01T10:00:05.000Z")
        #expect(only?["revokedAt"]?.isNull == true)
        await later.close()
    }

    @Test func `keys are listed in the order of creation`() async throws {
        let server = try TestServer()
        var ids: [String] = []
        for second in 0..<5 {
            server.set(Message.start + .seconds(Int64(second)))
            let made = try await make(server, #"{"kind": "secret"}"#)
            ids.append(try #require(made["id"]?.string))
        }
        #expect(ids == ids.sorted() && Set(ids.map(\.count)) == [12])
        let listed = try JSONDocument(try await server.get("/v1/keys").body).root["keys"]
        #expect(listed?.elements.compactMap { $0["id"]?.string } == ids)
        await server.close()
    }

    @Test func `an admin key of the configuration is not listed and ends with its setting`()
        async throws
    {
        let server = try TestServer()
        let listed = try await server.get("/v1/keys")
        #expect(String(decoding: listed.body, as: UTF8.self) == #"{"keys":[]}"#)
        await server.storage.close()
        let later = try TestServer(folder: server.folder, store: server.store, adminKey: nil)
        #expect(try await later.get("/v1/keys").status == 401)
        await later.close()
    }

    @Test func `a revoked admin key is rejected in the configuration too`() async throws {
        let server = try TestServer()
        let made = try await make(server, #"{"kind": "admin"}"#)
        let key = try #require(made["key"]?.string.flatMap { APIKey($0) })
        let id = try #require(made["id"]?.string)
        #expect(!server.service.isAdminKeyRevoked)
        _ = try await server.send("DELETE", "/v1/keys/\(id)")
        await server.storage.close()
        let later = try TestServer(folder: server.folder, store: server.store, adminKey: key)
        #expect(later.service.isAdminKeyRevoked)
        #expect(try await asked(later, "/v1/keys", "Bearer \(key.text)") == "401 key-unknown")
        await later.close()
    }

    @Test func `the server reports its apps without a key`() async throws {
        let server = try TestServer()
        #expect(server.service.appsWithoutKey == ["cards"])
        let made = try await make(server, #"{"kind": "public", "apps": ["cards"]}"#)
        #expect(server.service.appsWithoutKey == [])
        let id = try #require(made["id"]?.string)
        _ = try await server.send("DELETE", "/v1/keys/\(id)")
        #expect(server.service.appsWithoutKey == ["cards"])
        await server.close()
    }

    @Test(arguments: [
        ("", "strict JSON"), ("[]", "not an object"), ("{}", "`kind`"),
        (#"{"kind": "root"}"#, "`kind`"), (#"{"kind": "secret", "kind": "admin"}"#, "strict JSON"),
        (#"{"kind": "secret", "app": ["cards"]}"#, "are allowed"),
        (#"{"kind": "secret", "apps": "cards"}"#, "`apps`"),
        (#"{"kind": "secret", "apps": null}"#, "`apps`"),
        (#"{"kind": "secret", "apps": ["cards", 7]}"#, "`apps`"),
        (#"{"kind": "secret", "apps": ["cards", "cards"]}"#, "`apps`"),
        (#"{"kind": "secret", "apps": ["chess"]}"#, "cards, rehearsal"),
        (#"{"kind": "admin", "apps": ["cards"]}"#, "all apps"),
        (#"{"kind": "secret", "name": 7}"#, "`name`"),
        (#"{"kind": "secret", "name": "a\nb"}"#, "`name`"),
        (#"{"kind": "secret", "name": "  "}"#, "not blank"),
        (#"{"kind": "secret", "name": "\#(String(repeating: "n", count: 101))"}"#, "`name`"),
    ])
    func `an invalid request for a key is rejected with the reason`(
        body: String,
        words: String
    ) async throws {
        let server = try TestServer()
        let response = try await server.send("POST", "/v1/keys", body: Array(body.utf8))
        #expect(response.status == 400)
        let problem = try JSONDocument(response.body).root
        #expect(problem["type"]?.string == "/problems/bad-key-request")
        #expect(problem["detail"]?.string?.contains(words) == true)
        #expect(try server.storage.keys().isEmpty)
        await server.close()
    }

    @Test func `a key that fails to be stored authorises nothing`() async throws {
        let disk = Disk()
        let server = try TestServer(faults: disk.faults)
        disk.isFull = true
        let response = try await server.send(
            "POST",
            "/v1/keys",
            body: Array(#"{"kind": "secret"}"#.utf8)
        )
        #expect(response.status == 503)
        disk.isFull = false
        #expect(server.service.appsWithoutKey == ["cards"])
        let listed = try await server.get("/v1/keys")
        #expect(String(decoding: listed.body, as: UTF8.self) == #"{"keys":[]}"#)
        await server.close()
    }

    @Test func `changes of keys are logged by id, and rejections are counted`() async throws {
        let server = try TestServer()
        let made = try await make(server, #"{"kind": "secret", "name": "canary"}"#)
        let id = try #require(made["id"]?.string)
        _ = try await server.send("DELETE", "/v1/keys/\(id)")
        _ = try await asked(server, Self.read, nil)
        _ = try await asked(server, Self.read, "Bearer x")
        for event in ["key added", "key revoked"] {
            #expect(
                server.logged.contains {
                    $0.contains(#""event":"\#(event)","code":"secret","detail":"\#(id)""#)
                }
            )
        }
        #expect(!server.logged.contains { $0.contains("canary") })
        let samples = try await server.samples()
        #expect(samples.contains(#"tideover_key_refusals_total{code="key-missing"} 1"#))
        #expect(samples.contains(#"tideover_key_refusals_total{code="key-unknown"} 1"#))
        #expect(samples.contains(#"tideover_key_refusals_total{code="key-not-allowed"} 0"#))
        await server.close()
    }
}
