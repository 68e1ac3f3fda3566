import Foundation
import Testing
import TideoverSQLite
import TideoverStorage
import TideoverTestProcesses

/// Tests opening, refused opening, and closing.
@Suite struct `A SQLite file` {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func reason(_ path: String) -> StorageError.Reason? {
        do {
            _ = try SQLiteStorage(path: path)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test func `is opened by one process, and another gets the holder's process id`() async throws {
        let storage = try SQLiteStorage(path: folder.database)
        let error = #expect(throws: StorageError.self) {
            try SQLiteStorage(path: folder.database)
        }
        #expect(error?.reason == .locked(holder: getpid()))
        #expect(error?.place == storage.path)
        #expect(error?.description.contains("process \(getpid())") == true)
        await storage.close()
        let again = try SQLiteStorage(path: folder.database)
        await again.close()
    }

    @Test func `has one lock under all its paths`() async throws {
        let storage = try SQLiteStorage(path: folder.database)
        let link = folder.path + "/link.db"
        let linkedFolder = folder.path + "/folder"
        try FileManager.default.createSymbolicLink(
            atPath: link,
            withDestinationPath: folder.database
        )
        try FileManager.default.createSymbolicLink(
            atPath: linkedFolder,
            withDestinationPath: folder.path
        )
        #expect(reason(link) == .locked(holder: getpid()))
        #expect(reason(linkedFolder + "/tideover.db") == .locked(holder: getpid()))
        #expect(reason(folder.path + "/./tideover.db") == .locked(holder: getpid()))
        await storage.close()
    }

    @Test func `has one lock under a hard link, with a lock file and log of its own`()
        async throws
    {
        let storage = try SQLiteStorage(path: folder.database)
        let other = folder.path + "/other.db"
        try FileManager.default.linkItem(atPath: folder.database, toPath: other)
        #expect(reason(other) == .locked(holder: getpid()))
        #expect(throws: StorageError.self) { try SQLiteStorage(reading: other) }
        #expect(try SQLiteExamination(path: other) == .inUse(holder: getpid()))
        // The refused attempts released no lock of the first one.
        #expect(try tryLock(other).code == 1)
        await storage.close()
        #expect(try tryLock(other).code == 0)
        let again = try SQLiteStorage(path: other)
        #expect(reason(folder.database) == .locked(holder: getpid()))
        await again.close()
    }

    @Test func `is refused while another process has opened it by a hard link`() async throws {
        await (try SQLiteStorage(path: folder.database)).close()
        let other = folder.path + "/other.db"
        try FileManager.default.linkItem(atPath: folder.database, toPath: other)
        let holder = try ChildProcess([
            "/usr/bin/flock", "--no-fork", other, "/bin/sh", "-c", "echo held; exec sleep 600",
        ])
        #expect(holder.results.next() == Array("held\n".utf8))
        #expect(reason(folder.database) == .locked(holder: nil))
        holder.destroy()
        _ = holder.wait()
        let storage = try SQLiteStorage(path: folder.database)
        await storage.close()
    }

    /// Lets another process lock and release a file: exit code 1 if it is locked already.
    private func tryLock(_ path: String) throws -> ChildProcess.Said {
        try ChildProcess.run(["/usr/bin/flock", "--nonblock", path, "/bin/true"])
    }

    @Test(arguments: ["tideover.db", "tideover.db.lock"])
    func `refuses commits while another file has its name, and continues afterwards`(
        name: String
    ) async throws {
        let storage = try SQLiteStorage(path: folder.database)
        let tallies = [Tally(environment: nil, kind: "k", name: "n"): Int64(1)]
        try await storage.add(tallies, app: "cards")
        let path = folder.path + "/" + name
        let kept = path + ".kept"
        try FileManager.default.moveItem(atPath: path, toPath: kept)
        for isThere in [false, true] {
            if isThere { try Data().write(to: URL(filePath: path)) }
            let error = await #expect(throws: StorageError.self) {
                try await storage.add(tallies, app: "cards")
            }
            #expect(error?.reason == .replaced)
        }
        #expect(try storage.counts(app: "cards").values.max() == 1)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: kept, toPath: path)
        try await storage.add(tallies, app: "cards")
        #expect(try storage.counts(app: "cards").values.max() == 2)
        await storage.close()
    }

    @Test func `is read though its files are moved away before the first read`() async throws {
        let storage = try SQLiteStorage(path: folder.database)
        let tallies = [Tally(environment: nil, kind: "k", name: "n"): Int64(1)]
        try await storage.add(tallies, app: "cards")
        let paths = ["", "-wal", "-shm"].map { folder.database + $0 }
        for path in paths { try FileManager.default.moveItem(atPath: path, toPath: path + ".kept") }
        #expect(try storage.counts(app: "cards").values.max() == 1)
        for path in paths { try FileManager.default.moveItem(atPath: path + ".kept", toPath: path) }
        await storage.close()
    }

    @Test func `is not blocked by a dead process's files`() async throws {
        try Data("999999999\n".utf8).write(to: URL(filePath: folder.database + ".lock"))
        let storage = try SQLiteStorage(path: folder.database)
        await storage.close()
    }

    @Test func `is unlocked after closing though a child process has its lock`() async throws {
        let storage = try SQLiteStorage(path: folder.database)
        // The descriptors of a child process between its fork and the start of its program.
        let lock = storage.path + ".lock"
        let inherited = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
            .first { number in
                let target = try? FileManager.default.destinationOfSymbolicLink(
                    atPath: "/proc/self/fd/\(number)"
                )
                return target == lock
            }
        let copy = try dup(#require(inherited.flatMap { Int32($0) }))
        await storage.close()
        let again = try SQLiteStorage(path: folder.database)
        await again.close()
        close(copy)
    }

    @Test func `is unlocked when its storage is released`() async throws {
        do {
            _ = try SQLiteStorage(path: folder.database)
        }
        var attempts = 0
        while reason(folder.database) != nil, attempts < 6_000 {
            attempts += 1
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(attempts < 6_000)
    }

    @Test func `leaves only its lock after closing, and both are private`() async throws {
        let storage = try SQLiteStorage(path: folder.database)
        try await storage.add([Tally(environment: nil, kind: "k", name: "n"): 1], app: "cards")
        await storage.close()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names == ["tideover.db", "tideover.db.lock"])
        for name in names {
            let path = folder.path + "/" + name
            let rights = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
            #expect(rights as? Int == 0o600)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can change the owner of a file"))
    func `opened by root keeps its owner's lock`() async throws {
        await (try SQLiteStorage(path: folder.database)).close()
        let lock = folder.database + ".lock"
        // A restored database: the lock is missing.
        try FileManager.default.removeItem(atPath: lock)
        #expect(chown(folder.database, 12_345, 12_346) == 0)
        await (try SQLiteStorage(path: folder.database)).close()
        let owner = try FileManager.default.attributesOfItem(atPath: lock)
        #expect(owner[.ownerAccountID] as? Int == 12_345)
        #expect(owner[.groupOwnerAccountID] as? Int == 12_346)
        #expect(owner[.posixPermissions] as? Int == 0o600)
    }

    @Test func `is not created in a missing folder`() {
        #expect(reason(folder.path + "/none/tideover.db") == .missingFolder)
        #expect(reason("") != nil)
        #expect(reason(folder.path) != nil)
    }

    @Test func `is not created in a read-only folder`() throws {
        // Root may write everywhere except here.
        let isRoot = geteuid() == 0
        let place = isRoot ? "/sys" : folder.path
        if !isRoot { chmod(place, 0o500) }
        let found = reason(place + "/tideover.db")
        #expect(found == .notPermitted || found == .readOnly)
        if !isRoot { chmod(place, 0o700) }
    }

    @Test(.enabled(if: geteuid() != 0, "root may write to every file"))
    func `that is read-only is not opened`() async throws {
        let storage = try SQLiteStorage(path: folder.database)
        await storage.close()
        chmod(folder.database, 0o400)
        #expect(reason(folder.database) == .readOnly)
    }

    @Test func `of a newer version is left unchanged`() async throws {
        let storage = try SQLiteStorage(path: folder.database)
        await storage.close()
        try folder.sql("PRAGMA user_version = 99")
        let before = try Data(contentsOf: URL(filePath: folder.database))
        #expect(reason(folder.database) == .newerSchema(found: 99, known: Migration.latest))
        #expect(try Data(contentsOf: URL(filePath: folder.database)) == before)
    }

    @Test func `of another program is left unchanged`() throws {
        try folder.sql("CREATE TABLE theirs (x); PRAGMA user_version = 1")
        let before = try Data(contentsOf: URL(filePath: folder.database))
        #expect(reason(folder.database) == .notAStorage)
        #expect(try Data(contentsOf: URL(filePath: folder.database)) == before)
    }

    @Test func `that is not a database is refused`() throws {
        let text = Data(String(repeating: "not a database\n", count: 1_000).utf8)
        try text.write(to: URL(filePath: folder.database))
        #expect(reason(folder.database) == .notAStorage)
    }

    @Test func `that is damaged causes an error and fails the check`() async throws {
        let storage = try SQLiteStorage(path: folder.database)
        // More than fit into the pages of the schema: the last page belongs to them.
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
        let damaged = try SQLiteStorage(path: folder.database)
        let error = #expect(throws: StorageError.self) { try damaged.counts(app: "cards") }
        #expect(error?.reason == .corrupt)
        #expect(try damaged.problems().isEmpty == false)
        await damaged.close()
    }
}
