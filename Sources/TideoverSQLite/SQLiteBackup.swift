import CTideoverSQLite
import Glibc
package import TideoverStorage

/// Copies a database into a new file.
///
/// While a server has the database open, the server copies it (`SQLiteStorage.beginCopy`). Then
/// `finish` verifies the copy and moves it to its destination. `copy` also works beside a server,
/// but the server's write-ahead log then grows until the copy is complete.
package enum SQLiteBackup {
    /// The number of pages copied between two progress reports: four megabytes.
    private static let slice: Int32 = 1_024

    /// Copies the database at `path` to `target`. The copy is verified to its last page before it
    /// receives its name.
    ///
    /// - Parameters:
    ///   - path: the database, which a server may have open.
    ///   - target: a file that does not exist yet; only its owner can open it.
    ///   - progress: called with the number of bytes copied so far.
    /// - Returns: the size of the copy in bytes.
    /// - Throws: `UnfinishedFile.Failure` if the target exists or cannot be created. Otherwise
    ///   `StorageError`: `missingFolder` without a database; `corrupt` if the copy fails
    ///   verification; `notAStorage`, `notPermitted`, `full` or `io`.
    package static func copy(
        _ path: String,
        to target: String,
        progress: (_ bytes: Int64) -> Void = { _ in }
    ) throws -> Int64 {
        let path = try DatabaseFile.resolve(path)
        guard DatabaseFile.exists(path) else { throw StorageError(errno: ENOENT, place: path) }
        try requireAbsent(target)
        let unfinished = try UnfinishedFile(for: target)
        defer { unfinished.close() }
        try fill(unfinished.path, from: path, progress)
        try check(unfinished.path)
        try unfinished.publish()
        return DatabaseFile.byteCount(target)
    }

    /// Whether a server has the database open.
    package static func isInUse(_ path: String) throws(StorageError) -> Bool {
        do {
            let lock = try LockFile(reading: try DatabaseFile.resolve(path))
            withExtendedLifetime(lock) {}
            return false
        } catch {
            guard case .locked = error.reason else { throw error }
            return true
        }
    }

    /// Verifies a copy made by a server and moves it to its destination, on another file system if
    /// needed. The server's file is removed, even if this fails.
    ///
    /// - Throws: as `copy`.
    package static func finish(_ copied: String, as target: String) throws -> Int64 {
        defer { unlink(copied) }
        try requireAbsent(target)
        let source = open(copied, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard source >= 0 else { throw StorageError(errno: errno, place: copied) }
        defer { close(source) }
        let unfinished = try UnfinishedFile(for: target)
        defer { unfinished.close() }
        try pour(source, into: unfinished.descriptor, target)
        try check(unfinished.path)
        try unfinished.publish()
        return DatabaseFile.byteCount(target)
    }

    private static func requireAbsent(_ target: String) throws(UnfinishedFile.Failure) {
        guard !DatabaseFile.exists(target) else {
            throw UnfinishedFile.Failure(path: target, code: EEXIST)
        }
    }

    private static func pour(
        _ source: Int32,
        into target: Int32,
        _ place: String
    ) throws(StorageError) {
        while true {
            let count = sendfile(target, source, nil, 1 << 24)
            guard count != 0 else { return }
            guard count > 0 || errno == EINTR else {
                throw StorageError(errno: errno, place: place)
            }
        }
    }

    private static func fill(
        _ target: String,
        from path: String,
        _ progress: (Int64) -> Void
    ) throws(StorageError) {
        // If no server has the database, this lock prevents one from starting to write.
        let lock = try? LockFile(reading: path)
        let access = lock == nil ? Connection.Access.readOnly : DatabaseFile.quietAccess(to: path)
        let source = try Connection(path: path, access: access, busyTimeout: 5_000)
        let copy = try Connection(path: target, access: .readWrite, busyTimeout: 0)
        _ = try Migration.version(of: source)
        // The copy is renamed only when it is complete: until then it need not be on the disk.
        try copy.execute("PRAGMA synchronous = OFF")
        // One read transaction for all slices, so that concurrent writes do not restart the copy.
        try source.execute(SQL.beginReading)
        _ = try source.integer("SELECT count(*) FROM sqlite_schema")
        let pageSize = try source.integer("PRAGMA page_size") ?? 0
        guard let backup = sqlite3_backup_init(copy.handle, "main", source.handle, "main") else {
            throw copy.error(sqlite3_errcode(copy.handle))
        }
        var code = SQLITE_OK
        while code == SQLITE_OK {
            code = sqlite3_backup_step(backup, slice)
            let pages = sqlite3_backup_pagecount(backup) - sqlite3_backup_remaining(backup)
            progress(Int64(pages) * pageSize)
        }
        let ending = sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE, ending == SQLITE_OK else {
            throw copy.error(code == SQLITE_DONE ? ending : code)
        }
        try source.execute(CommonSQL.commit)
        withExtendedLifetime(lock) {}
    }

    private static func check(_ file: String) throws(StorageError) {
        let copy = try Connection(path: file, access: .frozen, busyTimeout: 0)
        let faults = try Statement(SQL.check, on: copy).all { $0.text(0) }.filter { $0 != "ok" }
        if let fault = faults.first {
            throw StorageError(
                .corrupt,
                place: file,
                detail: "the copy does not pass the check: \(fault)"
            )
        }
    }
}
