import Glibc
import TideoverLocks
import TideoverStorage

/// The exclusive locks that keep a second process out, until this value is released.
///
/// There are two, since SQLite uses both the file's name and the file itself:
///
/// - `<database>.lock`, beside the database. Two servers that use the same name would share its
///   log. The file is never removed; otherwise two processes could lock two files of one name.
/// - The database file itself, by any name. A hard link or a bind mount of the file has a different
///   lock file and log beside it. Two servers would overwrite each other.
///
/// Both are `flock` locks. They belong to the inode, end with the process, and do not conflict with
/// the POSIX locks that SQLite takes on the same file. Closing any descriptor of the database file
/// releases all POSIX locks of the process. So this value outlives every connection to the file,
/// and a second attempt in one process fails before it opens the file.
///
/// A lease in a row of the database would add nothing. A second server under another name has
/// another log, so neither would read the other's lease. Instead, `check()` runs before each
/// commit. It detects a file that was moved, deleted or replaced under a running server.
final class LockFile: Sendable {
    private let database: String
    private let name: HeldFile?
    private let file: HeldFile?
    private let identity: FileIdentity?

    private static let openHere = Locked<Set<FileIdentity>>([])

    /// Locks a database for writing, and creates the file if it is missing.
    ///
    /// - Throws: `locked` with the holder's process id, if known, or the reason why a file cannot
    ///   be created.
    convenience init(database: String) throws(StorageError) {
        let path = database + ".lock"
        try DatabaseFile.create(path, beside: database)
        let name = try HeldFile(path, O_RDWR | O_NOFOLLOW, database: database)
        name.write(processID: getpid())
        try DatabaseFile.create(database)
        try self.init(database, name: name)
    }

    /// Locks a database for reading. A missing lock file is not created, since it might then belong
    /// to a different user than the server's.
    convenience init(reading database: String) throws(StorageError) {
        let path = database + ".lock"
        let name =
            DatabaseFile.exists(path)
            ? try HeldFile(path, O_RDWR | O_NOFOLLOW, database: database) : nil
        name?.write(processID: getpid())
        try self.init(database, name: name)
    }

    private init(_ database: String, name: HeldFile?) throws(StorageError) {
        self.database = database
        self.name = name
        guard let identity = FileIdentity(of: database) else {
            file = nil
            identity = nil
            return
        }
        guard Self.openHere.withLock({ $0.insert(identity).inserted }) else {
            throw StorageError(.locked(holder: getpid()), place: database)
        }
        // Opened for writing if permitted: an overlay file system has another inode for a file that
        // was written to.
        let mode = access(database, W_OK) == 0 ? O_RDWR : O_RDONLY
        do {
            file = try HeldFile(database, mode | O_NOFOLLOW, database: database)
        } catch {
            Self.openHere.withLock { _ = $0.remove(identity) }
            throw error
        }
        self.identity = identity
    }

    deinit {
        if let identity { Self.openHere.withLock { _ = $0.remove(identity) } }
    }

    /// Checks that the names still lead to the locked files.
    ///
    /// - Throws: `replaced` if another file, or none, is there. Writes would be lost, or the log of
    ///   one file would be applied to another.
    func check() throws(StorageError) {
        guard FileIdentity(of: database) == identity, name?.isInPlace != false else {
            throw StorageError(.replaced, place: database)
        }
    }
}

/// The identity of a file, independent of its names.
private struct FileIdentity: Hashable {
    let device: UInt
    let inode: UInt

    init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    init(_ status: stat) {
        device = UInt(status.st_dev)
        inode = UInt(status.st_ino)
    }
}

/// An open file that stays locked until this value is released.
private final class HeldFile: Sendable {
    private let path: String
    private let descriptor: Int32
    private let identity: FileIdentity

    /// Opens and locks a file; errors report the database.
    init(_ path: String, _ mode: Int32, database: String) throws(StorageError) {
        let opened = open(path, mode | O_CLOEXEC)
        guard opened >= 0 else { throw StorageError(errno: errno, place: path) }
        var status = stat()
        guard fstat(opened, &status) == 0, flock(opened, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            let holder = path == database ? nil : Self.processID(in: opened)
            close(opened)
            guard code == EWOULDBLOCK else { throw StorageError(errno: code, place: path) }
            throw StorageError(.locked(holder: holder), place: database, detail: "lock \(path)")
        }
        self.path = path
        descriptor = opened
        identity = FileIdentity(status)
    }

    deinit {
        // Closing alone would leave the lock with a child process that has not executed its program
        // yet.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    var isInPlace: Bool { FileIdentity(of: path) == identity }

    /// Used only in error messages of other processes; the lock does not depend on it.
    func write(processID: pid_t) {
        let text = Array("\(processID)\n".utf8)
        if ftruncate(descriptor, 0) == 0 { _ = pwrite(descriptor, text, text.count, 0) }
    }

    private static func processID(in descriptor: Int32) -> Int32? {
        var text = [UInt8](repeating: 0, count: 16)
        let count = pread(descriptor, &text, text.count, 0)
        let digits = text.prefix(max(0, count)).prefix { (0x30...0x39).contains($0) }
        return Int32(String(decoding: digits, as: UTF8.self))
    }
}

extension StorageError {
    /// Creates the error for a code of the operating system.
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
