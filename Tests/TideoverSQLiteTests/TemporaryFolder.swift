import Foundation
import TideoverSQLite
import TideoverStorage
import TideoverStorageConformance
import TideoverTestProcesses

/// A folder of its own for one test, gone with it.
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

    /// Opens the database with failures rehearsed.
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

    /// Copies the database as a crash would leave it: file and log as they are, nothing closed.
    /// By another process, since closing a file here would drop SQLite's own locks on it.
    func copyAsCrashed(to other: TemporaryFolder) throws {
        for suffix in ["", "-wal"] {
            try run("/bin/cp", database + suffix, other.database + suffix)
        }
    }

    /// Has another process change the database.
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
