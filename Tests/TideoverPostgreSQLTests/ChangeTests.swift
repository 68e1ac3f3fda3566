import Foundation
import Testing
import TideoverHTTP
import TideoverJSON
import TideoverTestProcesses

/// What is changed through one server, as the others see it: each is a process of its own.
@Suite(.onPostgreSQL, .serialized) final class `A change on one server`: SuiteWithFolder {
    /// What docs/postgresql.md promises.
    private static let bound = Duration.seconds(3)
    private static let customer = "/v1/apps/cards/customers/u_42"
    private let database: TestDatabase

    override init() throws {
        database = try TestDatabase()
        try super.init()
    }

    /// Writes the configuration of a server, and returns its path.
    private func configure(
        _ name: String,
        billingRetry: String = "suspend",
        listen: Substring = "127.0.0.1:0"
    ) throws -> String {
        let text = """
            { server: { listen: "\(listen)" }, storage: "\(database.address)",
              apps: [{ id: "cards", environments: ["sandbox"],
              appStore: { bundleId: "com.example.cards" },
              policy: { billingRetry: "\(billingRetry)" },
              products: { "pro": { entitlements: ["premium"], period: "P1M" } } }] }
            """
        return try write(text, to: "\(name).json")
    }

    /// Returns after how long a condition holds; nil if it does not within ten minutes. A machine
    /// that is busy with builds can be late, so only one test compares this with the bound.
    private func delay(until holds: () async throws -> Bool) async throws -> Duration? {
        let begun = ContinuousClock.now
        while ContinuousClock.now - begun < .seconds(600) {
            if try await holds() { return ContinuousClock.now - begun }
            try await Task.sleep(for: .milliseconds(20))
        }
        return nil
    }

    private func field(_ name: String, of response: Response) throws -> String {
        try #require(try JSONDocument(response.body).root[name]?.string)
    }

    @Test func `adds and revokes a key for all of them`() async throws {
        let path = try configure("both")
        let admin = try RunningServer.run("keys", "add", "--kind", "admin", "--config", path)
        let (one, other) = (try RunningServer(path), try RunningServer(path))
        defer { for server in [one, other] { server.kill() } }
        var delays: [Duration] = []
        // A machine that is busy with builds can be late, but not each time.
        repeat {
            delays.append(try await keyDelay(by: one, seenBy: other, admin))
        } while delays.count < 3 && delays.allSatisfy { $0 > Self.bound }
        #expect(delays.contains { $0 <= Self.bound }, "\(delays)")
    }

    /// Adds and revokes a key. Returns after how long another server had seen the later one of both.
    private func keyDelay(
        by one: RunningServer,
        seenBy other: RunningServer,
        _ admin: String
    ) async throws -> Duration {
        let wish = #"{"kind": "secret"}"#
        let made = try await one.ask("/v1/keys", "POST", key: admin, body: wish)
        let (key, id) = (try field("key", of: made), try field("id", of: made))
        func status() async throws -> Int {
            try await other.ask(Self.customer, key: key).status
        }
        let added = try #require(try await delay { try await status() == 200 })
        let revoked = try await one.ask("/v1/keys/\(id)", "DELETE", key: admin)
        #expect(revoked.status == 200)
        let ended = try #require(try await delay { try await status() == 401 })
        return max(added, ended)
    }

    @Test func `revokes a key also by a command beside the servers`() async throws {
        let path = try configure("both")
        let key = try RunningServer.run("keys", "add", "--kind", "secret", "--config", path)
        let server = try RunningServer(path)
        defer { server.kill() }
        #expect(try await server.ask(Self.customer, key: key).status == 200)
        let list = try RunningServer.run("keys", "list", "--json", "--config", path)
        let id = try #require(try JSONDocument(Array(list.utf8)).root["keys"]?[0]?["id"]?.string)
        _ = try RunningServer.run("keys", "revoke", id, "--config", path)
        let ended = try await delay {
            try await server.ask(Self.customer, key: key).status == 401
        }
        #expect(ended != nil)
    }

    @Test func `gives its policy to all of them, also to one with an older configuration`()
        async throws
    {
        let older = try configure("older")
        let key = try RunningServer.run("keys", "add", "--kind", "secret", "--config", older)
        let first = try RunningServer(older)
        func policy(_ server: RunningServer) async throws -> String {
            let answer = try await server.ask(Self.customer + "/explain", key: key)
            let version = try JSONDocument(answer.body).root["policyVersion"]
            return try #require(version?["fingerprint"]?.string)
        }
        let old = try await policy(first)
        let second = try RunningServer(try configure("newer", billingRetry: "keep 7d"))
        defer { second.kill() }
        let new = try await policy(second)
        #expect(new != old)
        let seen = try await delay { try await policy(first) == new }
        #expect(seen != nil)
        // It keeps that policy, and the other server never gets the older one back.
        try await Task.sleep(for: Self.bound)
        #expect(try await policy(first) == new)
        #expect(try await policy(second) == new)
        let log = first.stop()
        #expect(log.split(separator: "recorded policy adopted").count == 2)
    }

    @Test func `of its configuration is reported by all of them, until it stops`() async throws {
        let path = try configure("one")
        let key = try RunningServer.run("keys", "add", "--kind", "secret", "--config", path)
        let (one, same) = (try RunningServer(path), try RunningServer(path))
        defer { for server in [one, same] { server.kill() } }
        func reading(_ server: RunningServer) async throws -> String? {
            let answer = try await server.ask("/readyz", key: key)
            #expect(answer.status == 200)
            return try JSONDocument(answer.body).root["checks"]?["configuration"]?.string
        }
        func doctor() throws -> JSONNode? {
            let text = try RunningServer.run("doctor", "--offline", "--json", "--config", path)
            let findings = try JSONDocument(Array(text.utf8)).root["findings"]
            return findings?.elements.first { $0["check"]?.string == "servers" }
        }
        #expect(try await delay { try await reading(one) == "same" } != nil)
        #expect(try doctor()?["verdict"]?.string == "ok")

        let other = try RunningServer(try configure("other", billingRetry: "keep 7d"))
        for server in [one, same, other] {
            #expect(try await delay { try await reading(server) == "differs" } != nil)
        }
        let finding = try doctor()
        #expect(finding?["verdict"]?.string == "warning")
        #expect(finding?["detail"]?.string?.contains("1 of 3") == true)
        _ = other.stop()
        for server in [one, same] {
            #expect(try await delay { try await reading(server) == "same" } != nil)
        }
        #expect(one.stop().contains("servers have different configurations"))
    }

    @Test func `is expected by the doctor at the address where it listens`() async throws {
        let server = try RunningServer(try configure("one"))
        defer { server.kill() }
        let path = try configure("beside", listen: server.url.dropFirst("http://".count))
        func verdicts() throws -> [String: String] {
            // The exit code is 0 only without problems.
            let text = try RunningServer.run("doctor", "--offline", "--json", "--config", path)
            let findings = try JSONDocument(Array(text.utf8)).root["findings"]
            let pairs = findings?.elements.compactMap { finding in
                finding["check"]?.string.map { ($0, finding["verdict"]?.string ?? "") }
            }
            return Dictionary(pairs ?? []) { first, _ in first }
        }
        #expect(try await delay { (try? verdicts()["listen"]) == "ok" } != nil)
        // It also reads the metrics of that server.
        #expect(try verdicts()["workers"] == "ok")
    }

    @Test func `has webhooks that the doctor reports`() async throws {
        let server = try RunningServer(try configure("one"))
        defer { server.kill() }
        let path = try configure("beside", listen: server.url.dropFirst("http://".count))
        let url = "https://example.com/hooks"
        _ = try RunningServer.run("webhooks", "add", url, "--config", path)
        let listed = try RunningServer.run("webhooks", "list", "--json", "--config", path)
        let webhook = try JSONDocument(Array(listed.utf8)).root["webhooks"]?[0]
        let id = try #require(webhook?["id"]?.string)
        _ = try RunningServer.run("webhooks", "disable", id, "--config", path)
        func verdict() throws -> String? {
            let text = try RunningServer.run("doctor", "--json", "--config", path)
            let findings = try JSONDocument(Array(text.utf8)).root["findings"]
            return findings?.elements.first { $0["check"]?.string == "webhook" }?["verdict"]?
                .string
        }
        #expect(try await delay { (try? verdict()) == "warning" } != nil)
    }

    @Test func `adds and disables a webhook for all of them`() async throws {
        let path = try configure("both")
        let admin = try RunningServer.run("keys", "add", "--kind", "admin", "--config", path)
        let (one, other) = (try RunningServer(path), try RunningServer(path))
        defer { for server in [one, other] { server.kill() } }
        let hooks = "/v1/apps/cards/webhooks"
        let wish = #"{"url": "https://example.com/hooks"}"#
        let made = try await one.ask(hooks, "POST", key: admin, body: wish)
        let id = try field("id", of: made)
        func listed() async throws -> JSONNode? {
            try JSONDocument(try await other.ask(hooks, key: admin).body).root["webhooks"]?[0]
        }
        #expect(try await listed()?["id"]?.string == id)
        #expect(try await listed()?["disabled"]?.string == nil)
        let disabled = try await one.ask("\(hooks)/\(id)/disable", "POST", key: admin)
        #expect(disabled.status == 200)
        #expect(try await listed()?["disabled"]?.string == "operator")
    }
}
