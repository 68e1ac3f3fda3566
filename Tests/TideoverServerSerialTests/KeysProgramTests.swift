import Foundation
import Testing
import TideoverConfiguration
import TideoverHTTP
import TideoverJSON
import TideoverServer
import TideoverSignatures
import TideoverStorage
import TideoverTestProcesses

@testable import TideoverTestServer

/// `tideover keys` as used by people and scripts, with and without a running server.
@Suite(.withExecutable) final class KeysProgramTests: SuiteWithFolder {
    private let anna = "/v1/apps/cards/customers/\(TestServer.anna)"

    private func configuration(withAdminKey: Bool, _ more: String = "") throws -> String {
        let adminKey = withAdminKey ? ", adminKeyFile: \"admin.key\"" : ""
        let text = """
            { server: { listen: "127.0.0.1:0"\(adminKey) }, storage: "sqlite:x.db",
              apps: [{ id: "cards", environments: ["sandbox"],
              appStore: { bundleId: "com.example.cards" } }], \(more) }
            """
        let file = try write(text, to: "tideover.json")
        let key = APIKey(.admin) { .random(in: .min ... .max) }
        try Data("\(key.text)\n".utf8).writeSecret(to: folder.appending(path: "admin.key"))
        return file
    }

    private func keys(_ arguments: String...) throws -> ChildProcess.Said {
        try Executable.run(["keys"] + arguments)
    }

    @Test func `a key works on a server started later until it is revoked there`() async throws {
        let path = try configuration(withAdminKey: true)
        let made = try keys(
            "add",
            "--kind",
            "secret",
            "--app",
            "cards",
            "--name",
            "back end",
            "--config",
            path
        )
        #expect(made.code == 0, "\(made.messages)")
        #expect(made.messages.contains("added the secret key "))
        let key = String(made.results.dropLast())
        #expect(made.results.last == "\n")
        #expect(APIKey(key)?.kind == .secret)

        let running = try ServingExecutable(path)
        #expect(try await running.get(anna).status == 401)
        #expect(try await running.get(anna, key: key).status == 200)
        #expect(try await running.get(anna, key: key + "x").status == 401)

        let server = "\(running.url)"
        let listed = try keys("list", "--config", path, "--server", server, "--json")
        let only = try JSONDocument(Array(listed.results.utf8)).root["keys"]?[0]
        #expect(only?["name"]?.string == "back end")
        let id = try #require(only?["id"]?.string)
        let more = try keys("add", "--kind", "public", "--config", path, "--server", server)
        #expect(try await running.get(anna, key: String(more.results.dropLast())).status == 200)

        let revoked = try keys("revoke", id, "--config", path, "--server", server)
        #expect(revoked.code == 0, "\(revoked.messages)")
        #expect(revoked.results.isEmpty)
        #expect(try await running.get(anna, key: key).status == 401)

        let said = running.stop()
        #expect(!said.contains("app without key"))
        #expect(!said.contains(key.suffix(43)))
        let table = try keys("list", "--config", path).results
        #expect(table.split(separator: "\n").count == 4)
        #expect(table.contains("\(id)  secret  cards     "))
    }

    @Test func `the server logs apps without a key and the command that creates one`()
        async throws
    {
        let path = try configuration(withAdminKey: false)
        let running = try ServingExecutable(path)
        let command = "tideover keys add --kind secret --app cards --config \(path)"
        // The socket beside the database replaces an admin key.
        let socket = folder.appending(path: "x.db.sock").path
        let attributes = try FileManager.default.attributesOfItem(atPath: socket)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let added = try keys("add", "--kind", "secret", "--config", path)
        #expect(added.code == 0, "\(added.messages)")
        let key = String(added.results.dropLast())
        #expect(try await running.get("/v1/apps/cards/customers/u_42", key: key).status == 200)
        #expect(try keys("list", "--config", path).results.contains("secret  all apps"))
        let said = running.stop()
        #expect(said.contains("\"app without key\""))
        #expect(said.contains(command))
        #expect(!said.contains("tideover_admin_"))
        #expect(!FileManager.default.fileExists(atPath: socket))
        for line in said.split(separator: "\n") {
            #expect(throws: Never.self) { try JSONDocument(Array(line.utf8)) }
        }
    }

    @Test func `list and revoke create no database and report what is missing`() throws {
        let path = try configuration(withAdminKey: true)
        #expect(try keys("list", "--config", path).code == 66)
        #expect(try keys("revoke", "x", "--config", path).code == 66)
        #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "x.db").path))
        let made = try keys("add", "--kind", "admin", "--config", path, "--json")
        let answer = try JSONDocument(Array(made.results.utf8)).root
        #expect(answer["kind"]?.string == "admin")
        let unknown = try keys("revoke", "x", "--config", path)
        #expect(unknown.code == 1)
        #expect(unknown.messages.contains("There is no such key."))
        let key = try #require(answer["key"]?.string)
        let itself = try keys("revoke", key, "--config", path)
        #expect(itself.code == 2)
        #expect(!itself.messages.contains(key))
        let stranger = try keys("add", "--kind", "public", "--app", "chess", "--config", path)
        #expect(stranger.code == 1)
        #expect(stranger.messages.contains("cards"))
    }

    @Test func `only commands that need the admin key open its file`() throws {
        let path = try configuration(withAdminKey: true)
        try FileManager.default.removeItem(at: folder.appending(path: "admin.key"))
        #expect(try keys("add", "--kind", "admin", "--config", path).code == 0)
        for command in [["serve"], ["keys", "list", "--server", "http://127.0.0.1:1"]] {
            let said = try Executable.run(command + ["--config", path])
            #expect(said.code == 78)
            #expect(said.messages.contains("admin.key cannot be read: there is no such file;"))
            #expect(said.messages.contains("create one with `(umask 077;"))
        }
        let examined = try Executable.run(["doctor", "--config", path])
        #expect(examined.code == 1)
        #expect(examined.results.contains("create one with `(umask 077;"))
    }

    @Test(arguments: [(0o600, true), (0o400, true), (0o640, false), (0o604, false), (0o660, false)])
    func `a secret that other users can read is rejected unless a setting allows it`(
        rights: Int,
        isClosed: Bool
    ) throws {
        let path = try configuration(withAdminKey: true)
        let file = folder.appending(path: "admin.key")
        try FileManager.default.setAttributes([.posixPermissions: rights], ofItemAtPath: file.path)
        guard !isClosed else {
            _ = try ServingExecutable(path).stop()
            return
        }
        let said = try Executable.run(["serve", "--config", path])
        #expect(said.code == 78)
        let mode = "0" + String(rights, radix: 8)
        #expect(said.messages.contains("server.adminKeyFile: \(file.path) has mode \(mode)"))
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let allowing = text.replacing("{ listen:", with: "{ allowReadableSecrets: true, listen:")
        try Data(allowing.utf8).write(to: URL(filePath: path))
        _ = try ServingExecutable(path).stop()
    }

    @Test func `the command creates a pass key, and the server uses and publishes it`() async throws
    {
        let file = folder.appending(path: "pass-key.pem")
        let made = try keys("pass")
        #expect(made.code == 0, "\(made.messages)")
        let key = try Ed25519PrivateKey(pem: made.results)
        try Data(made.results.utf8).writeSecret(to: file)
        let path = try configuration(withAdminKey: true, #"pass: { keyFile: "pass-key.pem" }"#)
        let running = try ServingExecutable(path)
        let told = try await running.get("/v1/apps/cards/pass-keys")
        #expect(told.status == 200)
        let keys = Ed25519KeySet(jwkSet: try JSONDocument(told.body).root)
        #expect(keys == Ed25519KeySet([key.publicKey.thumbprint: key.publicKey]))
        let secret = try #require(made.results.split(separator: "\n").dropFirst().first)
        #expect(!running.stop().contains(secret))

        let json = try JSONDocument(Array(try self.keys("pass", "--json").results.utf8)).root
        let other = try Ed25519PrivateKey(pem: try #require(json["privateKey"]?.string))
        #expect(other.publicKey != key.publicKey)
        #expect(json["id"]?.string == other.publicKey.thumbprint)
        #expect(json["publicKey"]?.string == other.publicKey.pem)

        try FileManager.default.removeItem(at: file)
        let said = try Executable.run(["serve", "--config", path])
        #expect(said.code == 78)
        #expect(said.messages.contains("pass-key.pem cannot be read: there is no such file;"))
    }

    @Test func `the command reports a server that does not respond`() throws {
        let path = try configuration(withAdminKey: true)
        let said = try keys("list", "--config", path, "--server", "http://127.0.0.1:1")
        #expect(said.code == 69)
        #expect(said.messages.contains("did not answer at http://127.0.0.1:1: no connection"))
    }
}
