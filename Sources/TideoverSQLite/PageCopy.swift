import CTideoverSQLite
import Glibc
import TideoverStorage

/// A copy of the database that the writer makes between its transactions.
///
/// SQLite restarts a copy whenever another connection changes the database. The alternative is one
/// read transaction for the whole copy, and the write-ahead log only grows meanwhile. Changes by
/// the copying connection are applied to the copy too. So the writer copies a few pages at a time,
/// with no transaction open in between.
final class PageCopy {
    /// One megabyte: it delays the next transaction by a few milliseconds.
    private static let slice: Int32 = 256

    private let copy: Connection
    private let backup: OpaquePointer
    private let pageSize: Int64

    /// Starts a copy into a new file that only its owner can open.
    init(of source: Connection, to file: String) throws(StorageError) {
        let descriptor = open(file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StorageError(errno: errno, place: file) }
        close(descriptor)
        pageSize = try source.integer("PRAGMA page_size") ?? 0
        copy = try Connection(path: file, access: .readWrite, busyTimeout: 0)
        // The code that renames the copy first syncs it to the disk.
        try copy.execute("PRAGMA synchronous = OFF")
        guard let backup = sqlite3_backup_init(copy.handle, "main", source.handle, "main") else {
            throw copy.error(sqlite3_errcode(copy.handle))
        }
        self.backup = backup
    }

    deinit { sqlite3_backup_finish(backup) }

    /// Copies some pages; returns true when the copy is complete.
    func step() throws(StorageError) -> Bool {
        let code = sqlite3_backup_step(backup, Self.slice)
        switch code {
        case SQLITE_DONE: return true
        case SQLITE_OK, SQLITE_BUSY, SQLITE_LOCKED: return false
        default: throw copy.error(code)
        }
    }

    var bytes: (copied: Int64, all: Int64) {
        let all = Int64(sqlite3_backup_pagecount(backup))
        return ((all - Int64(sqlite3_backup_remaining(backup))) * pageSize, all * pageSize)
    }
}

extension CopyReport {
    /// The prefix of the names of such copies of a database.
    static func prefix(of database: String) -> String { database + ".copy-" }

    /// Returns a new name: 16 hexadecimal digits, which `removeAll` distinguishes from an
    /// operator's files.
    static func file(of database: String, number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return prefix(of: database) + String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    /// Whether the end of a name belongs to such a copy, or to a file that SQLite keeps beside it.
    private static func isOwn(_ end: Substring) -> Bool {
        let digits = end.prefix(16)
        return digits.utf8.count == 16
            && digits.utf8.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            }
            && ["", "-journal", "-wal", "-shm"].contains(String(end.dropFirst(16)))
    }

    /// Removes copies that were not fetched.
    static func removeAll(of database: String) {
        let prefix = prefix(of: database)
        let parts = prefix.split(separator: "/", omittingEmptySubsequences: false)
        guard let name = parts.last else { return }
        let folder = parts.dropLast().joined(separator: "/")
        guard let directory = opendir(folder.isEmpty ? "/" : folder) else { return }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let found = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if found.hasPrefix(name), isOwn(found.dropFirst(name.count)) {
                unlink("\(folder)/\(found)")
            }
        }
    }
}
