import CTideoverSQLite
import TideoverStorage

extension StorageError {
    /// Creates the error for a SQLite result code, including extended ones.
    init(sqlite code: Int32, handle: OpaquePointer?, place: String) {
        let message = handle.flatMap { sqlite3_errmsg($0) } ?? sqlite3_errstr(code)
        let detail = message.map { String(cString: $0) } ?? ""
        self.init(Self.reason(sqlite: code), place: place, detail: detail)
    }

    private static func reason(sqlite code: Int32) -> Reason {
        // A write that was accepted but not confirmed is a separate case. The system may have
        // dropped it from memory, and a retry would then confirm data that is lost.
        let syncFailures = [4, 5].map { SQLITE_IOERR | $0 << 8 }
        if syncFailures.contains(code) { return .unconfirmed }
        return switch code & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED: .busy
        case SQLITE_FULL: .full
        case SQLITE_READONLY: .readOnly
        case SQLITE_PERM, SQLITE_AUTH, SQLITE_CANTOPEN: .notPermitted
        case SQLITE_CORRUPT: .corrupt
        case SQLITE_NOTADB: .notAStorage
        case SQLITE_IOERR: .io
        case SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_TOOBIG: .refused
        default: .engine(code: code)
        }
    }
}
