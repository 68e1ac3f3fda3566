import Glibc
import Testing

@testable import TideoverCommandLine

@Suite struct TerminalTests {
    private func terminal(
        isTTY: Bool = true,
        columns: Int? = nil,
        _ environment: [String: String] = [:]
    ) -> Terminal {
        Terminal(isTTY: isTTY, columns: columns) { environment[$0] }
    }

    @Test func `colours are for terminals`() {
        #expect(terminal().usesColour)
        #expect(!terminal(isTTY: false).usesColour)
        #expect(!terminal(["TERM": "dumb"]).usesColour)
        #expect(terminal(["TERM": "xterm-256color"]).usesColour)
    }

    @Test func `NO_COLOR takes the colours and nothing else`() {
        let terminal = terminal(["NO_COLOR": "1"])
        #expect(!terminal.usesColour)
        #expect(terminal.isInteractive)
        #expect(terminal.styled("refused", .bad) == "refused")
    }

    @Test func `an empty NO_COLOR is not set`() {
        #expect(terminal(["NO_COLOR": ""]).usesColour)
    }

    @Test func `a style vanishes where it cannot be shown`() {
        #expect(Terminal.plain.styled("refused", .bad) == "refused")
        #expect(terminal().styled("refused", .bad) == "\u{1B}[31mrefused\u{1B}[0m")
        #expect(terminal().styled("", .bad) == "")
        #expect(terminal().styled("refused", nil) == "refused")
    }

    @Test func `the system tells the width before the environment does`() {
        #expect(terminal(columns: 120, ["COLUMNS": "60"]).width == 120)
        #expect(terminal(["COLUMNS": "60"]).width == 60)
        #expect(terminal(["COLUMNS": "wide"]).width == 80)
        #expect(terminal(["COLUMNS": "0"]).width == 80)
        #expect(terminal().width == 80)
    }

    @Test func `a pipe is no terminal`() throws {
        let pipe = try Pipe()
        #expect(!Terminal(descriptor: pipe.writing).isInteractive)
        #expect(!Terminal(descriptor: pipe.writing).usesColour)
    }
}

/// A pipe whose ends close with it.
struct Pipe: ~Copyable {
    let reading: Int32
    let writing: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        (reading, writing) = (ends[0], ends[1])
    }

    deinit {
        close(reading)
        close(writing)
    }
}

@Suite struct OutputTests {
    @Test func `results and messages go separate ways`() {
        let output = Output()
        output.print("result")
        output.message("message")
        output.write(Array("raw".utf8))
        output.print()
        #expect(output.results.captured == "result\nraw\n")
        #expect(output.messages.captured == "message\n")
    }

    @Test func `lines of many threads do not mix`() async {
        let output = Output()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    for _ in 0..<50 { output.print(String(repeating: "\(number)", count: 20)) }
                }
            }
        }
        let lines = output.results.captured.split(separator: "\n")
        #expect(lines.count == 400)
        #expect(lines.allSatisfy { $0.count == 20 && Set($0).count == 1 })
    }

    @Test func `bytes arrive at a file descriptor`() throws {
        let pipe = try Pipe()
        Sink(descriptor: pipe.writing).write(Array("four".utf8))
        var received = [UInt8](repeating: 0, count: 8)
        #expect(read(pipe.reading, &received, 8) == 4)
        #expect(received.prefix(4) == Array("four".utf8)[...])
    }

    @Test func `a reader that went away is no failure`() throws {
        signal(SIGPIPE, SIG_IGN)
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        close(ends[0])
        defer { close(ends[1]) }
        let output = Output(results: Sink(descriptor: ends[1]), messages: Sink())
        output.print("nobody reads this")
        output.print("nor this")
        #expect(output.results.condition == .abandoned)
        #expect(output.settled(.success) == .success)
        #expect(output.settled(.failure) == .failure)
        #expect(output.messages.captured.isEmpty)
    }

    @Test func `a full disk turns success into a failure that is told`() throws {
        let descriptor = open("/dev/full", O_WRONLY)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let output = Output(results: Sink(descriptor: descriptor), messages: Sink())
        output.print("lost")
        #expect(output.results.condition == .failed(ENOSPC))
        #expect(output.settled(.success) == .io)
        #expect(
            output.messages.captured
                == "cannot write to standard output: No space left on device\n"
        )
        #expect(output.settled(.failure) == .failure)
    }
}

@Suite struct ProgressTests {
    /// A clock that a test moves.
    private final class Clock: Sendable {
        let start = ContinuousClock.now
        let elapsed = Counter()
        func now() -> ContinuousClock.Instant { start + .milliseconds(elapsed.value) }
    }

    private static let terminal = Terminal(isInteractive: true, usesColour: false, width: 24)

    @Test func `a person sees one line that is redrawn and goes away`() {
        let clock = Clock()
        let output = Output(capturingAs: Self.terminal)
        let progress = Progress("reading", total: 200, on: output, now: clock.now)
        progress.advance(by: 20)
        #expect(output.messages.captured.isEmpty)
        clock.elapsed.add(100)
        progress.advance(by: 30)
        clock.elapsed.add(99)
        progress.advance()
        progress.finish()
        #expect(
            output.messages.captured == "\r\u{1B}[Kreading: 50 of 200 (...\r\u{1B}[K"
        )
    }

    @Test func `a message takes the place of the line`() {
        let clock = Clock()
        let output = Output(capturingAs: Self.terminal)
        let progress = Progress("reading", on: output, now: clock.now)
        clock.elapsed.add(100)
        progress.advance(by: 5)
        output.message("look")
        progress.finish()
        #expect(output.messages.captured == "\r\u{1B}[Kreading: 5\r\u{1B}[Klook\n")
    }

    @Test func `a log gets a line every ten seconds and a last one`() {
        let clock = Clock()
        let output = Output()
        let progress = Progress("reading", total: 4, on: output, now: clock.now)
        for _ in 1...4 {
            clock.elapsed.add(6_000)
            progress.advance()
        }
        progress.finish()
        #expect(
            output.messages.captured == """
                reading: 2 of 4 (50 %)
                reading: 4 of 4 (100 %)
                reading: 4 of 4 (100 %)

                """
        )
    }

    @Test func `short work says nothing in a log`() {
        let clock = Clock()
        let output = Output()
        let progress = Progress("reading", on: output, now: clock.now)
        progress.advance(by: 1000)
        progress.finish()
        #expect(output.messages.captured.isEmpty)
    }
}

@Suite struct FileInputTests {
    /// A folder of its own for one test.
    private struct Folder: ~Copyable {
        let path: String

        init() throws {
            var template = Array("/tmp/tideover-input-XXXXXX".utf8CString)
            try #require(mkdtemp(&template) != nil)
            path = String(
                decoding: template.dropLast().map { UInt8(bitPattern: $0) },
                as: UTF8.self
            )
        }

        func file(_ name: String, _ text: String) throws -> String {
            let descriptor = open("\(path)/\(name)", O_WRONLY | O_CREAT, 0o600)
            try #require(descriptor >= 0)
            Sink(descriptor: descriptor).write(Array(text.utf8))
            close(descriptor)
            return "\(path)/\(name)"
        }

        deinit {
            unlink("\(path)/a")
            rmdir(path)
        }
    }

    private func refusal(_ path: String, atMost limit: Int = 100) -> FileInputError? {
        do {
            _ = try FileInput.read(path, atMost: limit)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a file is read whole`() throws {
        let folder = try Folder()
        let path = try folder.file("a", "some text")
        #expect(try FileInput.read(path, atMost: 9) == Array("some text".utf8))
    }

    @Test func `a file larger than the bound is refused`() throws {
        let folder = try Folder()
        let path = try folder.file("a", "some text")
        #expect(refusal(path, atMost: 8) == .tooLarge(path: path, limit: 8))
        #expect(refusal("/dev/zero", atMost: 1000) == .tooLarge(path: "/dev/zero", limit: 1000))
    }

    @Test func `what is not there or no file is told apart`() throws {
        let folder = try Folder()
        let path = folder.path
        #expect(refusal("\(path)/none") == .notFound(path: "\(path)/none"))
        #expect(refusal(path) == .isDirectory(path: path))
        let file = try folder.file("a", "")
        #expect(refusal("\(file)/b") == .notFound(path: "\(file)/b"))
    }

    @Test(.enabled(if: getuid() != 0, "root may read everything"))
    func `what may not be read is told apart`() throws {
        let folder = try Folder()
        let path = try folder.file("a", "secret")
        try #require(chmod(path, 0) == 0)
        #expect(refusal(path) == .noPermission(path: path))
    }

    @Test(arguments: [
        (FileInputError.notFound(path: "a"), ExitCode.noInput, "a: there is no such file"),
        (.isDirectory(path: "a"), .noInput, "a: is a directory, not a file"),
        (.noPermission(path: "a"), .noPermission, "a: reading it is not permitted"),
        (
            .tooLarge(path: "-", limit: 9), .data,
            "standard input: larger than the 9 bytes that are read at most"
        ),
        (.unreadable(path: "a", errno: EIO), .io, "a: cannot be read: Input/output error"),
    ])
    func `each failure has its exit code and its words`(
        error: FileInputError,
        code: ExitCode,
        message: String
    ) {
        #expect(error.exitCode == code)
        #expect(error.message == message)
    }
}
