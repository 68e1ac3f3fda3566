import Foundation
import Testing
import TideoverCommandLine
import TideoverConfiguration
import TideoverHTTP
import TideoverHTTPServer
import TideoverSQLite
import TideoverStorage
import TideoverTestProcesses

@testable import tideover

/// Tests commands while another process has the database open.
@Suite final class LockWaitTests: SuiteWithFolder {
    private static func locked() -> StorageError {
        StorageError(.locked(holder: nil), place: "x.db")
    }

    /// Runs `keys list` for a database and a server with this address.
    private func listKeys(
        _ database: String,
        listen: String
    ) async throws -> (code: ExitCode, output: Output) {
        let made = APIKey(.admin) { .random(in: .min ... .max) }
        let key = folder.appending(path: "admin.key").path
        try FileOutput.write(
            Array("\(made.text)\n".utf8),
            to: key,
            mode: 0o600
        )
        let text = """
            { server: { listen: "\(listen)", adminKeyFile: "\(key)" },
              storage: "sqlite:\(database)",
              apps: [{ id: "cards", environments: ["sandbox"],
              appStore: { bundleId: "com.example.cards" } }] }
            """
        let file = try write(text, to: "tideover.json")
        return await Tideover.run(["keys", "list", "--config", file])
    }

    @Test func `opening is repeated only while another process has the file open`() async throws {
        var attempts = 0
        // Beside thousands of tests, a pause of 50 ms can take longer than a command waits.
        let value = try await LockWait.$patience.withValue(.seconds(1_200)) {
            try await LockWait.open {
                attempts += 1
                if attempts < 3 { throw Self.locked() }
                return attempts
            }
        }
        #expect(value == 3)
        attempts = 0
        await #expect(throws: StorageError.self) {
            try await LockWait.open {
                attempts += 1
                throw StorageError(.full, place: "x.db")
            }
        }
        #expect(attempts == 1)
        attempts = 0
        await #expect(throws: StorageError.self) {
            try await LockWait.open(unless: { true }) {
                attempts += 1
                throw Self.locked()
            }
        }
        #expect(attempts == 1)
    }

    @Test func `a command waits for one that has the database open`() async throws {
        let database = folder.appending(path: "x.db").path
        let storage = try SQLiteStorage(path: database)
        let other = Task {
            try await Task.sleep(for: .milliseconds(200))
            await storage.close()
        }
        let (code, output) = try await LockWait.$patience.withValue(.seconds(1_200)) {
            try await listKeys(database, listen: "127.0.0.1:1")
        }
        #expect(code == .success, "\(output.messages.captured)")
        try await other.value
    }

    @Test func `a server whose socket has too long a path is asked by TCP`() async throws {
        let long = folder.appending(path: String(repeating: "a", count: 100))
        try FileManager.default.createDirectory(at: long, withIntermediateDirectories: true)
        let database = long.appending(path: "x.db").path
        let storage = try SQLiteStorage(path: database)
        #expect(mknod("\(database).sock", S_IFSOCK | 0o600, 0) == 0)
        let server = try HTTPServer(port: 0) { _ in
            Response(body: Array(#"{"version": "1", "keys": []}"#.utf8))
        }
        let (code, output) = try await listKeys(database, listen: "\(server.address)")
        #expect(code == .success, "\(output.messages.captured)")
        await server.stop()
        await storage.close()
    }
}
