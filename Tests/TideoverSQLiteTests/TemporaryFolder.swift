import Foundation
import TideoverSQLite
import TideoverStorage
import TideoverStorageConformance
import TideoverTestProcesses

/// A separate folder for one test, removed with this value.
final class TemporaryFolder: StorageSite {
    let path: String
    var database: String { path + "/tideover.db" }

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func open() async throws -> any Storage {
        try SQLiteStorage(path: database)
    }

    /// Opens the database with injected failures.
    func open(
        _ options: SQLiteOptions = SQLiteOptions(),
        beforeCommit: @escaping @Sendable (Int) throws(StorageError) -> Void
    ) throws -> SQLiteStorage {
        try SQLiteStorage(
            path: database,
            options: options,
            faults: SQLiteFaults(beforeCommit: beforeCommit)
        )
    }

    /// Copies the database as a crash would leave it: unclosed file and log. Another process does
    /// it, since closing a file here would release SQLite's locks on it.
    func copyAsCrashed(to other: TemporaryFolder) throws {
        for suffix in ["", "-wal"] {
            try run("/bin/cp", database + suffix, other.database + suffix)
        }
    }

    /// Changes the database from another process.
    func sql(_ text: String) throws {
        try run("/usr/bin/env", "sqlite3", database, text)
    }

    private func run(_ command: String, _ arguments: String...) throws {
        let said = try ChildProcess.run([command] + arguments)
        guard said.code == 0 else { throw CommandFailed(command: command, status: said.code) }
    }
}

struct CommandFailed: Error {
    let command: String
    let status: Int32
}
