import Testing
import TideoverConfiguration
import TideoverHTTP
import TideoverJSON
import TideoverServer

@testable import TideoverTestServer

/// The effective configuration as the API and the dashboard show it.
@Suite struct ConfigurationRouteTests {
    private static let text = """
        {
          server: { adminKeyFile: "admin.txt" },
          storage: "sqlite:tideover.db",
          apps: [
            { id: "cards", environments: ["sandbox"],
              appStore: { bundleId: "com.example.cards", issuerId: "57246542-96fe-1a63-e053-0824d011072a", keyId: "ABCDEFGHIJ",
                          privateKeyFile: "AuthKey.p8" },
              products: { "cards.pro": { entitlements: ["premium"] } } },
            { id: "rehearsal", environments: ["sandbox"],
              appStore: { bundleId: "com.example.rehearsal" } },
          ],
        }
        """

    private func makeServer() throws -> TestServer {
        let (configuration, settings) = try Configuration.loadWithSettings(
            file: "etc/tideover.json",
            text: Array(Self.text.utf8),
            environment: ["TIDEOVER_SERVER_PUBLIC_URL": "https://billing.example.com"],
            readFile: { _ in Array("a secret".utf8) }
        )
        return try TestServer(
            dashboard: true,
            effective: EffectiveConfiguration(configuration, settings: settings)
        )
    }

    private func read(_ server: TestServer, _ app: String, key: String? = nil) async throws
        -> JSONNode
    {
        let headers: Headers =
            key.map { ["Authorization": "Bearer \($0)"] } ?? TestServer.credentials
        let response = try await server.service.handler(
            Request(path: "/v1/apps/\(app)/configuration", headers: headers)
        )
        #expect(response.status == 200)
        #expect(!String(decoding: response.body, as: UTF8.self).contains("a secret"))
        return try JSONDocument(response.body).root
    }

    private func paths(_ answer: JSONNode) -> [String] {
        answer["settings"]?.elements.compactMap { $0["path"]?.string } ?? []
    }

    @Test func `an admin sees the app and the server, a secret key only its app`() async throws {
        let server = try makeServer()
        let whole = try await read(server, "cards")
        #expect(whole["isWhole"]?.bool == true)
        #expect(paths(whole).contains("apps[0].appStore.bundleId"))
        #expect(paths(whole).contains("server.adminKeyFile"))
        #expect(!paths(whole).contains { $0.hasPrefix("apps[1]") })
        for kind in ["secret", "viewer"] {
            let key = try await server.key(kind, of: "cards")
            let own = try await read(server, "cards", key: key)
            #expect(own["isWhole"]?.bool == false)
            #expect(!paths(own).isEmpty)
            #expect(paths(own).allSatisfy { $0.hasPrefix("apps[0].") })
        }
        let other = try await server.key("secret", of: "rehearsal")
        let refused = try await server.service.handler(
            Request(
                path: "/v1/apps/cards/configuration",
                headers: ["Authorization": "Bearer \(other)"]
            )
        )
        #expect(refused.status == 403)
        await server.close()
    }

    @Test func `each value has its source, and a secret only the name of its file`() async throws {
        let server = try makeServer()
        let settings = try await read(server, "cards")["settings"]?.elements.map(\.self) ?? []
        func setting(_ path: String) -> JSONNode? { settings.first { $0["path"]?.string == path } }
        let key = setting("apps[0].appStore.privateKeyFile")
        #expect(key?["value"]?.string == "AuthKey.p8")
        #expect(key?["source"]?.string == "file")
        #expect(key?["line"]?.int64 == 7)
        #expect(setting("server.publicURL")?["source"]?.string == "variable")
        #expect(setting("apps[0].policy.transfer")?["source"]?.string == "default")
        await server.close()
    }

    @Test func `the findings say what to do, on the page too`() async throws {
        let server = try makeServer()
        let findings = try await read(server, "cards")["findings"]?.elements.map(\.self) ?? []
        let products = findings.first { $0["check"]?.string == "products" }
        #expect(products?["verdict"]?.string == "warning")
        let advice = try #require(products?["advice"]?.string)
        let browser = DashboardBrowser(server)
        try await browser.enter(TestServer.adminKey.text)
        let page = try await browser.text("/dashboard/apps/cards/configuration")
        #expect(page.contains("AuthKey.p8") && page.contains("line 7"))
        #expect(page.contains(String(advice.prefix(20))))
        await server.close()
    }

    @Test func `a server without a file has nothing to show`() async throws {
        let server = try TestServer(dashboard: true)
        #expect(try await paths(read(server, "cards")).isEmpty)
        let browser = DashboardBrowser(server)
        try await browser.enter(TestServer.adminKey.text)
        let page = try await browser.text("/dashboard/apps/cards/configuration")
        #expect(page.contains("No file configured this server."))
        await server.close()
    }
}
