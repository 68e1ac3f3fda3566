import Foundation
import Testing
import TideoverHTTP
import TideoverJSON

/// `tideover migrate` as used by an operator, from a file to PostgreSQL and back.
@Suite(.onPostgreSQL, .serialized) final class `The command migrate` {
    private let folder = FileManager.default.temporaryDirectory.appending(
        path: "tideover-migrate-\(UUID().uuidString)"
    )
    private let database: TestDatabase

    init() throws {
        database = try TestDatabase()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func path(_ name: String) -> String { folder.appending(path: name).path }

    /// Writes a configuration with a storage, and returns its path.
    private func configuration(_ storage: String) throws -> String {
        let text = """
            { storage: "\(storage)", server: { listen: "127.0.0.1:0" },
              apps: [{ id: "cards", environments: ["sandbox"],
              products: { "cards.pro.monthly": { entitlements: ["premium"], period: "P1M" } } }] }
            """
        let file = path("\(UUID().uuidString).json")
        try Data(text.utf8).write(to: URL(filePath: file))
        return file
    }

    /// Returns the entitlements that a server on a storage answers.
    private func answer(_ storage: String, key: String) async throws -> JSONValue? {
        let server = try RunningServer(try configuration(storage))
        let response = try await server.ask("/v1/apps/cards/customers/anna", key: key)
        _ = server.stop()
        #expect(response.status == 200)
        return try JSONValue(JSONDocument(response.body).root)["entitlements"]
    }

    private func migrate(from source: String, to target: String) throws -> String {
        let configuration = try configuration(source)
        return try RunningServer.run(
            "migrate",
            "--from",
            source,
            "--to",
            target,
            "--config",
            configuration
        )
    }

    /// Creates a file with a grant and a key, which it returns.
    private func live(_ storage: String) async throws -> String {
        let configuration = try configuration(storage)
        let key = try RunningServer.run(
            "keys",
            "add",
            "--kind",
            "secret",
            "--app",
            "cards",
            "--config",
            configuration
        )
        let server = try RunningServer(configuration)
        let body = #"{"entitlement":"premium","days":7,"why":"sorry"}"#
        let response = try await server.ask(
            "/v1/apps/cards/customers/anna/grants",
            "POST",
            key: key,
            body: body
        )
        _ = server.stop()
        #expect((200...201).contains(response.status))
        return key
    }

    @Test func `moves a file to PostgreSQL and back, with the same answers`() async throws {
        let (old, new) = ("sqlite:\(path("old.db"))", "sqlite:\(path("new.db"))")
        let key = try await live(old)
        let before = try await answer(old, key: key)
        #expect(before?["premium"]?["access"] == true)
        for (source, target) in [(old, database.address), (database.address, new)] {
            let said = try migrate(from: source, to: target)
            #expect(said.contains("1 customers"))
            #expect(said.contains("keys: 1"))
            #expect(!said.contains("DIFFERENT"))
            #expect(try await answer(target, key: key) == before)
        }
    }

    @Test func `refuses a database that a server uses`() async throws {
        let key = try await live("sqlite:\(path("old.db"))")
        let server = try RunningServer(try configuration(database.address))
        var refusal = ""
        do {
            _ = try migrate(from: "sqlite:\(path("old.db"))", to: database.address)
        } catch let ended as RunningServer.Ended {
            refusal = ended.messages
        }
        #expect(refusal.contains("is used by servers: 1"))
        // Nothing was copied, not even the key.
        let response = try await server.ask("/v1/apps/cards/customers/anna", key: key)
        _ = server.stop()
        #expect(response.status == 401)
    }
}
