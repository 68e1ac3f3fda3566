import CTideoverSQLite
import Foundation
import Testing
import TideoverLocks
import TideoverSQLite
import TideoverStorage

/// The VFS that passes the writes of a commit to the system together.
@Suite struct GatheredLogTests {
    let folder: TemporaryFolder
    let writer: Connection

    init() throws {
        folder = try TemporaryFolder()
        try folder.sql("VACUUM")
        writer = try Self.writeConnection(in: folder, gathersLog: true)
        try Migration.prepare(writer)
        try writer.execute("CREATE TABLE kept (number INTEGER PRIMARY KEY, text TEXT)")
    }

    private static func writeConnection(
        in folder: TemporaryFolder,
        gathersLog: Bool
    ) throws -> Connection {
        try Connection(
            path: folder.database,
            access: .readWrite,
            busyTimeout: 100,
            gathersLog: gathersLog
        )
    }

    private func readSession() throws -> Connection {
        try Connection(path: folder.database, access: .readOnly, busyTimeout: 100)
    }

    private static let check: StaticString = """
        SELECT count(*) || ' ' || coalesce(sum(length(text)), 0) FROM kept
        """
    /// Changes some 110 pages.
    private static let fill: StaticString = """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
        INSERT INTO kept (text) SELECT printf('%0400d', i) FROM n
        """

    /// The write calls of this thread until now.
    private func writeCount() throws -> Int {
        let text = try String(contentsOfFile: "/proc/thread-self/io", encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("syscw: ") })
        return try #require(Int(line.dropFirst("syscw: ".count)))
    }

    @Test func `a commit is written by few calls, and readers see it at once`() throws {
        let before = try writeCount()
        try writer.execute(Self.fill)
        let calls = try writeCount() - before
        // Some 450 KB in parts of 128 KiB, and a few calls of SQLite's own.
        #expect(calls < 10)
        #expect(try readSession().text(Self.check) == "1000 400000")
        _ = try writer.checkpoint(.truncate)
        #expect(try readSession().text(Self.check) == "1000 400000")
        #expect(try readSession().text("PRAGMA integrity_check") == "ok")
    }

    @Test func `without it each page takes two calls`() throws {
        let ordinary = try Self.writeConnection(in: folder, gathersLog: false)
        let before = try writeCount()
        try ordinary.execute(Self.fill)
        #expect(try writeCount() - before > 200)
    }

    @Test func `a transaction reads the pages that did not fit its memory`() throws {
        try writer.execute("PRAGMA cache_size = 10")
        try writer.execute("BEGIN IMMEDIATE")
        for _ in 0..<3 { try writer.execute(Self.fill) }
        #expect(try writer.text(Self.check) == "3000 1200000")
        try writer.execute("UPDATE kept SET text = text || 'x' WHERE number % 7 = 0")
        #expect(try writer.text(Self.check) == "3000 1200428")
        // Nothing is committed yet.
        #expect(try readSession().text(Self.check) == "0 0")
        try writer.execute("COMMIT")
        #expect(try readSession().text(Self.check) == "3000 1200428")
        #expect(try readSession().text("PRAGMA integrity_check") == "ok")
    }

    /// SQLite undoes only the statement, and commits what the others wrote to the log before.
    @Test func `a disk that is full while a transaction reads loses nothing of it`() throws {
        try writer.execute(
            "CREATE TABLE named (number INTEGER PRIMARY KEY, name INT UNIQUE, text TEXT)"
        )
        try writer.execute("PRAGMA cache_size = 10")
        try writer.execute("BEGIN IMMEDIATE")
        try writer.execute(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250)
            INSERT INTO named SELECT i, i, printf('%0400d', i) FROM n
            """
        )
        try writer.execute("SAVEPOINT second")
        let error = #expect(throws: StorageError.self) {
            try FullDisk.onThisThread {
                try writer.execute("UPDATE named SET name = name + 1000")
            }
        }
        #expect(error?.reason == .full)
        try #require(writer.isInTransaction)
        try writer.execute("ROLLBACK TO second")
        try writer.execute("COMMIT")
        #expect(
            try readSession().text("SELECT count(*) || ' ' || sum(length(text)) FROM named")
                == "250 100000"
        )
        #expect(try readSession().text("PRAGMA integrity_check") == "ok")
        _ = try writer.checkpoint(.truncate)
        #expect(try readSession().text("PRAGMA integrity_check") == "ok")
    }

    @Test func `a commit on a full disk fails, and the next one succeeds`() throws {
        try writer.execute(Self.fill)
        let error = #expect(throws: StorageError.self) {
            try FullDisk.onThisThread { try writer.execute(Self.fill) }
        }
        #expect(error?.reason == .full)
        #expect(try writer.text(Self.check) == "1000 400000")
        #expect(try readSession().text(Self.check) == "1000 400000")
        try writer.execute(Self.fill)
        #expect(try readSession().text(Self.check) == "2000 800000")
        #expect(try readSession().text("PRAGMA integrity_check") == "ok")
    }

    @Test func `what was rolled back is never read`() throws {
        try writer.execute(Self.fill)
        try writer.execute("PRAGMA cache_size = 10")
        try writer.execute("BEGIN IMMEDIATE")
        try writer.execute("UPDATE kept SET text = 'gone'")
        try writer.execute("SAVEPOINT inner")
        try writer.execute(Self.fill)
        try writer.execute("ROLLBACK TO inner")
        #expect(try writer.text(Self.check) == "1000 4000")
        try writer.execute("ROLLBACK")
        #expect(try writer.text(Self.check) == "1000 400000")
        try writer.execute("DELETE FROM kept WHERE number > 10")
        #expect(try readSession().text(Self.check) == "10 4000")
        #expect(try readSession().text("PRAGMA integrity_check") == "ok")
    }

    @Test func `a log that starts anew is read from its beginning`() throws {
        for round in 1...4 {
            try writer.execute(Self.fill)
            _ = try writer.checkpoint(round.isMultiple(of: 2) ? .restart : .passive)
            #expect(try readSession().text(Self.check) == "\(round * 1_000) \(round * 400_000)")
        }
        let other = try Self.writeConnection(in: folder, gathersLog: false)
        try other.execute("DELETE FROM kept WHERE number > 1000")
        #expect(try writer.text(Self.check) == "1000 400000")
        try writer.execute(Self.fill)
        #expect(try other.text(Self.check) == "2000 800000")
        #expect(try other.text("PRAGMA integrity_check") == "ok")
    }
}

/// Lets SQLite's writes of one thread fail as on a full disk. All others go on.
private enum FullDisk {
    private typealias Write = @convention(c) (Int32, UnsafeRawPointer?, Int, off_t) -> Int

    private static let full = Locked<Set<pthread_t>>([])
    private static let write: Write = { file, bytes, count, offset in
        guard !full.withLock({ $0.contains(pthread_self()) }) else {
            errno = ENOSPC
            return -1
        }
        return pwrite(file, bytes, count, offset)
    }

    /// Replaces SQLite's calls once, for the rest of the process.
    private static let isInstalled: Bool = {
        guard let system = sqlite3_vfs_find(nil), let replace = system.pointee.xSetSystemCall else {
            return false
        }
        let call = unsafeBitCast(write, to: sqlite3_syscall_ptr.self)
        let codes = ["pwrite", "pwrite64"].map { name in
            name.withCString { replace(system, $0, call) }
        }
        return codes.contains(SQLITE_OK)
    }()

    static func onThisThread(_ body: () throws -> Void) throws {
        try #require(isInstalled)
        let thread = pthread_self()
        full.withLock { _ = $0.insert(thread) }
        defer { full.withLock { _ = $0.remove(thread) } }
        try body()
    }
}
