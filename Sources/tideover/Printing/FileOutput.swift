import Glibc
import TideoverCommandLine

/// Writes files for commands.
enum FileOutput {
    /// Writes a file. Replaces an existing file, unless the file must be new. `name` is the name in
    /// errors; the path by default.
    static func write(
        _ bytes: [UInt8],
        to path: String,
        named name: String? = nil,
        mode: mode_t = 0o644,
        isNew: Bool = false,
        isSynced: Bool = false
    ) throws(CommandFailure) {
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (isNew ? O_EXCL : O_TRUNC)
        let descriptor = open(path, flags, mode)
        guard descriptor >= 0 else { throw failure(name ?? path, errno) }
        let sink = Sink(descriptor: descriptor)
        sink.write(bytes)
        let isOnDisk = !isSynced || fsync(descriptor) == 0
        let trouble = errno
        let isClosed = close(descriptor) == 0
        if !isOnDisk { throw failure(name ?? path, trouble) }
        if case .failed(let number) = sink.condition { throw failure(name ?? path, number) }
        if !isClosed { throw failure(name ?? path, errno) }
    }

    /// Replaces a file atomically: it is never incomplete, and the old one remains until the new
    /// one is on the disk.
    static func replace(
        _ bytes: [UInt8],
        at path: String,
        mode: mode_t = 0o644
    ) throws(CommandFailure) {
        let new = "\(path).new"
        try write(bytes, to: new, named: path, mode: mode, isSynced: true)
        guard rename(new, path) == 0 else { throw failure(path, errno) }
    }

    /// Throws if a file could not be written now. Long commands call it before work whose result
    /// they write at the end. It creates and changes nothing.
    static func check(_ path: String) throws(CommandFailure) {
        var entry = stat()
        guard stat(path, &entry) == 0 else {
            guard errno == ENOENT else { throw failure(path, errno) }
            let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
            guard access(folder, W_OK | X_OK) == 0 else { throw failure(path, errno) }
            return
        }
        guard entry.st_mode & S_IFMT != S_IFDIR else { throw failure(path, EISDIR) }
        guard access(path, W_OK) == 0 else { throw failure(path, errno) }
    }

    /// Returns the failure for a file or folder that cannot be written, with this `errno`.
    static func failure(_ path: String, _ number: Int32) -> CommandFailure {
        CommandFailure(
            .cannotCreate,
            "cannot write \(TextLayout.visible(path)): \(String(cString: strerror(number)))"
        )
    }
}
