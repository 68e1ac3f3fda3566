import Glibc
import Testing

@testable import TideoverCommandLine

@Suite(.timeLimit(.minutes(20))) struct BackgroundWriterTests {
    private static func line(_ text: String) -> [UInt8] { Array("\(text)\n".utf8) }

    private static func notice(_ count: Int) -> [UInt8] { line("dropped \(count)") }

    @Test func `a queue accepts lines up to its capacity and counts dropped ones`() {
        var queue = LineQueue(capacity: 6)
        #expect(queue.isEmpty)
        let accepted = ["ab", "cd", "ef", ""].map { queue.append(Self.line($0)) }
        // The empty line would fit, but it comes after the gap.
        #expect(accepted == [true, true, false, false])
        let batch = queue.take()
        #expect(batch == LineQueue.Batch(bytes: Array("ab\ncd\n".utf8), droppedCount: 2))
        #expect(queue.isEmpty)
        let isAccepted = queue.append(Self.line("ef"))
        #expect(isAccepted)
        let next = queue.take()
        #expect(next == LineQueue.Batch(bytes: Array("ef\n".utf8)))
    }

    @Test func `lines arrive in order`() throws {
        let sink = Sink()
        let writer = try BackgroundWriter(to: sink, notice: Self.notice)
        for number in 0..<1_000 { writer.write(Self.line("\(number)")) }
        writer.finish(within: 60_000)
        #expect(sink.captured == (0..<1_000).map { "\($0)\n" }.joined())
        #expect(writer.droppedCount == 0)
    }

    @Test func `a stalled reader blocks no caller and later gets the count of lost lines`() throws {
        let pipe = try Pipe()
        let output = Sink(descriptor: pipe.writing)
        let writer = try BackgroundWriter(to: output, capacity: 200_000, notice: Self.notice)
        let sink = Sink(writer)
        var bytes = [UInt8](repeating: 0, count: 65_536)
        // Longer than a pipe's buffer: once its first byte arrives, the writer is blocked.
        sink.write(Self.line(String(repeating: "x", count: 150_000)))
        try #require(read(pipe.reading, &bytes, 1) == 1)
        let line = Self.line(String(repeating: "x", count: 999))
        for _ in 0..<2_000 { sink.write(line) }
        let dropped = writer.droppedCount
        #expect(dropped == 1_800)
        let begin = ContinuousClock.now
        writer.finish(within: 100)
        #expect(begin.duration(to: .now) >= .milliseconds(100))

        let expected = "dropped \(dropped)\n"
        var received: [UInt8] = []
        while !received.suffix(expected.utf8.count).elementsEqual(expected.utf8) {
            let count = read(pipe.reading, &bytes, bytes.count)
            try #require(count > 0)
            received += bytes[..<count]
        }
        let lines = received.split(separator: UInt8(ascii: "\n"))
        #expect(lines.count == 1 + 200 + 1)
        #expect(lines.dropFirst().dropLast().allSatisfy { $0.count == 999 })
        writer.finish(within: 60_000)
        sink.write(Self.line("again"))
        #expect(read(pipe.reading, &bytes, bytes.count) == 6)
        #expect(writer.droppedCount == dropped)
    }

    @Test func `lines wait while a sink fails, and are written after it`() throws {
        signal(SIGPIPE, SIG_IGN)
        let path = "/tmp/tideover-fifo-\(UInt64.random(in: .min ... .max))"
        try #require(mkfifo(path, 0o600) == 0)
        defer { unlink(path) }
        let first = open(path, O_RDONLY | O_NONBLOCK)
        let writing = open(path, O_WRONLY)
        try #require(first >= 0 && writing >= 0)
        defer { close(writing) }
        // Without a reader each write fails.
        close(first)
        let sink = Sink(descriptor: writing)
        let writer = try BackgroundWriter(to: sink, capacity: 10, notice: Self.notice)
        writer.write(Self.line("one"))
        writer.finish(within: 200)
        for _ in 0..<4 { writer.write(Self.line("two")) }
        // Three if the writer's thread has not begun yet, and the first line is in the queue too.
        let dropped = writer.droppedCount
        #expect([2, 3].contains(dropped))
        let second = open(path, O_RDONLY | O_NONBLOCK)
        try #require(second >= 0)
        defer { close(second) }
        writer.finish(within: 60_000)
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = read(second, &bytes, bytes.count)
        let received = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        let accepted = String(repeating: "two\n", count: 4 - dropped)
        #expect(received == "one\n\(accepted)dropped \(dropped)\n")
    }
}
