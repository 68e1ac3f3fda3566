import TideoverLocks
import TideoverStorage

/// A pool of readers, each used by one thread at a time.
final class ReadSessionPool: Sendable {
    private struct State {
        var idle: [ReadSession]
        var isClosed = false
    }

    private let state: ConditionLock<State>
    private let count: Int
    private let place: String
    /// The maximum wait for a reader: the caller may be the thread that serves all connections.
    private let patience: Int64

    init(
        path: String,
        access: Connection.Access = .readOnly,
        count: Int,
        busyTimeout: Int32
    ) throws(StorageError) {
        var idle: [ReadSession] = []
        for _ in 0..<count {
            idle.append(try ReadSession(path: path, access: access, busyTimeout: busyTimeout))
        }
        state = ConditionLock(State(idle: idle))
        self.count = count
        place = path
        patience = Int64(busyTimeout)
    }

    /// - Throws: `busy` if no reader became free in time, `closed` after `close`, or the error of
    ///   `body`.
    func read<Result>(
        _ body: (ReadSession) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        let readSession = try take()
        defer { state.update { $0.idle.append(readSession) } }
        return try body(readSession)
    }

    private func take() throws(StorageError) -> ReadSession {
        let taken = state.wait(upTo: patience) { state -> Result<ReadSession, StorageError>? in
            guard !state.isClosed else { return .failure(StorageError(.closed, place: place)) }
            return state.idle.popLast().map { .success($0) }
        }
        guard let taken else { throw StorageError(.busy, place: place, detail: "all readers") }
        return try taken.get()
    }

    /// Stops lending readers, and closes the connections once all have been returned.
    ///
    /// - Parameter patience: milliseconds after which readers still lent are left to close
    ///   themselves.
    func close(patience: Int64) {
        state.update { $0.isClosed = true }
        _ = state.wait(upTo: patience) { $0.idle.count == count ? true : nil }
        state.update { $0.idle = [] }
    }
}
