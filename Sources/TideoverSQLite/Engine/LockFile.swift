import Glibc
import TideoverStorage

/// The exclusive lock that keeps a second writer out, held on a file beside the database for as long
/// as this value lives. The system drops it when the process ends, however it ends; the file stays,
/// since to remove it would let two processes lock two files of one name.
final class LockFile: Sendable {
    private let descriptor: Int32

    /// Locks `<database>.lock`.
    ///
    /// - Throws: `locked` with the holder's process id, or what keeps the file from being made.
    init(database: String) throws(StorageError) {
        let path = database + ".lock"
        let opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard opened >= 0 else { throw StorageError(errno: errno, place: path) }
        guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            let holder = Self.processID(in: opened)
            close(opened)
            guard code == EWOULDBLOCK else { throw StorageError(errno: code, place: path) }
            throw StorageError(.locked(holder: holder), place: database, detail: "lock \(path)")
        }
        descriptor = opened
        let text = Array("\(getpid())\n".utf8)
        // Only for the sentence that others print; the lock does not depend on it.
        if ftruncate(opened, 0) == 0 { _ = pwrite(opened, text, text.count, 0) }
    }

    deinit {
        // Closing alone would leave the lock with a child process that has not begun its program yet.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    private static func processID(in descriptor: Int32) -> Int32? {
        var text = [UInt8](repeating: 0, count: 16)
        let count = pread(descriptor, &text, text.count, 0)
        let digits = text.prefix(max(0, count)).prefix { (0x30...0x39).contains($0) }
        return Int32(String(decoding: digits, as: UTF8.self))
    }
}

extension StorageError {
    /// The error for one of the operating system's codes.
    init(errno code: Int32, place: String) {
        let reason: Reason =
            switch code {
            case ENOENT, ENOTDIR: .missingFolder
            case EACCES, EPERM, EISDIR, ELOOP: .notPermitted
            case EROFS: .readOnly
            case ENOSPC, EDQUOT: .full
            case EIO: .io
            default: .engine(code: code)
            }
        let words = strerror(code).map { String(cString: $0) } ?? ""
        self.init(reason, place: place, detail: words)
    }
}
