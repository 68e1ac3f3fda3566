import Glibc
import TideoverLocks

/// A target for bytes: a file descriptor, memory for tests, or the queue of a `BackgroundWriter`.
///
/// A reader that closes early (`tideover report | head`) is not an error. Further bytes are
/// dropped, and the command ends with its own exit code. `Output.settled` reports any other
/// failure.
package final class Sink: Sendable {
    /// Whether writing still works.
    package enum Condition: Hashable, Sendable {
        /// Writing works.
        case open
        /// The reader closed the stream (`EPIPE`); further bytes are dropped.
        case abandoned
        /// Writing failed with this `errno`; further bytes are dropped.
        case failed(Int32)
    }

    private struct State {
        var condition = Condition.open
        var captured: [UInt8] = []
    }

    private enum Destination: Sendable {
        case descriptor(Int32), memory, queue(BackgroundWriter)
    }

    private let destination: Destination
    private let state = Locked(State())

    /// Creates a sink for an open file descriptor, which it does not close.
    package init(descriptor: Int32) {
        destination = .descriptor(descriptor)
    }

    /// Creates a sink that passes bytes to another thread and never waits for it.
    package init(_ writer: BackgroundWriter) {
        destination = .queue(writer)
    }

    /// Creates a sink that stores the bytes in memory.
    package init() {
        destination = .memory
    }

    /// Whether writing still works. Long work may stop if it does not.
    package var condition: Condition {
        state.withLock { $0.condition }
    }

    /// The text written so far to a sink in memory.
    package var captured: String {
        String(decoding: state.withLock { $0.captured }, as: UTF8.self)
    }

    /// Writes all bytes before it returns, unless writing no longer works.
    package func write(_ bytes: [UInt8]) {
        state.withLock { state in
            guard state.condition == .open else { return }
            switch destination {
            case .descriptor(let descriptor):
                state.condition = Self.writeAll(bytes[...], to: descriptor).condition
            case .memory: state.captured += bytes
            case .queue(let writer): writer.write(bytes)
            }
        }
    }

    /// Writes bytes up to the first failure, and returns their number. The sink stays open: a disk
    /// that is full now can have space later.
    func attempt(_ bytes: ArraySlice<UInt8>) -> Int {
        guard case .descriptor(let descriptor) = destination else {
            write(Array(bytes))
            return bytes.count
        }
        return state.withLock { _ in Self.writeAll(bytes, to: descriptor).count }
    }

    private static func writeAll(
        _ bytes: ArraySlice<UInt8>,
        to descriptor: Int32
    ) -> (count: Int, condition: Condition) {
        bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let written = Glibc.write(descriptor, rest.base, rest.count)
                if written >= 0 {
                    rest = rest.dropFirst(written)
                } else if errno == EAGAIN {
                    waitUntilWritable(descriptor)
                } else if errno != EINTR {
                    let condition = errno == EPIPE ? Condition.abandoned : .failed(errno)
                    return (buffer.count - rest.count, condition)
                }
            }
            return (buffer.count, .open)
        }
    }

    /// Another process on the same terminal may have made it non-blocking.
    private static func waitUntilWritable(_ descriptor: Int32) {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&request, 1, -1)
    }
}

extension Slice<UnsafeRawBufferPointer> {
    fileprivate var base: UnsafeRawPointer? { UnsafeRawBufferPointer(rebasing: self).baseAddress }
}

/// The output of a command: results on standard output, everything else on standard error.
package final class Output: Sendable {
    /// The sink for results.
    package let results: Sink
    /// The sink for messages.
    package let messages: Sink
    /// The capabilities of the results' stream.
    package let resultTerminal: Terminal
    /// The capabilities of the messages' stream.
    package let messageTerminal: Terminal

    /// Whether the terminal shows a status line that will be redrawn.
    private let hasStatus = Locked(false)

    /// Creates an output on two sinks.
    package init(
        results: Sink,
        messages: Sink,
        resultTerminal: Terminal = .plain,
        messageTerminal: Terminal = .plain
    ) {
        self.results = results
        self.messages = messages
        self.resultTerminal = resultTerminal
        self.messageTerminal = messageTerminal
    }

    /// Creates an output in memory, for tests.
    package convenience init(capturingAs terminal: Terminal = .plain) {
        self.init(
            results: Sink(),
            messages: Sink(),
            resultTerminal: terminal,
            messageTerminal: terminal
        )
    }

    /// Returns the process's own standard output and standard error.
    package static func standard() -> Output {
        Output(
            results: Sink(descriptor: STDOUT_FILENO),
            messages: Sink(descriptor: STDERR_FILENO),
            resultTerminal: Terminal(descriptor: STDOUT_FILENO),
            messageTerminal: Terminal(descriptor: STDERR_FILENO)
        )
    }

    /// Writes a result and a line break to standard output.
    package func print(_ line: String = "") {
        write(Array(line.utf8) + [UInt8(ascii: "\n")])
    }

    /// Writes a table to standard output, limited to the terminal's width if it is interactive.
    package func print(_ table: Table) {
        print(table.rendered(for: resultTerminal))
    }

    /// Writes the bytes of a result to standard output unchanged.
    package func write(_ bytes: [UInt8]) {
        eraseStatus()
        results.write(bytes)
    }

    /// Writes a message and a line break to standard error.
    package func message(_ line: String = "") {
        eraseStatus()
        messages.write(Array(line.utf8) + [UInt8(ascii: "\n")])
    }

    /// Shows a line until the next status, message or result. Does nothing on a non-interactive
    /// stream.
    func showStatus(_ line: String) {
        guard messageTerminal.isInteractive else { return }
        let fitted = TextLayout.truncated(
            TextLayout.visible(line),
            to: max(1, messageTerminal.width - 1)
        )
        hasStatus.withLock { hasStatus in
            messages.write(Array("\r\u{1B}[K\(fitted)".utf8))
            hasStatus = true
        }
    }

    func eraseStatus() {
        hasStatus.withLock { hasStatus in
            if hasStatus { messages.write(Array("\r\u{1B}[K".utf8)) }
            hasStatus = false
        }
    }

    /// Returns the exit code of the command. A success becomes a failure if its results could not
    /// be written.
    package func settled(_ code: ExitCode) -> ExitCode {
        guard case .failed(let number) = results.condition, code == .success else { return code }
        message("cannot write to standard output: \(SystemError.text(number))")
        return .io
    }
}

/// The operating system's texts for its error numbers.
enum SystemError {
    static func text(_ number: Int32) -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard strerror_r(number, &buffer, buffer.count) == 0 else { return "error \(number)" }
        return String(
            decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) },
            as: UTF8.self
        )
    }
}
