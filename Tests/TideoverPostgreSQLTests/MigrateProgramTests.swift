import Foundation
import Testing
import TideoverHTTP
import TideoverJSON
import TideoverTestProcesses

/// `tideover migrate` as used by an operator, from a file to PostgreSQL and back.
@Suite(.onPostgreSQL, .serialized) final class `The command migrate`: SuiteWithFolder {
    private let database: TestDatabase

    override init() throws {
        database = try TestDatabase()
        try super.init()
    }

    private func path(_ name: String) -> String { folder.appending(path: name).path }

    /// Writes a configuration with a storage, and returns its path.
    private func configuration(_ storage: String) throws -> String {
        let text = """
            { storage: "\(storage)", server: { listen: "127.0.0.1:0" },
              apps: [{ id: "cards", environments: ["sandbox"],
              products: { "cards.pro.monthly": { entitlements: ["premium"], period: "P1M" } } }] }
            """
        return try write(text, to: "\(UUID().uuidString).json")
    }

    /// Returns the entitlements that a server on a storage answers.
    private func answer(
        _ storage: String,
        key: String,
        of customer: String = "anna"
    ) async throws -> JSONValue? {
        let server = try RunningServer(try configuration(storage))
        let response = try await server.ask("/v1/apps/cards/customers/\(customer)", key: key)
        _ = server.stop()
        #expect(response.status == 200)
        return try JSONValue(JSONDocument(response.body).root)["entitlements"]
    }

    private func migrate(
        from source: String,
        to target: String,
        whileServing: Bool = false
    ) throws -> String {
        let configuration = try configuration(source)
        let words = ["--from", source, "--to", target, "--config", configuration]
        return try RunningServer.run(
            ["migrate"] + words + (whileServing ? ["--while-serving"] : [])
        )
    }

    /// Grants access to a customer.
    private func grant(_ customer: String, by server: RunningServer, key: String) async throws {
        let response = try await server.ask(
            "/v1/apps/cards/customers/\(customer)/grants",
            "POST",
            key: key,
            body: #"{"entitlement":"premium","days":7,"why":"sorry"}"#
        )
        #expect((200...201).contains(response.status))
    }

    @Test func `copies while a server works, and then only what changed`() async throws {
        let (old, new) = ("sqlite:\(path("old.db"))", "sqlite:\(path("new.db"))")
        let key = try await live(old)
        for (source, target) in [(old, database.address), (database.address, new)] {
            let server = try RunningServer(try configuration(source))
            for customer in ["ben", "cleo"] {
                try await grant(customer, by: server, key: key)
                let said = try migrate(from: source, to: target, whileServing: true)
                #expect(!said.contains("equal"))
            }
            // While a server uses the source, this is refused.
            #expect(throws: RunningServer.Ended.self) { try migrate(from: source, to: target) }
            try await grant("dora", by: server, key: key)
            _ = server.stop()
            let said = try migrate(from: source, to: target)
            #expect(said.contains("4 customers"))
            #expect(!said.contains("DIFFERENT"))
            #expect(!said.contains("added: 0"))
            for customer in ["anna", "ben", "cleo", "dora"] {
                let before = try await answer(source, key: key, of: customer)
                #expect(before?["premium"]?["access"] == true)
                #expect(try await answer(target, key: key, of: customer) == before)
            }
        }
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
        try await grant("anna", by: server, key: key)
        _ = server.stop()
        return key
    }

    @Test func `moves a file to PostgreSQL and back, with the same answers`() async throws {
        let (old, new) = ("sqlite:\(path("old.db"))", "sqlite:\(path("new.db"))")
        let key = try await live(old)
        let before = try await answer(old, key: key)
        #expect(before?["premium"]?["access"] == true)
        for (source, target) in [(old, database.address), (database.address, new)] {
            let said = try migrate(from: source, to: target)
            #expect(said.contains("1 customer,"))
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
        // That is for a source; this is the target.
        #expect(!refusal.contains("--while-serving"))
        // Nothing was copied, not even the key.
        let response = try await server.ask("/v1/apps/cards/customers/anna", key: key)
        _ = server.stop()
        #expect(response.status == 401)
    }
}
