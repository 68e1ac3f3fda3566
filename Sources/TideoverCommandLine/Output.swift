import Glibc
import TideoverLocks

/// Where bytes go: a file descriptor, memory when a test reads them, or the queue of a
/// `BackgroundWriter`.
///
/// A reader that went away (`tideover report | head`) is no fault: what follows is dropped, and the
/// command ends with its own exit code. Any other failure is kept for `Output.settled`.
public final class Sink: Sendable {
    /// Whether writing still works.
    public enum Condition: Hashable, Sendable {
        /// What is written arrives.
        case open
        /// Nobody reads any more (`EPIPE`); what is written is dropped.
        case abandoned
        /// Writing failed with this `errno`; what is written is dropped.
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

    /// A sink that writes to an open file descriptor, which it does not close.
    public init(descriptor: Int32) {
        destination = .descriptor(descriptor)
    }

    /// A sink that leaves the writing to another thread, and never waits for it.
    public init(_ writer: BackgroundWriter) {
        destination = .queue(writer)
    }

    /// A sink that keeps what is written.
    public init() {
        destination = .memory
    }

    /// Whether writing still works; long work may stop when it does not.
    public var condition: Condition {
        state.withLock { $0.condition }
    }

    /// What a sink in memory was given so far.
    public var captured: String {
        String(decoding: state.withLock { $0.captured }, as: UTF8.self)
    }

    /// Writes all bytes before it returns, unless writing no longer works.
    public func write(_ bytes: [UInt8]) {
        state.withLock { state in
            guard state.condition == .open else { return }
            switch destination {
            case .descriptor(let descriptor):
                state.condition = Self.writeAll(bytes, to: descriptor)
            case .memory: state.captured += bytes
            case .queue(let writer): writer.write(bytes)
            }
        }
    }

    private static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Condition {
        bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let written = Glibc.write(descriptor, rest.base, rest.count)
                if written >= 0 {
                    rest = rest.dropFirst(written)
                } else if errno == EAGAIN {
                    waitUntilWritable(descriptor)
                } else if errno != EINTR {
                    return errno == EPIPE ? .abandoned : .failed(errno)
                }
            }
            return .open
        }
    }

    /// Someone who shares our terminal may have made it non-blocking.
    private static func waitUntilWritable(_ descriptor: Int32) {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&request, 1, -1)
    }
}

extension Slice<UnsafeRawBufferPointer> {
    fileprivate var base: UnsafeRawPointer? { UnsafeRawBufferPointer(rebasing: self).baseAddress }
}

/// What a command says: results on standard output, everything else on standard error.
public final class Output: Sendable {
    /// Where results go.
    public let results: Sink
    /// Where messages go.
    public let messages: Sink
    /// What the results' stream can show.
    public let resultTerminal: Terminal
    /// What the messages' stream can show.
    public let messageTerminal: Terminal

    /// Whether a line that will be redrawn stands on the terminal.
    private let hasStatus = Locked(false)

    /// An output over two sinks.
    public init(
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

    /// An output that keeps everything in memory, for tests.
    public convenience init(capturingAs terminal: Terminal = .plain) {
        self.init(
            results: Sink(),
            messages: Sink(),
            resultTerminal: terminal,
            messageTerminal: terminal
        )
    }

    /// The process's own standard output and standard error.
    public static func standard() -> Output {
        Output(
            results: Sink(descriptor: STDOUT_FILENO),
            messages: Sink(descriptor: STDERR_FILENO),
            resultTerminal: Terminal(descriptor: STDOUT_FILENO),
            messageTerminal: Terminal(descriptor: STDERR_FILENO)
        )
    }

    /// Writes a result and a line break to standard output.
    public func print(_ line: String = "") {
        write(Array(line.utf8) + [UInt8(ascii: "\n")])
    }

    /// Writes a table to standard output, as wide as the terminal when a person watches.
    public func print(_ table: Table) {
        print(table.rendered(for: resultTerminal))
    }

    /// Writes the bytes of a result to standard output as they are.
    public func write(_ bytes: [UInt8]) {
        eraseStatus()
        results.write(bytes)
    }

    /// Writes a message and a line break to standard error.
    public func message(_ line: String = "") {
        eraseStatus()
        messages.write(Array(line.utf8) + [UInt8(ascii: "\n")])
    }

    /// Shows a line that the next status, message or result replaces; only where a person watches.
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

    /// The exit code in view of what became of the results: a success whose results could not be
    /// written is none.
    public func settled(_ code: ExitCode) -> ExitCode {
        guard case .failed(let number) = results.condition, code == .success else { return code }
        message("cannot write to standard output: \(SystemError.text(number))")
        return .io
    }
}

/// The operating system's words for its own error numbers.
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
