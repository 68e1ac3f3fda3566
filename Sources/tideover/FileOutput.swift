import Glibc
import TideoverCommandLine

/// Files that a command writes.
enum FileOutput {
    /// Writes a file, in place of what it held unless there must be none yet. `name` is what it is called
    /// where that fails; its path unless said.
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

    /// Replaces a file as a whole: at no moment is there half of it, and what was there goes only once the
    /// new one is on the disk.
    static func replace(
        _ bytes: [UInt8],
        at path: String,
        mode: mode_t = 0o644
    ) throws(CommandFailure) {
        let new = "\(path).new"
        try write(bytes, to: new, named: path, mode: mode, isSynced: true)
        guard rename(new, path) == 0 else { throw failure(path, errno) }
    }

    /// That a file could be written by now, for work that takes long and is to be written at its end. Nothing
    /// is made, and nothing of what is there is touched.
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

    /// That a file or folder cannot be written, with this `errno`.
    static func failure(_ path: String, _ number: Int32) -> CommandFailure {
        CommandFailure(
            .cannotCreate,
            "cannot write \(TextLayout.visible(path)): \(String(cString: strerror(number)))"
        )
    }
}
