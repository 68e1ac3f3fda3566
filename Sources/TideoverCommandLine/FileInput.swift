import Glibc

/// Why an input could not be read.
package enum FileInputError: ReportableFailure, Hashable {
    /// The file does not exist.
    case notFound(path: String)
    /// The path names a directory.
    case isDirectory(path: String)
    /// The operating system does not allow reading it.
    case noPermission(path: String)
    /// The input is longer than `limit` bytes.
    case tooLarge(path: String, limit: Int)
    /// Reading failed with this `errno`.
    case unreadable(path: String, errno: Int32)

    package var exitCode: ExitCode {
        switch self {
        case .notFound, .isDirectory: .noInput
        case .noPermission: .noPermission
        case .tooLarge: .data
        case .unreadable: .io
        }
    }

    package var message: String { "\(Self.name(path)): \(self)" }

    private var path: String {
        switch self {
        case .notFound(let path), .isDirectory(let path), .noPermission(let path),
            .tooLarge(let path, _), .unreadable(let path, _):
            path
        }
    }

    private static func name(_ path: String) -> String {
        path == FileInput.standardInput ? "standard input" : TextLayout.visible(path)
    }
}

extension FileInputError: CustomStringConvertible {
    /// The error without the input's name.
    package var description: String {
        switch self {
        case .notFound: "there is no such file"
        case .isDirectory: "is a directory, not a file"
        case .noPermission: "this user may not read it"
        case .tooLarge(_, let limit): "larger than the maximum of \(limit) bytes"
        case .unreadable(_, let number): "cannot be read: \(SystemError.text(number))"
        }
    }
}

/// Reads a complete file, or standard input if the path is `-`.
package enum FileInput {
    /// The path of standard input; a file of that name is `./-`.
    package static let standardInput = "-"

    /// Returns all bytes of an input, at most `limit` of them.
    package static func read(_ path: String, atMost limit: Int) throws(FileInputError) -> [UInt8] {
        guard path != standardInput else {
            return try readAll(STDIN_FILENO, path: path, limit: limit)
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw error(errno, path) }
        defer { close(descriptor) }
        return try readAll(descriptor, path: path, limit: limit)
    }

    static func readAll(
        _ descriptor: Int32,
        path: String,
        limit: Int
    ) throws(FileInputError) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count == 0 { return bytes }
            if count < 0 {
                guard errno == EINTR else { throw error(errno, path) }
                continue
            }
            guard bytes.count + count <= limit else { throw .tooLarge(path: path, limit: limit) }
            bytes += chunk[..<count]
        }
    }

    private static func error(_ number: Int32, _ path: String) -> FileInputError {
        switch number {
        case ENOENT, ENOTDIR: .notFound(path: path)
        case EISDIR: .isDirectory(path: path)
        case EACCES, EPERM: .noPermission(path: path)
        default: .unreadable(path: path, errno: number)
        }
    }
}
