import Foundation
import Testing
import TideoverConfiguration
import TideoverServer
import TideoverStorage
import TideoverTestProcesses

@testable import TideoverTestServer

/// The file that `server.adminKeyFile` names.
@Suite struct AdminKeyFileTests: ConfigurationSuite {
    private static let adminKey = APIKey(.admin) { 7 }
    private static let howTo =
        "create one with `(umask 077; { printf tideover_admin_; head -c 32 /dev/urandom | base64 "
        + "| tr +/ -_ | tr -d '=\\n'; } > FILE)`"

    private func server(_ name: String) throws(ConfigurationProblems) -> Configuration.Server {
        let text = "{ server: { adminKeyFile: \"\(name)\" }, apps"
        return try load(app("").replacing("{ apps", with: text)).server
    }

    private func key(in text: String) throws -> APIKey? {
        try server("admin.key").adminKey { path in
            #expect(path == "etc/admin.key")
            return Array(text.utf8)
        }
    }

    @Test(arguments: ["", "\n", "\r\n", "\n\n"])
    func `the server reads a key with or without a line end`(end: String) throws {
        #expect(try key(in: Self.adminKey.text + end) == Self.adminKey)
    }

    @Test func `a variable names the file, and without a file there is no key`() throws {
        let variable = ["TIDEOVER_SERVER_ADMIN_KEY_FILE": "/run/admin.key"]
        #expect(try load(app(""), variable).server.adminKeyFile == "/run/admin.key")
        let none = try load(app("")).server.adminKey { _ in throw NoSuchFile() }
        #expect(none == nil)
    }

    @Test(arguments: [
        "", "hello", APIKey(.secret) { 7 }.text, adminKey.text + " # mine",
        adminKey.text + "\n" + adminKey.text, String(adminKey.text.dropLast()),
    ])
    func `an invalid admin key is rejected with instructions and not printed`(
        text: String
    ) throws {
        let error = #expect(throws: UnusableAdminKey.self) { try key(in: text) }
        #expect(
            error?.description
                == "etc/admin.key does not contain exactly one admin key; \(Self.howTo)"
        )
    }

    @Test func `an unreadable file is reported with instructions to create one`() throws {
        let error = #expect(throws: UnusableAdminKey.self) {
            try server("admin.key").adminKey { _ in throw NoSuchFile() }
        }
        #expect(
            error?.description
                == "the file etc/admin.key cannot be read: No such file or directory; "
                + Self.howTo
        )
    }

    @Test func `a key in place of a file name is not printed`() {
        let text = "{ server: { adminKeyFile: \"\(Self.adminKey.text)\" }, apps"
        #expect(
            problems(app("").replacing("{ apps", with: text)) == [
                "1:27: server.adminKeyFile: expected the name of a file (not its content)"
            ]
        )
    }

    @Test func `the instructions create a key that only its owner can read`() throws {
        let command = try #require(Self.howTo.split(separator: "`").dropFirst().first)
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        let said = try ChildProcess.run([
            "/bin/sh", "-c", String(command).replacing("FILE", with: file.path),
        ])
        #expect(said.code == 0, "\(said.messages)")
        let made = try String(contentsOf: file, encoding: .utf8)
        #expect(APIKey(made)?.kind == .admin)
        let rights = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(rights[.posixPermissions] as? Int == 0o600)
    }
}
