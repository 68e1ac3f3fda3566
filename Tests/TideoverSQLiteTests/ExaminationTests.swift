import Foundation
import Testing
import TideoverCore
import TideoverSQLite
import TideoverStorage
import TideoverStorageConformance

/// Examines a database without opening it as a storage.
@Suite struct ExaminationTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    private func fill(_ storage: any Storage) async throws {
        let tally = Tally(environment: nil, kind: "k", name: "n")
        try await storage.add([tally: 1], app: "cards")
        for (number, environment) in [Environment.production, .simulated].enumerated() {
            let received = Instant(millisecondsSince1970: 1_000_000 + Int64(number))
            try await commit(to: storage, environment, received, signed: nil, number)
        }
        // The store's clock is later than the server's.
        let received = Instant(millisecondsSince1970: 999_000)
        let signed = Instant(millisecondsSince1970: 1_000_500)
        try await commit(to: storage, .production, received, signed: signed, 9)
    }

    private func commit(
        to storage: any Storage,
        _ environment: Environment,
        _ received: Instant,
        signed: Instant?,
        _ number: Int
    ) async throws {
        let bytes = Array("evidence \(number)".utf8)
        let commitRequest = CommitRequest(
            app: "cards",
            environment: environment,
            evidence: Evidence(
                id: EvidenceID(of: bytes),
                dedupeKey: "key \(number)",
                source: .appStoreNotification,
                signedAt: signed,
                receivedAt: received,
                bytes: bytes
            ),
            facts: [],
            tallies: [:],
            now: received
        )
        _ = try await storage.commit(commitRequest) { _ in
            preconditionFailure("no customer to derive")
        }
    }

    // MARK: Read-only

    @Test func `a read-only storage reads the data and leaves the file unchanged`()
        async throws
    {
        let storage = try SQLiteStorage(path: folder.database)
        try await fill(storage)
        await storage.close()
        let bytes = try Data(contentsOf: URL(filePath: folder.database))
        let before = try names()
        let reading = try SQLiteStorage(reading: folder.database)
        let tally = Tally(environment: nil, kind: "k", name: "n")
        #expect(try reading.counts(app: "cards") == [tally: 1])
        await #expect(throws: StorageError.self) { try await reading.add([tally: 1], app: "cards") }
        #expect(throws: StorageError.self) { try SQLiteStorage(path: folder.database) }
        await reading.close()
        #expect(throws: StorageError.self) { try reading.counts(app: "cards") }
        #expect(try names() == before)
        #expect(try Data(contentsOf: URL(filePath: folder.database)) == bytes)
    }

    @Test func `a missing file is not created, and an older schema is not migrated`()
        async throws
    {
        #expect(throws: StorageError.self) { try SQLiteStorage(reading: folder.database) }
        #expect(try names() == [])
        await (try SQLiteStorage(path: folder.database)).close()
        do {
            let connection = try Connection(
                path: folder.database,
                access: .readWrite,
                busyTimeout: 0
            )
            try connection.execute("PRAGMA user_version = 1")
        }
        let known = Migration.latest
        #expect(throws: StorageError(.olderSchema(found: 1, known: known), place: folder.database))
        {
            try SQLiteStorage(reading: folder.database)
        }
    }

    private static let newest: [Environment: Instant] = [
        .production: Instant(millisecondsSince1970: 1_000_500),
        .simulated: Instant(millisecondsSince1970: 1_000_001),
    ]

    @Test func `a missing file stays missing`() throws {
        #expect(try SQLiteExamination(path: folder.database) == .missing)
        #expect(try names() == [])
    }

    @Test func `a closed storage is read and left unchanged`() async throws {
        let storage = try SQLiteStorage(path: folder.database)
        try await fill(storage)
        await storage.close()
        let before = try Data(contentsOf: URL(filePath: folder.database))
        let found = try SQLiteExamination(path: folder.database)
        #expect(found == .read(faults: [], newestEvidence: Self.newest))
        #expect(try names() == ["tideover.db", "tideover.db.lock"])
        #expect(try Data(contentsOf: URL(filePath: folder.database)) == before)
        let again = try SQLiteStorage(path: folder.database)
        await again.close()
    }

    @Test func `no lock file is created`() async throws {
        let storage = try SQLiteStorage(path: folder.database)
        try await fill(storage)
        await storage.close()
        try FileManager.default.removeItem(atPath: folder.database + ".lock")
        let found = try SQLiteExamination(path: folder.database)
        #expect(found == .read(faults: [], newestEvidence: Self.newest))
        #expect(try names() == ["tideover.db"])
    }

    @Test func `a storage in use is refused`() async throws {
        let storage = try SQLiteStorage(path: folder.database)
        try await fill(storage)
        #expect(try SQLiteExamination(path: folder.database) == .inUse(holder: getpid()))
        await storage.close()
    }

    @Test func `the log of a crashed process counts`() async throws {
        let storage = try SQLiteStorage(path: folder.database)
        try await fill(storage)
        let crashed = try TemporaryFolder()
        try folder.copyAsCrashed(to: crashed)
        await storage.close()
        let found = try SQLiteExamination(path: crashed.database)
        #expect(found == .read(faults: [], newestEvidence: Self.newest))
        let again = try SQLiteStorage(path: crashed.database)
        #expect(try again.counts(app: "cards").values.first == 1)
        await again.close()
    }

    @Test func `a path can contain characters that a URL cannot`() async throws {
        let odd = folder.path + "/a?b#c%25 d.db"
        let storage = try SQLiteStorage(path: odd)
        try await fill(storage)
        await storage.close()
        let found = try SQLiteExamination(path: odd)
        #expect(found == .read(faults: [], newestEvidence: Self.newest))
        #expect(try names() == ["a?b#c%25 d.db", "a?b#c%25 d.db.lock"])
    }

    @Test func `an empty file has no data`() throws {
        try Data().write(to: URL(filePath: folder.database))
        let found = try SQLiteExamination(path: folder.database)
        #expect(found == .read(faults: [], newestEvidence: [:]))
    }

    @Test func `damage is reported`() async throws {
        let storage = try SQLiteStorage(path: folder.database)
        // Enough rows to make theirs the last page of the file.
        let tallies = (0..<2_000).map { Tally(environment: nil, kind: "k", name: "\($0)") }
        try await storage.add(
            Dictionary(uniqueKeysWithValues: tallies.map { ($0, 1) }),
            app: "cards"
        )
        await storage.close()
        let file = try FileHandle(forUpdating: URL(filePath: folder.database))
        let size = try file.seekToEnd()
        try file.seek(toOffset: size - 4_096)
        try file.write(contentsOf: Data(repeating: 0xA5, count: 512))
        try file.close()
        guard case .read(let faults, _, _) = try SQLiteExamination(path: folder.database) else {
            Issue.record("it was not read")
            return
        }
        #expect(!faults.isEmpty)
    }

    @Test func `a storage of another version is refused`() async throws {
        try folder.sql("CREATE TABLE theirs (x)")
        #expect(reason(folder.database) == .notAStorage)
        #expect(reason(folder.path) == .notAStorage)
        #expect(reason(folder.path + "/none/tideover.db") == .missingFolder)
        let newer = try TemporaryFolder()
        let storage = try SQLiteStorage(path: newer.database)
        await storage.close()
        try newer.sql("PRAGMA user_version = 99")
        #expect(reason(newer.database) == .newerSchema(found: 99, known: Migration.latest))
    }

    private func reason(_ path: String) -> StorageError.Reason? {
        do throws(StorageError) {
            _ = try SQLiteExamination(path: path)
            return nil
        } catch {
            return error.reason
        }
    }
}
