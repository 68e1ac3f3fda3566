import Glibc
import TideoverCommandLine

/// Files that a command writes.
enum FileOutput {
    /// Writes a file, in place of what it held unless there must be none yet.
    static func write(
        _ bytes: [UInt8],
        to path: String,
        mode: mode_t = 0o644,
        isNew: Bool = false
    ) throws(CommandFailure) {
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (isNew ? O_EXCL : O_TRUNC)
        let descriptor = open(path, flags, mode)
        guard descriptor >= 0 else { throw failure(path, errno) }
        let sink = Sink(descriptor: descriptor)
        sink.write(bytes)
        let isClosed = close(descriptor) == 0
        if case .failed(let number) = sink.condition { throw failure(path, number) }
        if !isClosed { throw failure(path, errno) }
    }

    /// That a file or folder cannot be written, with this `errno`.
    static func failure(_ path: String, _ number: Int32) -> CommandFailure {
        CommandFailure(
            .cannotCreate,
            "cannot write \(TextLayout.visible(path)): \(String(cString: strerror(number)))"
        )
    }
}
