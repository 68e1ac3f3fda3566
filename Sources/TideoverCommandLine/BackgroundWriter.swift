import TideoverLocks

/// A queue of lines to write, limited to a number of bytes.
///
/// After the first line that does not fit, every line is dropped until the queue is taken. So the
/// dropped lines form one gap, directly after the accepted lines.
struct LineQueue {
    struct Batch: Equatable {
        var bytes: [UInt8] = []
        /// The number of lines dropped after these.
        var droppedCount = 0
    }

    private let capacity: Int
    private var waiting = Batch()

    init(capacity: Int) {
        self.capacity = capacity
    }

    var isEmpty: Bool { waiting == Batch() }

    /// Appends a line. Returns false if it is dropped.
    mutating func append(_ line: [UInt8]) -> Bool {
        guard waiting.droppedCount == 0, waiting.bytes.count + line.count <= capacity else {
            waiting.droppedCount += 1
            return false
        }
        waiting.bytes += line
        return true
    }

    /// Removes and returns all queued lines.
    mutating func take() -> Batch {
        defer { waiting = Batch() }
        return waiting
    }
}

/// Writes lines to a sink on its own thread, so that a stalled reader blocks no caller.
///
/// After each write the thread pauses for some milliseconds. Lines of that time are written together,
/// and adding them wakes no thread: with thousands of lines a second, that cost more than the lines.
///
/// The queue is bounded; lines beyond it are dropped and counted. When the sink accepts bytes
/// again, a notice after the gap states the number of dropped lines. Memory use is at most twice
/// the capacity: the queue, and the batch that is being written. A failure of the sink, such as a
/// full disk, is like a stalled reader: the lines wait, and are written when it is over.
package final class BackgroundWriter: Sendable {
    private struct State {
        var queue: LineQueue
        var droppedCount = 0
        var isWriting = false
        var isClosing = false

        var isIdle: Bool { queue.isEmpty && !isWriting }
    }

    private let state: ConditionLock<State>

    /// The duration of a pause: shorter than a person who follows the log notices.
    private static let pauseMilliseconds: Int64 = 10
    /// The pause after a failure of the sink.
    private static let retryMilliseconds: Int64 = 100

    /// Creates a writer to a sink. `notice` returns the line for a number of dropped lines.
    ///
    /// - Throws: `ThreadNotStarted` if the system cannot start a thread.
    package init(
        to sink: Sink,
        capacity: Int = 1 << 20,
        notice: @escaping @Sendable (Int) -> [UInt8]
    ) throws {
        let state = ConditionLock(State(queue: LineQueue(capacity: capacity)))
        self.state = state
        let code = startThread { Self.run(state, sink, notice) }
        guard code == 0 else { throw ThreadNotStarted(code: code) }
    }

    deinit { state.update { $0.isClosing = true } }

    /// The number of lines dropped so far.
    package var droppedCount: Int {
        state.update(matters: { _ in false }) { $0.droppedCount }
    }

    /// Adds a line, with its line break, to the queue. Never waits for the sink.
    package func write(_ line: [UInt8]) {
        state.update(matters: { !$0.isWriting }) { state in
            if !state.queue.append(line) { state.droppedCount += 1 }
        }
    }

    /// Waits until everything is written, or until the given number of milliseconds has passed.
    package func finish(within milliseconds: Int64) {
        _ = state.wait(upTo: milliseconds) { $0.isIdle ? true : nil }
    }

    // MARK: - The thread

    private static func run(
        _ state: ConditionLock<State>,
        _ sink: Sink,
        _ notice: (Int) -> [UInt8]
    ) {
        while let batch = nextBatch(state) {
            write(batch.bytes, to: sink, state)
            if batch.droppedCount > 0 { write(notice(batch.droppedCount), to: sink, state) }
            // Only the end of the writer ends a pause.
            _ = state.wait(upTo: pauseMilliseconds) { $0.isClosing ? true : nil }
            state.update { $0.isWriting = false }
        }
    }

    /// Writes all bytes, unless the sink fails until the writer has ended.
    private static func write(_ bytes: [UInt8], to sink: Sink, _ state: ConditionLock<State>) {
        var rest = bytes[...]
        while true {
            rest = rest.dropFirst(sink.attempt(rest))
            if rest.isEmpty { return }
            let isClosing = state.wait(upTo: retryMilliseconds) { $0.isClosing ? true : nil }
            if isClosing == true { return }
        }
    }

    /// Waits for lines. Returns nil once the writer has ended and everything is written.
    private static func nextBatch(_ state: ConditionLock<State>) -> LineQueue.Batch? {
        while true {
            let next = state.wait(upTo: 60_000) { state -> LineQueue.Batch?? in
                if !state.queue.isEmpty {
                    state.isWriting = true
                    return .some(state.queue.take())
                }
                return state.isClosing ? .some(nil) : nil
            }
            if let next { return next }
        }
    }

    /// The system did not start a thread, for the reason of this `errno`.
    package struct ThreadNotStarted: ReportableFailure {
        let code: Int32

        package var message: String { "cannot start a thread: \(SystemError.text(code))" }
        package var exitCode: ExitCode { .unavailable }
    }
}
