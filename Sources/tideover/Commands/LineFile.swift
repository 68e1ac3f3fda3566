import Glibc
import TideoverCommandLine
import TideoverCore
import TideoverStorage

/// Complete lines of a file that fit into one request.
struct LineBatch {
    /// Longer lines are skipped; an answer about a customer has a few thousand bytes.
    static let longestLine = 128 << 10
    /// A request may have twice as many.
    static let mostBytes = 128 << 10

    /// The lines with their line ends. A line that is too long is empty here.
    let bytes: [UInt8]
    /// The number of lines before the batch.
    let linesBefore: Int64
    /// The number of the batch's last line, from 1.
    let lastLine: Int64
    /// The numbers of lines that are too long.
    let tooLong: [Int64]
    /// A digest of all lines of the file up to the end of the batch.
    let mark: String
}

/// A file of lines, which may be larger than memory and can be read repeatedly.
struct LineFile {
    let path: String
    let size: Int

    /// - Throws: `FileInputError` if the file cannot be read.
    init(_ path: String) throws(FileInputError) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw Self.error(errno, path) }
        guard status.st_mode & S_IFMT != S_IFDIR else { throw .isDirectory(path: path) }
        self.path = path
        size = Int(status.st_size)
    }

    /// Passes each batch to `body`, from the beginning.
    ///
    /// - Throws: `FileInputError`, or the error of `body`, which ends the reading.
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

/// Cuts a file's bytes into batches of complete lines. Equal files give equal batches.
struct LineCutter {
    private var batch: [UInt8] = []
    private var line: [UInt8] = []
    /// Whether the current line is over the limit, so that its bytes are dropped.
    private var isTooLong = false
    private var linesBefore: Int64 = 0
    private var lines: Int64 = 0
    private var tooLong: [Int64] = []
    private var mark = ""

    /// Adds bytes and returns the batches that they complete.
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

    /// Returns the rest at the end of the file.
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
