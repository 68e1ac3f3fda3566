import Foundation
import Testing
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSQLite
import TideoverServer
import TideoverStorage
import TideoverTestProcesses

@testable import TideoverTestServer

/// Explanations over HTTP and on the command line, from the facts of signed notifications.
@Suite struct ExplainTests {
    private static let path = "/v1/apps/cards/customers/\(TestServer.anna)/explain"

    private func ask(_ server: TestServer, _ query: String = "") async throws -> JSONValue {
        let response = try await server.get("\(Self.path)?environment=sandbox\(query)")
        #expect(response.status == 200)
        #expect(response.headers["Cache-Control"] == "private, no-store")
        return JSONValue(try JSONDocument(response.body).root)
    }

    /// Posts a first month, and its renewal three days late.
    private func tell(_ server: TestServer) async throws {
        _ = try await server.post(.purchase())
        var renewal = Message("n-2", signed: Message.end)
        renewal.type = "DID_RENEW"
        renewal.subtype = nil
        var transaction = Message.transaction(signed: Message.end)
        transaction["transactionId"] = "2000000000000002"
        transaction["webOrderLineItemId"] = "900000002"
        transaction["purchaseDate"] = Message.end.wire
        transaction["expiresDate"] = (Message.end + Period(months: 1)).wire
        transaction["transactionReason"] = "RENEWAL"
        renewal.transaction = transaction
        server.set(Message.end + .days(3))
        #expect(try await server.post(renewal).status == 200)
    }

    // MARK: The route

    @Test func `the route returns the snapshot's answer, its rule and its evidence`() async throws {
        let server = try TestServer()
        try await tell(server)
        let why = try await ask(server)
        #expect(why["asOf"]?.string == "2026-06-04T10:00:00.000Z")
        #expect(why["asKnownAt"]?.isNull == true)
        let premium = why["entitlements"]?["premium"]
        #expect(try await server.answer()["entitlements"]?["premium"] == premium?["decision"])
        #expect(premium?["why"]?[0]?.string == "The purchase is in effect and has not ended.")
        let fact = premium?["used"]?[0]?["fact"]
        #expect(fact?["learnedAt"]?.string == "2026-06-04T10:00:00.000Z")
        #expect(fact?["assertedAt"]?.string == "2026-06-01T10:00:00.000Z")
        let evidence = EvidenceID(hex: try #require(fact?["evidence"]?.string))
        #expect(try server.storage.evidence(evidence, app: "cards") != nil)
        #expect(premium?["reply"]?[0]?.string?.contains("renewed on 1 June 2026") == true)
        await server.close()
    }

    @Test func `the route explains any instant, as known now or as known then`() async throws {
        let server = try TestServer()
        try await tell(server)
        func rule(_ query: String) async throws -> String? {
            try await ask(server, query)["entitlements"]?["premium"]?["decision"]?["rule"]?.string
        }
        #expect(try await rule("&at=2026-05-10T10:00:00Z") == "in-term")
        #expect(try await rule("&at=2026-04-10T10:00:00Z") == "no-facts")
        #expect(try await rule("&at=2026-06-03T10:00:00Z") == "in-term")
        #expect(try await rule("&asKnownAt=2026-06-03T10:00:00Z") == "unconfirmed")
        #expect(try await rule("&asKnownAt=2026-06-03T12:00:00%2B02:00") == "unconfirmed")
        #expect(
            try await rule("&at=2026-05-10T10:00:00Z&asKnownAt=2026-06-03T10:00:00Z") == "in-term"
        )
        #expect(try await rule("&asKnownAt=2026-04-01T10:00:00Z") == "no-facts")
        await server.close()
    }

    @Test func `an unknown customer gets an explanation`() async throws {
        let server = try TestServer()
        let premium = try await ask(server)["entitlements"]?["premium"]
        #expect(premium?["decision"]?["state"]?.string == "never")
        #expect(premium?["lineage"]?.isNull == true)
        #expect(premium?["reply"]?[0]?.string?.isEmpty == false)
        await server.close()
    }

    @Test(arguments: [
        ("?environment=sandbox&at=yesterday", 400, "bad-instant"),
        ("?environment=sandbox&at=", 400, "bad-instant"),
        ("?environment=sandbox&asKnownAt=2026-05-10", 400, "bad-instant"),
        ("?environment=sandbox&at=2026-05-10T10:00:00+02:00", 400, "bad-instant"),
        ("", 400, "environment-not-served"), ("?environment=moon", 400, "unknown-environment"),
    ])
    func `a malformed query is rejected`(
        query: String,
        status: Int,
        name: String
    ) async throws {
        let server = try TestServer()
        let response = try await server.get(Self.path + query)
        #expect(response.status == status)
        let type = try JSONDocument(response.body).root["type"]?.string
        #expect(type == "/problems/\(name)")
        await server.close()
    }

    // MARK: The command

    @Test(.withExecutable)
    func `the command prints the answer, the reasons, the next changes and a reply`() async throws {
        let server = try TestServer()
        try await tell(server)
        await server.storage.close()
        let said = try explain(server, "--at", "2026-06-10T10:00:00Z")
        #expect(said.code == 0, "\(said.messages)")
        let titles = [
            "premium: access until 2026-07-01T10:00:00.000Z", "Why", "Rule in-term",
            "What happens next", "For a reply to the customer",
        ]
        var rest = said.results[...]
        for title in titles {
            let place = try #require(rest.range(of: title), "\(title) in \(said.results)")
            rest = rest[place.upperBound...]
        }
        for title in ["Evidence", "Set aside", "Other purchases"] {
            #expect(!said.results.contains("\n\(title)\n"))
        }
        await server.close()
    }

    @Test(.withExecutable) func `the command prints the facts with a flag`() async throws {
        let server = try TestServer()
        try await tell(server)
        await server.storage.close()
        let said = try explain(server, "--at", "2026-06-10T10:00:00Z", "--evidence")
        #expect(said.code == 0, "\(said.messages)")
        let titles = [
            "premium: access until 2026-07-01T10:00:00.000Z", "Why", "Rule in-term", "Evidence",
            "Set aside", "What happens next", "For a reply to the customer",
        ]
        var rest = said.results[...]
        for title in titles {
            let place = try #require(rest.range(of: title), "\(title) in \(said.results)")
            rest = rest[place.upperBound...]
        }
        let widest = said.results.split(separator: "\n").map(\.count).max() ?? 0
        #expect(widest <= 80)
        await server.close()
    }

    @Test(.withExecutable) func `the command prints the same JSON as the route`() async throws {
        let server = try TestServer()
        try await tell(server)
        let answered = try await ask(server, "&asKnownAt=2026-06-03T10:00:00Z")
        await server.storage.close()
        let said = try explain(server, "--as-known-at", "2026-06-03T10:00:00Z", "--json")
        #expect(said.code == 0, "\(said.messages)")
        #expect(JSONValue(try JSONDocument(Array(said.results.utf8)).root) == answered)
        await server.close()
    }

    @Test(.withExecutable)
    func `while a server uses the database, the command describes how to ask the server`()
        async throws
    {
        let server = try TestServer()
        try await tell(server)
        let said = try explain(server, "--at", "2026-06-10T10:00:00Z")
        #expect(said.code == 69)
        #expect(said.results.isEmpty)
        #expect(said.messages.contains("is in use by process"))
        #expect(said.messages.contains("Set server.adminKeyFile in "))
        let asked = try explain(server, "--server", "http://127.0.0.1:1")
        #expect(asked.code == 69)
        #expect(asked.messages.contains("no admin key is configured"))
        await server.close()
    }

    @Test(.withExecutable, arguments: [[], ["--json"]])
    func `the command prints the same result from a running server`(options: [String]) async throws
    {
        let server = try TestServer()
        try await tell(server)
        await server.storage.close()
        let keyFile = server.folder.appending(path: "admin.key")
        try Data(TestServer.adminKey.text.utf8).writeSecret(to: keyFile)
        let options = ["--as-known-at", "2026-06-03T10:00:00Z"] + options
        let alone = try explain(server, keyFile: "admin.key", options)
        #expect(alone.code == 0, "\(alone.messages)")
        let running = try ServingExecutable(
            server.configuration(server: #"adminKeyFile: "admin.key""#)
        )
        let asked = try explain(
            server,
            keyFile: "admin.key",
            options + ["--server", "\(running.url)"]
        )
        #expect(asked.code == 0, "\(asked.messages)")
        #expect(asked.results == alone.results)
        let unasked = try explain(server, keyFile: "admin.key", options)
        // Through the socket beside the database, which needs no key.
        #expect(unasked.code == 0, "\(unasked.messages)")
        #expect(unasked.results == alone.results)
        try Data(APIKey(.admin) { 9 }.text.utf8).write(to: keyFile)
        let refused = try explain(
            server,
            keyFile: "admin.key",
            options + ["--server", "\(running.url)"]
        )
        #expect(refused.code == 77)
        #expect(refused.messages.contains("Invalid API key."))
        _ = running.stop()
        await server.close()
    }

    @Test(.withExecutable)
    func `a running server explains a rehearsal without a key`() async throws {
        let server = try TestServer()
        await server.storage.close()
        let path = server.folder.appending(path: "rehearsal.json")
        let root = server.folder.appending(path: "root.der")
        try Data(server.store.root).write(to: root)
        let text = """
            {
              server: { listen: "127.0.0.1:0" },
              apps: [{
                id: "cards", environments: ["simulated"],
                appStore: { bundleId: "com.example.cards" },
                simulatedStore: { root: "root.der" },
                products: { "cards.pro": { entitlements: ["premium"], period: "P1M" } },
              }],
            }
            """
        try Data(text.utf8).write(to: path)
        let running = try ServingExecutable(path.path)
        let said = try Executable.run([
            "explain", "nina", "--app", "cards", "--environment", "simulated", "--config",
            path.path, "--server", "\(running.url)",
        ])
        #expect(said.code == 0, "\(said.messages)")
        #expect(said.results.contains("premium: no access"))
        #expect(!running.stop().contains("app without key"))
        await server.close()
    }

    @Test(.withExecutable)
    func `the command creates no database and rejects an environment that is not served`()
        async throws
    {
        let server = try TestServer()
        await server.storage.close()
        let database = server.folder.appending(path: "tideover.db")
        try FileManager.default.removeItem(at: database)
        #expect(try explain(server).code == 66)
        #expect(!FileManager.default.fileExists(atPath: database.path))
        let production = try explain(server, environment: "production")
        #expect(production.code == 78)
        #expect(production.messages.contains("not served in production"))
        await server.close()
    }

    private func explain(
        _ server: TestServer,
        environment: String? = "sandbox",
        _ options: String...
    ) throws -> ChildProcess.Said {
        try explain(server, environment: environment, keyFile: nil, options)
    }

    private func explain(
        _ server: TestServer,
        environment: String? = "sandbox",
        keyFile: String?,
        _ options: [String]
    ) throws -> ChildProcess.Said {
        let asked = environment.map { ["--environment", $0] } ?? []
        return try Executable.run(
            [
                "explain", TestServer.anna, "--app", "cards", "--config",
                server.configuration(server: keyFile.map { "adminKeyFile: \"\($0)\"" } ?? ""),
            ] + asked + options
        )
    }
}
