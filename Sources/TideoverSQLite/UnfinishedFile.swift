import Glibc
import TideoverLocks

/// A new file that receives its name only when it is complete.
///
/// Until then it has a name of its own beside its target. So two processes that write to one target
/// never share a file, and no existing file or link is written to. Only its owner can open it.
package struct UnfinishedFile: Sendable {
    /// A file could not be created or named.
    package struct Failure: Error, Hashable {
        /// The target.
        package let path: String
        /// The error of the operating system; `EEXIST` if there is a file of the target's name.
        package let code: Int32

        package init(path: String, code: Int32) {
            self.path = path
            self.code = code
        }
    }

    package let descriptor: Int32
    let path: String
    private let target: String

    /// Followed by 16 random hexadecimal digits.
    private static let suffix = ".unfinished-"
    /// The paths of this process's files.
    private static let open = Locked<Set<String>>([])

    /// Creates an empty file. Close it with `close()`.
    package init(for target: String) throws(Failure) {
        Self.removeAbandoned(of: target)
        self.target = target
        path = target + Self.suffix + String(UInt64.random(in: 1 << 60 ... .max), radix: 16)
        descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure(path: target, code: errno) }
        Self.open.withLock { [path] in _ = $0.insert(path) }
    }

    /// Syncs the complete file and gives it its name.
    ///
    /// - Throws: `EEXIST` if a file of this name exists.
    package func publish() throws(Failure) {
        guard fsync(descriptor) == 0, takeName() else { throw Failure(path: target, code: errno) }
        try syncFolder()
    }

    private func takeName() -> Bool {
        if link(path, target) == 0 { return true }
        guard [EPERM, EOPNOTSUPP, ENOSYS].contains(errno) else { return false }
        // The file system has no hard links: only an empty file made here is replaced.
        let empty = Glibc.open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard empty >= 0 else { return false }
        Glibc.close(empty)
        return rename(path, target) == 0
    }

    /// Syncs the complete file and gives it its name, in place of an existing file.
    package func replaceTarget() throws(Failure) {
        guard fsync(descriptor) == 0, rename(path, target) == 0 else {
            throw Failure(path: target, code: errno)
        }
    }

    /// Closes the file, and removes it unless it has its name.
    package func close() {
        Glibc.close(descriptor)
        unlink(path)
        Self.open.withLock { _ = $0.remove(path) }
    }

    /// Removes the incomplete files of this process, which is about to end.
    package static func removeAll() {
        for path in open.withLock({ $0 }) {
            unlink(path)
            unlink(path + "-journal")
        }
    }

    private func syncFolder() throws(Failure) {
        let folder = Glibc.open(Self.folder(of: target), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else {
            // A folder can permit new files, but not reading.
            guard errno == EACCES else { throw Failure(path: target, code: errno) }
            return
        }
        defer { Glibc.close(folder) }
        guard fsync(folder) == 0 else { throw Failure(path: target, code: errno) }
    }

    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? "./"
    }

    /// Removes the files that ended processes left for this target: those that are not changed for
    /// a day.
    private static func removeAbandoned(of target: String) {
        let folder = folder(of: target)
        let name = target.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        let prefix = name + suffix
        guard let entries = opendir(folder) else { return }
        defer { closedir(entries) }
        while let entry = readdir(entries) {
            // By address: a copy of the field would read past entries that are shorter than it.
            guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return }
            let start = UnsafeRawPointer(entry) + offset
            let found = String(cString: start.assumingMemoryBound(to: CChar.self))
            let end = found.dropFirst(prefix.count)
            guard found.hasPrefix(prefix), end.count >= 16,
                ["", "-journal"].contains(end.dropFirst(16))
            else { continue }
            var status = stat()
            guard lstat(folder + found, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
                time(nil) - status.st_mtim.tv_sec > 86_400
            else { continue }
            unlink(folder + found)
        }
    }
}
