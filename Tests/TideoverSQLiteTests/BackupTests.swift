import Foundation
import Testing
import TideoverCore
import TideoverLocks
import TideoverSQLite
import TideoverStorage

/// Copies of a database.
@Suite struct BackupTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var target: String { folder.path + "/copy.db" }

    private func add(_ names: some Sequence<Int>, to storage: SQLiteStorage) async throws {
        for name in names {
            let tally = Tally(environment: nil, kind: "k", name: "\(name)")
            try await storage.add([tally: 1], app: "cards")
        }
    }

    @Test func `a copy of an open database has what was committed, and is closed to others`()
        async throws
    {
        let storage = try SQLiteStorage(path: folder.database)
        try await add(1...50, to: storage)
        let told = Locked<[Int64]>([])
        let bytes = try SQLiteBackup.copy(folder.database, to: target) { bytes in
            told.withLock { $0.append(bytes) }
        }
        #expect(told.withLock { $0.last } == bytes)
        // The original goes on.
        try await add(51...60, to: storage)
        await storage.close()
        let rights = try FileManager.default.attributesOfItem(atPath: target)[.posixPermissions]
        #expect(rights as? Int == 0o600)
        let copy = try SQLiteStorage(path: target)
        #expect(try copy.counts(app: "cards").count == 50)
        #expect(try copy.problems() == [])
        await copy.close()
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
                $0.contains("unfinished")
            } == []
        )
    }

    @Test func `a copy of a database that nobody has open leaves it as it was`() async throws {
        let storage = try SQLiteStorage(path: folder.database)
        try await add(1...5, to: storage)
        await storage.close()
        let before = try Data(contentsOf: URL(filePath: folder.database))
        _ = try SQLiteBackup.copy(folder.database, to: target)
        #expect(try Data(contentsOf: URL(filePath: folder.database)) == before)
        let copy = try SQLiteStorage(path: target)
        #expect(try copy.counts(app: "cards").count == 5)
        await copy.close()
    }

    @Test func `a file that is there is left alone`() async throws {
        let storage = try SQLiteStorage(path: folder.database)
        try Data("mine".utf8).write(to: URL(filePath: target))
        let error = #expect(throws: StorageError.self) {
            try SQLiteBackup.copy(folder.database, to: target)
        }
        #expect(error?.reason == .refused)
        #expect(try Data(contentsOf: URL(filePath: target)) == Data("mine".utf8))
        await storage.close()
    }

    @Test func `a damaged database is no copy's origin, and none is left`() async throws {
        let storage = try SQLiteStorage(path: folder.database)
        try await add(1...2_000, to: storage)
        await storage.close()
        let file = try FileHandle(forUpdating: URL(filePath: folder.database))
        let length = try file.seekToEnd()
        try file.seek(toOffset: length / 2 & ~4_095)
        try file.write(contentsOf: Data(repeating: 0x5A, count: 8_192))
        try file.close()
        let error = #expect(throws: StorageError.self) {
            try SQLiteBackup.copy(folder.database, to: target)
        }
        #expect(error?.reason == .corrupt)
        #expect(!FileManager.default.fileExists(atPath: target))
    }

    @Test func `what is no database of ours is not copied`() throws {
        try folder.sql("CREATE TABLE other (x)")
        let error = #expect(throws: StorageError.self) {
            try SQLiteBackup.copy(folder.database, to: target)
        }
        #expect(error?.reason == .notAStorage)
        #expect(throws: StorageError.self) {
            try SQLiteBackup.copy(folder.path + "/missing.db", to: target)
        }
        #expect(!FileManager.default.fileExists(atPath: target))
    }
}
