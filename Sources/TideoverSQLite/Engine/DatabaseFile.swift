import Glibc
import TideoverStorage

/// Operations on the path of a database.
enum DatabaseFile {
    /// Resolves links, so that two names of one file share one lock.
    ///
    /// - Throws: `missingFolder` if the folder does not exist, `notAStorage` for a folder.
    static func resolve(_ path: String) throws(StorageError) -> String {
        if let whole = real(path) {
            guard !isFolder(whole) else { throw isAFolder(path) }
            return whole
        }
        let cut = path.lastIndex(of: "/")
        let folder = cut.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let name = cut.map { String(path[path.index(after: $0)...]) } ?? path
        guard !name.isEmpty else { throw isAFolder(path) }
        guard let found = real(folder) else { throw StorageError(errno: errno, place: path) }
        return found == "/" ? "/\(name)" : "\(found)/\(name)"
    }

    /// Creates the file if it is missing, readable and writable by its owner only: it contains
    /// purchase tokens and customers' ids. SQLite gives its side files the same permissions.
    ///
    /// Made by root, a file beside an existing database belongs to the database's owner, like
    /// SQLite's side files. Otherwise the server's user could not open it.
    static func create(_ path: String, beside database: String? = nil) throws(StorageError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor < 0 else {
            var status = stat()
            if let database, geteuid() == 0, stat(database, &status) == 0 {
                _ = fchown(descriptor, status.st_uid, status.st_gid)
            }
            close(descriptor)
            return
        }
        guard errno == EEXIST else { throw StorageError(errno: errno, place: path) }
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Returns the size of a file; 0 if there is none.
    static func byteCount(_ path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// Returns how to read a file that no other process has open. A log left by a crash is read
    /// too; without one, only the file is read, and no log is created.
    static func quietAccess(to path: String) -> Connection.Access {
        byteCount(path + "-wal") > 0 ? .readOnly : .frozen
    }

    private static func isFolder(_ path: String) -> Bool {
        guard let folder = opendir(path) else { return false }
        closedir(folder)
        return true
    }

    private static func isAFolder(_ path: String) -> StorageError {
        StorageError(.notAStorage, place: path, detail: "it is a folder")
    }

    private static func real(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(cString: found)
    }
}
