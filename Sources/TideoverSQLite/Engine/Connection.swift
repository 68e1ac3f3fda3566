import CTideoverSQLite
import CTideoverSQLiteLog
package import TideoverStorage

/// One connection to a database file. It is used by one thread at a time.
package final class Connection {
    /// The access of a connection; the process has one `readWrite`.
    package enum Access: Hashable, Sendable {
        case readWrite, readOnly
        /// Reads a file without a log that does not change meanwhile, and creates no log for it.
        case frozen
    }

    let handle: OpaquePointer
    /// The path, as errors report it.
    let place: String
    /// The number of statements run since the connection was opened, except scripts.
    var statementCount = 0

    /// Opens an existing file. Waits for locks of other connections for up to `busyTimeout`
    /// milliseconds. With `gathersLog` the writes of a commit are passed to the system together; the
    /// connection must then keep `PRAGMA synchronous = FULL`.
    package init(
        path: String,
        access: Access,
        busyTimeout: Int32,
        gathersLog: Bool = false
    ) throws(StorageError) {
        // Each connection has one user at a time, so SQLite need not lock it. The path is resolved
        // already, so a link in its place now is not the file that the lock guards.
        let common = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE
        let mode = access == .readWrite ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY
        let isFrozen = access == .frozen
        Self.stopCountingMemory
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(
            isFrozen ? Self.frozenName(of: path) : path,
            &opened,
            mode | common | (isFrozen ? SQLITE_OPEN_URI : 0),
            gathersLog ? try Self.gatheringVFS(place: path) : nil
        )
        guard code == SQLITE_OK, let opened else {
            let error = StorageError(sqlite: code, handle: opened, place: path)
            sqlite3_close(opened)
            throw error
        }
        handle = opened
        place = path
        // Before the first statement is prepared: preparing already reads the file.
        try check(sqlite3_busy_timeout(handle, busyTimeout))
        // The last connection to close would otherwise checkpoint, which only the writer may do.
        if access != .readWrite { try check(tideover_sqlite_keep_wal_on_close(handle)) }
        try check(tideover_sqlite_defend(handle))
        // SQLite opens a write-protected file as read-only without an error.
        if access == .readWrite, sqlite3_db_readonly(handle, "main") == 1 {
            throw StorageError(.readOnly, place: path)
        }
    }

    /// Nothing reads the counts. If SQLite was used before by other code, it goes on counting.
    private static let stopCountingMemory: Void = {
        _ = tideover_sqlite_stop_counting_memory()
    }()

    private static let registration = tideover_sqlite_register_log()

    /// The name of the VFS that gathers the writes of the log.
    private static func gatheringVFS(place: String) throws(StorageError) -> String {
        guard registration == SQLITE_OK else {
            throw StorageError(sqlite: registration, handle: nil, place: place)
        }
        return TIDEOVER_SQLITE_LOG_VFS
    }

    private static func frozenName(of path: String) -> String {
        let escaped = path.utf8.flatMap { byte in
            "%?#".utf8.contains(byte) ? Array("%\(String(byte, radix: 16))".utf8) : [byte]
        }
        return "file:\(String(decoding: escaped, as: UTF8.self))?immutable=1"
    }

    deinit {
        // Statements retain their connection, so all of them are gone by now.
        let code = sqlite3_close(handle)
        assert(code == SQLITE_OK, "a statement outlived its connection")
    }

    /// Runs statements without parameters and rows.
    package func execute(_ sql: StaticString) throws(StorageError) {
        try check(sqlite3_exec(handle, Self.characters(of: sql), nil, nil, nil))
    }

    /// Sets a pragma to a number, since pragmas accept no parameters.
    func set(_ pragma: StaticString, to number: Int64) throws(StorageError) {
        try check(sqlite3_exec(handle, "PRAGMA \(pragma) = \(number)", nil, nil, nil))
    }

    /// Returns the first column of a statement's first row as text; nil without a row.
    package func text(_ sql: StaticString) throws(StorageError) -> String? {
        try Statement(sql, on: self).first { $0.text(0) }
    }

    /// Returns the first column of a statement's first row as an integer.
    package func integer(_ sql: StaticString) throws(StorageError) -> Int64? {
        try Statement(sql, on: self).first { $0.integer(0) }
    }

    /// Whether a transaction is open; the engine ends one by itself when the disk fails.
    package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    func check(_ code: Int32) throws(StorageError) {
        guard code == SQLITE_OK else { throw error(code) }
    }

    func error(_ code: Int32) -> StorageError {
        StorageError(sqlite: code, handle: handle, place: place)
    }

    static func characters(of sql: StaticString) -> UnsafePointer<CChar> {
        UnsafeRawPointer(sql.utf8Start).assumingMemoryBound(to: CChar.self)
    }
}

/// The extent of a checkpoint.
package enum CheckpointMode: Sendable {
    /// Copies as much as possible without waiting for readers.
    case passive
    /// Copies everything, waiting for readers, so that the log restarts.
    case restart
    /// Like `restart`, and truncates the log to zero length.
    case truncate

    fileprivate var code: Int32 {
        switch self {
        case .passive: SQLITE_CHECKPOINT_PASSIVE
        case .restart: SQLITE_CHECKPOINT_RESTART
        case .truncate: SQLITE_CHECKPOINT_TRUNCATE
        }
    }
}

extension Connection {
    /// Copies pages of the log into the database file.
    ///
    /// - Returns: the number of pages in the log that are not in the file yet.
    package func checkpoint(_ mode: CheckpointMode) throws(StorageError) -> Int {
        var inLog: Int32 = 0
        var copied: Int32 = 0
        let code = sqlite3_wal_checkpoint_v2(handle, nil, mode.code, &inLog, &copied)
        // Active readers are no error: the rest is copied next time.
        guard code == SQLITE_OK || code & 0xFF == SQLITE_BUSY else { throw error(code) }
        return Int(max(0, inLog - copied))
    }
}
