import Foundation
import Glibc
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

    @Test func `a copy of an open database has the committed data and is private`()
        async throws
    {
        let storage = try SQLiteStorage(path: folder.database)
        try await add(1...50, to: storage)
        let told = Locked<[Int64]>([])
        let bytes = try SQLiteBackup.copy(folder.database, to: target) { bytes in
            told.withLock { $0.append(bytes) }
        }
        #expect(told.withLock { $0.last } == bytes)
        // The original remains usable.
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

    @Test func `a copy of an unused database leaves it unchanged`() async throws {
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

    @Test func `an existing file is not replaced`() async throws {
        let storage = try SQLiteStorage(path: folder.database)
        try Data("mine".utf8).write(to: URL(filePath: target))
        let error = #expect(throws: UnfinishedFile.Failure.self) {
            try SQLiteBackup.copy(folder.database, to: target)
        }
        #expect(error?.code == EEXIST)
        #expect(try Data(contentsOf: URL(filePath: target)) == Data("mine".utf8))
        await storage.close()
    }

    @Test func `of two copies to one name, the first complete one has it`() async throws {
        let storage = try SQLiteStorage(path: folder.database)
        try await add(1...50, to: storage)
        var inner: Result<Int64, any Error>?
        let error = #expect(throws: UnfinishedFile.Failure.self) {
            try SQLiteBackup.copy(folder.database, to: target) { _ in
                guard inner == nil else { return }
                inner = Result { try SQLiteBackup.copy(folder.database, to: target) }
            }
        }
        #expect(error == UnfinishedFile.Failure(path: target, code: EEXIST))
        #expect(try inner?.get() ?? 0 > 0)
        await storage.close()
        let copy = try SQLiteStorage(path: target)
        #expect(try copy.counts(app: "cards").count == 50)
        await copy.close()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.filter { $0.contains("unfinished") } == [])
    }

    @Test func `two files for one name do not share content, and replace no file`() throws {
        let first = try UnfinishedFile(for: target)
        let second = try UnfinishedFile(for: target)
        defer { second.close() }
        for (file, text) in [(first, "first"), (second, "second and longer")] {
            #expect(write(file.descriptor, text, text.utf8.count) == text.utf8.count)
        }
        try first.publish()
        first.close()
        let error = #expect(throws: UnfinishedFile.Failure.self) { try second.publish() }
        #expect(error?.code == EEXIST)
        #expect(try Data(contentsOf: URL(filePath: target)) == Data("first".utf8))
    }

    @Test func `a file that an ended process left is removed after a day`() throws {
        let names = [
            "copy.db.unfinished-0123456789abcdef", "copy.db.unfinished-1123456789abcdef",
            "copy.db.unfinished-1123456789abcdef-journal", "copy.db.unfinished-mine",
        ]
        for (name, age) in zip(names, [3_600.0, 90_000, 90_000, 90_000]) {
            let path = folder.path + "/" + name
            try Data("half".utf8).write(to: URL(filePath: path))
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -age)],
                ofItemAtPath: path
            )
        }
        try UnfinishedFile(for: target).close()
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(left.sorted() == [names[0], names[3]])
    }

    @Test func `a damaged database is not copied, and no file is left`() async throws {
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

    @Test func `a foreign database is not copied`() throws {
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

    // MARK: Running server

    /// The latest copy once it has ended.
    private func ended(_ storage: SQLiteStorage) async throws -> CopyReport {
        while true {
            let report = try #require(storage.copyReport)
            if report.state != .copying { return report }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    private func fill(_ storage: SQLiteStorage, _ numbers: Range<Int>) async throws {
        for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 500) {
            let names = (start..<start + 500).map { number in
                (Tally(environment: nil, kind: "k\(number % 7)", name: "\(number)"), Int64(1))
            }
            try await storage.add(Dictionary(uniqueKeysWithValues: names), app: "cards")
        }
    }

    @Test func `a server's copy includes concurrent writes, and its log is short`() async throws {
        let (isHeld, isWaiting) = (Locked(false), Locked(false))
        let storage = try folder.open { _ in
            while isHeld.withLock({ $0 }) {
                isWaiting.withLock { $0 = true }
                usleep(1_000)
            }
        }
        try await fill(storage, 0..<40_000)
        // While the writer waits, the copy cannot end before the second one is requested.
        isHeld.withLock { $0 = true }
        let held = Task {
            try await storage.add([Tally(environment: nil, kind: "k1", name: "1"): 1], app: "cards")
        }
        while !isWaiting.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(5)) }
        let begun = try storage.beginCopy()
        #expect(begun.state == .copying)
        let busy = #expect(throws: StorageError.self) { try storage.beginCopy() }
        #expect(busy?.reason == .busy)
        isHeld.withLock { $0 = false }
        try await held.value
        // Changes new and old rows all over the file, in many transactions.
        var number = 40_000
        while try #require(storage.copyReport).state == .copying {
            try await fill(storage, number..<number + 500)
            let old = Tally(environment: nil, kind: "k1", name: "\(number % 7 * 7 + 1)")
            try await storage.add([old: 1], app: "cards")
            number += 500
        }
        let report = try await ended(storage)
        #expect(report.state == .copied)
        #expect(report.bytes == report.bytesInAll)
        let bytes = try SQLiteBackup.finish(report.file, as: target)
        #expect(bytes >= report.bytes)
        let copy = try SQLiteStorage(path: target)
        let counted = try copy.counts(app: "cards").count
        #expect(counted >= 40_000 && counted <= number)
        #expect(try copy.problems() == [])
        await copy.close()
        // A second copy is possible, and no copy remains beside the database.
        _ = try storage.beginCopy()
        try FileManager.default.removeItem(atPath: try await ended(storage).file)
        await storage.close()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.filter { $0.contains(".copy-") || $0.contains("unfinished") } == [])
    }

    @Test func `a copy keeps no reader open`() async throws {
        let storage = try SQLiteStorage(path: folder.database)
        try await fill(storage, 0..<20_000)
        _ = try storage.beginCopy()
        var largest: Int64 = 0
        for round in 0..<40 {
            try await fill(storage, 20_000 + round * 500..<20_500 + round * 500)
            largest = max(largest, storage.logByteCount)
        }
        // A checkpoint restarts the log at 16 MiB; an active reader would let it grow.
        #expect(largest < 40 << 20)
        #expect(try await ended(storage).state == .copied)
        await storage.close()
    }

    @Test func `an unfetched copy is deleted at the next start`() async throws {
        let storage = try SQLiteStorage(path: folder.database)
        try await add(1...5, to: storage)
        let file = try storage.beginCopy().file
        _ = try await ended(storage)
        await storage.close()
        #expect(FileManager.default.fileExists(atPath: file))
        let again = try SQLiteStorage(path: folder.database)
        #expect(!FileManager.default.fileExists(atPath: file))
        #expect(try again.counts(app: "cards").count == 5)
        await again.close()
    }

    @Test func `a copy needs a free path and a passed check`() async throws {
        let storage = try SQLiteStorage(path: folder.database)
        try await add(1...2_000, to: storage)
        _ = try storage.beginCopy()
        let first = try await ended(storage).file
        try Data("mine".utf8).write(to: URL(filePath: target))
        let refused = #expect(throws: UnfinishedFile.Failure.self) {
            try SQLiteBackup.finish(first, as: target)
        }
        #expect(refused?.code == EEXIST)
        #expect(try Data(contentsOf: URL(filePath: target)) == Data("mine".utf8))
        _ = try storage.beginCopy()
        let second = try await ended(storage).file
        let file = try FileHandle(forUpdating: URL(filePath: second))
        try file.seek(toOffset: try file.seekToEnd() / 2 & ~4_095)
        try file.write(contentsOf: Data(repeating: 0x5A, count: 8_192))
        try file.close()
        let damaged = #expect(throws: StorageError.self) {
            try SQLiteBackup.finish(second, as: folder.path + "/other.db")
        }
        #expect(damaged?.reason == .corrupt)
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/other.db"))
        await storage.close()
    }

    @Test func `a server that stops abandons its copy`() async throws {
        let storage = try SQLiteStorage(path: folder.database)
        try await fill(storage, 0..<20_000)
        let file = try storage.beginCopy().file
        await storage.close()
        let report = try #require(storage.copyReport)
        // The copy may have completed already.
        if case .failed = report.state {
            #expect(!FileManager.default.fileExists(atPath: file))
        } else {
            #expect(report.state == .copied)
        }
    }
}
