import Glibc
import TideoverCommandLine
import TideoverCore
import TideoverStorage

/// Whole lines of a file, as many as fit into a request.
struct LineBatch {
    /// Longer ones are left out; an answer about a customer has a few thousand bytes.
    static let longestLine = 128 << 10
    /// A request may have twice as many.
    static let mostBytes = 128 << 10

    /// With the end of each line. One that is too long is blank here.
    let bytes: [UInt8]
    /// How many lines of the file stand before it.
    let linesBefore: Int64
    /// The number of its last line, from 1.
    let lastLine: Int64
    /// The numbers of lines that are too long.
    let tooLong: [Int64]
    /// A digest of all lines of the file up to here.
    let mark: String
}

/// A file of lines, which may be larger than memory and can be read more than once.
struct LineFile {
    let path: String
    let size: Int

    /// - Throws: `FileInputError` for what is no readable file.
    init(_ path: String) throws(FileInputError) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw Self.error(errno, path) }
        guard status.st_mode & S_IFMT != S_IFDIR else { throw .isDirectory(path: path) }
        self.path = path
        size = Int(status.st_size)
    }

    /// Hands over batch after batch from the beginning.
    ///
    /// - Throws: `FileInputError`, or what `body` throws, which ends the reading.
    func eachBatch(_ body: (LineBatch) async throws -> Void) async throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.error(errno, path) }
        defer { close(descriptor) }
        var cutter = LineCutter()
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0 {
                guard errno == EINTR else { throw Self.error(errno, path) }
                continue
            }
            guard count > 0 else { break }
            for batch in cutter.take(chunk[..<count]) { try await body(batch) }
        }
        if let last = cutter.finish() { try await body(last) }
    }

    private static func error(_ number: Int32, _ path: String) -> FileInputError {
        switch number {
        case ENOENT, ENOTDIR: .notFound(path: path)
        case EACCES, EPERM: .noPermission(path: path)
        default: .unreadable(path: path, errno: number)
        }
    }
}

/// Cuts a file's bytes into batches of whole lines, in the same way every time.
struct LineCutter {
    private var batch: [UInt8] = []
    private var line: [UInt8] = []
    /// Whether the line being taken in is over the limit, and so forgotten as it comes.
    private var isTooLong = false
    private var linesBefore: Int64 = 0
    private var lines: Int64 = 0
    private var tooLong: [Int64] = []
    private var mark = ""

    /// The batches that are full by these bytes.
    mutating func take(_ bytes: ArraySlice<UInt8>) -> [LineBatch] {
        var full: [LineBatch] = []
        var bytes = bytes
        while let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
            keep(bytes[..<end])
            if let batch = endLine() { full.append(batch) }
            bytes = bytes[(end + 1)...]
        }
        keep(bytes)
        return full
    }

    /// What is left at the end of the file.
    mutating func finish() -> LineBatch? {
        var full: LineBatch?
        if !line.isEmpty || isTooLong { full = endLine() }
        return full ?? (lines > linesBefore ? cut() : nil)
    }

    private mutating func keep(_ part: ArraySlice<UInt8>) {
        isTooLong = isTooLong || line.count + part.count > LineBatch.longestLine
        if isTooLong { line.removeAll() } else { line += part }
    }

    private mutating func endLine() -> LineBatch? {
        lines += 1
        if isTooLong { tooLong.append(lines) }
        batch += line + [UInt8(ascii: "\n")]
        line.removeAll(keepingCapacity: true)
        isTooLong = false
        return batch.count >= LineBatch.mostBytes / 2 ? cut() : nil
    }

    private mutating func cut() -> LineBatch {
        mark = EvidenceID(of: Array(mark.utf8) + batch).hex
        defer {
            batch.removeAll(keepingCapacity: true)
            tooLong = []
            linesBefore = lines
        }
        return LineBatch(
            bytes: batch,
            linesBefore: linesBefore,
            lastLine: lines,
            tooLong: tooLong,
            mark: mark
        )
    }
}
