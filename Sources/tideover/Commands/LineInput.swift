import Glibc
import TideoverCommandLine

/// Reads lines of a file or of standard input, one at a time and at any length of the input.
final class LineInput {
    /// Longer lines are rejected.
    private static let mostBytes = 64 << 20

    private let path: String
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false

    init(_ path: String) throws(CommandFailure) {
        self.path = path
        guard path != FileInput.standardInput else {
            descriptor = STDIN_FILENO
            return
        }
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure(path, errno) }
    }

    deinit {
        if path != FileInput.standardInput { close(descriptor) }
    }

    /// Returns the next line without its line break; nil after the last one.
    func next() throws(CommandFailure) -> [UInt8]? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { start = end + 1 }
                return Array(buffer[start..<end])
            }
            if isAtEnd {
                defer { start = buffer.count }
                return start < buffer.count ? Array(buffer[start...]) : nil
            }
            buffer.removeFirst(start)
            start = 0
            searched = buffer.count
            guard buffer.count <= Self.mostBytes else {
                throw CommandFailure(
                    .data,
                    "\(TextLayout.visible(path)) has a line of over 64 MiB, so it is not an export"
                )
            }
            try fill()
        }
    }

    private func fill() throws(CommandFailure) {
        var chunk = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Self.failure(path, errno) }
            if count == 0 { isAtEnd = true } else { buffer += chunk[..<count] }
            return
        }
    }

    private static func failure(_ path: String, _ number: Int32) -> CommandFailure {
        CommandFailure(
            number == ENOENT ? .noInput : .io,
            "\(TextLayout.visible(path)) cannot be read: \(String(cString: strerror(number)))"
        )
    }
}
