import Glibc
import TideoverCommandLine
import TideoverSQLite

/// Writes files for commands.
enum FileOutput {
    /// Writes a file. Replaces an existing file, unless the file must be new.
    static func write(
        _ bytes: [UInt8],
        to path: String,
        mode: mode_t = 0o644,
        isNew: Bool = false,
        isSynced: Bool = false
    ) throws(CommandFailure) {
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (isNew ? O_EXCL : O_TRUNC)
        let descriptor = open(path, flags, mode)
        guard descriptor >= 0 else { throw failure(path, errno) }
        let sink = Sink(descriptor: descriptor)
        sink.write(bytes)
        let isOnDisk = !isSynced || fsync(descriptor) == 0
        let trouble = errno
        let isClosed = close(descriptor) == 0
        if !isOnDisk { throw failure(path, trouble) }
        if case .failed(let number) = sink.condition { throw failure(path, number) }
        if !isClosed { throw failure(path, errno) }
    }

    /// Replaces a file atomically: it is never incomplete, and the old one remains until the new
    /// one is on the disk. Only the owner can open the new one.
    static func replace(_ bytes: [UInt8], at path: String) throws(CommandFailure) {
        do throws(UnfinishedFile.Failure) {
            let file = try UnfinishedFile(for: path)
            defer { file.close() }
            let sink = Sink(descriptor: file.descriptor)
            sink.write(bytes)
            if case .failed(let number) = sink.condition {
                throw UnfinishedFile.Failure(path: path, code: number)
            }
            try file.replaceTarget()
        } catch {
            throw failure(error.path, error.code)
        }
    }

    /// Throws if a file could not be written now, or has content that does not begin like that of
    /// an earlier run. Long commands that write their result at the end call it first. It creates
    /// and changes nothing.
    ///
    /// `--junit *.json5` names the first scenario as the file to write.
    static func check(_ path: String, replacing beginning: String) throws(CommandFailure) {
        var entry = stat()
        guard stat(path, &entry) == 0 else {
            guard errno == ENOENT else { throw failure(path, errno) }
            let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
            guard access(folder, W_OK | X_OK) == 0 else { throw failure(path, errno) }
            return
        }
        guard entry.st_mode & S_IFMT != S_IFDIR else { throw failure(path, EISDIR) }
        guard access(path, W_OK) == 0 else { throw failure(path, errno) }
        guard entry.st_mode & S_IFMT == S_IFREG, entry.st_size > 0 else { return }
        guard try self.beginning(of: path, beginning.utf8.count) == Array(beginning.utf8) else {
            throw CommandFailure(
                .cannotCreate,
                "\(TextLayout.visible(path)) already exists, and is not from an earlier run\n"
                    + "Name another file, or remove it."
            )
        }
    }

    /// Returns at most so many of the first bytes of a file.
    private static func beginning(
        of path: String,
        _ count: Int
    ) throws(CommandFailure) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path, errno) }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: count)
        let read = Glibc.read(descriptor, &bytes, count)
        guard read >= 0 else { throw failure(path, errno) }
        return Array(bytes.prefix(read))
    }

    /// Returns the failure for a file or folder that cannot be written, with this `errno`.
    static func failure(_ path: String, _ number: Int32) -> CommandFailure {
        var entry = stat()
        let isFolder = stat(path, &entry) == 0 && entry.st_mode & S_IFMT == S_IFDIR
        let path = TextLayout.visible(path)
        guard number != EEXIST || !isFolder else {
            return CommandFailure(.cannotCreate, "\(path) is a folder\nName a file in it.")
        }
        return CommandFailure(
            .cannotCreate,
            number == EEXIST
                ? "\(path) already exists\nName another file, or remove it."
                : "cannot write \(path): \(String(cString: strerror(number)))"
        )
    }
}
