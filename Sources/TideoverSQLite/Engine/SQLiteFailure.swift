import CTideoverSQLite
import TideoverStorage

extension StorageError {
    /// The error for one of SQLite's result codes, extended ones included.
    init(sqlite code: Int32, handle: OpaquePointer?, place: String) {
        let message = handle.flatMap { sqlite3_errmsg($0) } ?? sqlite3_errstr(code)
        let detail = message.map { String(cString: $0) } ?? ""
        self.init(Self.reason(sqlite: code), place: place, detail: detail)
    }

    private static func reason(sqlite code: Int32) -> Reason {
        // A write that was accepted and could not be confirmed is its own case: the system may have
        // dropped it from memory, and trying again would then confirm what is not there.
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
