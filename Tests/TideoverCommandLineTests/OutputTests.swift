import Glibc
import Testing

@testable import TideoverCommandLine

@Suite struct OutputTests {
    @Test func `results and messages use separate streams`() {
        let output = Output()
        output.print("result")
        output.message("message")
        output.write(Array("raw".utf8))
        output.print()
        #expect(output.results.captured == "result\nraw\n")
        #expect(output.messages.captured == "message\n")
    }

    @Test func `lines of several threads are not mixed`() async {
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

    @Test func `a closed pipe is not a failure`() throws {
        signal(SIGPIPE, SIG_IGN)
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        close(ends[0])
        defer { close(ends[1]) }
        let output = Output(results: Sink(descriptor: ends[1]), messages: Sink())
        output.print("discarded")
        output.print("nor this")
        #expect(output.results.condition == .abandoned)
        #expect(output.settled(.success) == .success)
        #expect(output.settled(.failure) == .failure)
        #expect(output.messages.captured.isEmpty)
    }

    @Test func `a full disk turns success into a reported failure`() throws {
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

    @Test func `a terminal shows one progress line, redraws it and removes it`() {
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

    @Test func `a message replaces the progress line`() {
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

    @Test func `short work writes nothing to a log`() {
        let clock = Clock()
        let output = Output()
        let progress = Progress("reading", on: output, now: clock.now)
        progress.advance(by: 1000)
        progress.finish()
        #expect(output.messages.captured.isEmpty)
    }

    @Test func `the seconds of work of unknown length are counted on a terminal, and erased`()
        async throws
    {
        let output = Output(capturingAs: Self.terminal)
        let result = try await Progress.timing("waiting", on: output, every: .milliseconds(110)) {
            for _ in 0..<1_000 where !output.messages.captured.contains("waiting, seconds: 2") {
                try await Task.sleep(for: .milliseconds(10))
            }
            return 7
        }
        #expect(result == 7)
        #expect(output.messages.captured.contains("waiting, seconds: 2"))
        #expect(output.messages.captured.hasSuffix("\r\u{1B}[K"))
    }

    @Test func `short work counts nothing`() async {
        let output = Output(capturingAs: Self.terminal)
        await #expect(throws: CancellationError.self) {
            try await Progress.timing("waiting", on: output) { throw CancellationError() }
        }
        #expect(output.messages.captured.isEmpty)
    }
}
