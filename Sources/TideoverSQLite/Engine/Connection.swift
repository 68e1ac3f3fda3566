import CTideoverSQLite
package import TideoverStorage

/// One connection to a database file. It is used by one thread at a time.
package final class Connection {
    /// What a connection may do; there is one `readWrite` in the process.
    package enum Access: Hashable, Sendable {
        case readWrite, readOnly
        /// Reads a file that nobody changes meanwhile and that has no log, and makes none for it.
        case frozen
    }

    let handle: OpaquePointer
    /// The path, as errors name it.
    let place: String

    /// Opens the file; a missing one is not created. A lock that another connection holds is waited
    /// for up to `busyTimeout` milliseconds.
    package init(
        path: String,
        access: Access,
        busyTimeout: Int32
    ) throws(StorageError) {
        // Each connection has one user at a time, so SQLite need not lock it; the path was resolved
        // before, so a link in its place now is not what the lock file guards.
        let common = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE
        let mode = access == .readWrite ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY
        let isFrozen = access == .frozen
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(
            isFrozen ? Self.frozenName(of: path) : path,
            &opened,
            mode | common | (isFrozen ? SQLITE_OPEN_URI : 0),
            nil
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
        // Whoever closes last would otherwise checkpoint, which is the writer's alone.
        if access != .readWrite { try check(tideover_sqlite_keep_wal_on_close(handle)) }
        try check(tideover_sqlite_defend(handle))
        // SQLite opens what it may not write as if reading had been asked for.
        if access == .readWrite, sqlite3_db_readonly(handle, "main") == 1 {
            throw StorageError(.readOnly, place: path)
        }
    }

    private static func frozenName(of path: String) -> String {
        let escaped = path.utf8.flatMap { byte in
            "%?#".utf8.contains(byte) ? Array("%\(String(byte, radix: 16))".utf8) : [byte]
        }
        return "file:\(String(decoding: escaped, as: UTF8.self))?immutable=1"
    }

    deinit {
        // Statements hold their connection, so that all of them are gone by now.
        let code = sqlite3_close(handle)
        assert(code == SQLITE_OK, "a statement outlived its connection")
    }

    /// Runs statements that have neither parameters nor rows to read.
    package func execute(_ sql: StaticString) throws(StorageError) {
        try check(sqlite3_exec(handle, Self.characters(of: sql), nil, nil, nil))
    }

    /// Sets a pragma that takes a number, for which SQLite has no parameters.
    func set(_ pragma: StaticString, to number: Int64) throws(StorageError) {
        try check(sqlite3_exec(handle, "PRAGMA \(pragma) = \(number)", nil, nil, nil))
    }

    /// The first column of a statement's first row, as text; nil where there is no row.
    package func text(_ sql: StaticString) throws(StorageError) -> String? {
        try Statement(sql, on: self).first { $0.text(0) }
    }

    /// The first column of a statement's first row, as an integer.
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

/// How far a checkpoint goes.
package enum CheckpointMode: Sendable {
    /// Copies what it can without waiting for readers.
    case passive
    /// Copies everything, waiting for readers, so that the log begins anew.
    case restart
    /// As `restart`, and shortens the log to nothing.
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
    /// - Returns: how many pages the log still holds that are not in the file.
    package func checkpoint(_ mode: CheckpointMode) throws(StorageError) -> Int {
        var inLog: Int32 = 0
        var copied: Int32 = 0
        let code = sqlite3_wal_checkpoint_v2(handle, nil, mode.code, &inLog, &copied)
        // Readers in the way are no fault: the rest is copied next time.
        guard code == SQLITE_OK || code & 0xFF == SQLITE_BUSY else { throw error(code) }
        return Int(max(0, inLog - copied))
    }
}
