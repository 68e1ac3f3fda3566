import TideoverLocks
import TideoverStorage

/// A pool of connections for reads, each used by one thread at a time.
///
/// A thread of the pool's own connects again after a loss, because a reading thread may be the one
/// that serves all connections of the server.
final class ReadSessionPool: Sendable {
    struct State {
        var idle: [ReadSession] = []
        /// The number of connections to make.
        var missing: Int
        /// The number lent to readers.
        var lent = 0
        /// Why the latest attempt to connect failed; nil after a success.
        var failure: StorageError?
        var isClosed = false
    }

    private let state: ConditionLock<State>
    private let place: String
    private let patience: Int64
    /// A server that restarted has closed all idle connections.
    private let mostLosses: Int
    /// The milliseconds after which no further connection is tried: if the network loses everything,
    /// each takes as long to fail.
    private let lossPatience: Int64

    init(
        _ address: PostgreSQLAddress,
        options: PostgreSQLOptions
    ) throws(StorageError) {
        state = ConditionLock(State(missing: max(1, options.readerCount)))
        place = address.place
        patience = options.readerPatience
        mostLosses = 2 * max(1, options.readerCount)
        lossPatience = options.readTimeout
        let state = state
        guard startThread({ Self.connect(state, address, options) }) == 0 else {
            throw StorageError(.busy, place: place, detail: "the system has no thread left")
        }
    }

    /// Runs `body` with a reader. If its connection turns out to be lost, another one is tried.
    ///
    /// - Throws: `busy` if no reader became free in time, `unavailable` if there is no connection,
    ///   `closed` after `close`, or the error of `body`.
    func read<Result>(
        _ body: (ReadSession) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        var losses = 0
        let deadline = Deadline(in: lossPatience)
        while true {
            let session = try take()
            do {
                let result = try session.atOneInstant(body)
                give(back: session)
                return result
            } catch {
                let isLost = error.reason == .unavailable && !session.isUsable
                give(back: session)
                losses += 1
                guard isLost, losses <= mostLosses, deadline.milliseconds > 0 else { throw error }
            }
        }
    }

    private func take() throws(StorageError) -> ReadSession {
        let taken = state.wait(upTo: patience) { state -> Result<ReadSession, StorageError>? in
            guard !state.isClosed else { return .failure(StorageError(.closed, place: place)) }
            guard let session = state.idle.popLast() else { return nil }
            state.lent += 1
            return .success(session)
        }
        if let taken { return try taken.get() }
        let failure = state.update(matters: { _ in false }) { $0.lent == 0 ? $0.failure : nil }
        throw failure ?? StorageError(.busy, place: place, detail: "all readers")
    }

    private func give(back session: ReadSession) {
        state.update { state in
            state.lent -= 1
            if session.isUsable { state.idle.append(session) } else { state.missing += 1 }
        }
    }

    /// Stops lending readers, and closes the connections once all have been returned.
    ///
    /// - Parameter patience: milliseconds after which readers still lent are left to close
    ///   themselves.
    func close(patience: Int64) {
        state.update { $0.isClosed = true }
        _ = state.wait(upTo: patience) { $0.lent == 0 ? true : nil }
        state.update { $0.idle = [] }
    }

    // MARK: The connecting thread

    private static let pauseMilliseconds: Int64 = 250

    private static func connect(
        _ state: ConditionLock<State>,
        _ address: PostgreSQLAddress,
        _ options: PostgreSQLOptions
    ) {
        while true {
            let goesOn = state.wait(upTo: .max >> 32) { state -> Bool? in
                if state.isClosed { return false }
                return state.missing > 0 ? true : nil
            }
            if goesOn == false { return }
            guard goesOn == true else { continue }
            do {
                let session = try ReadSession(address, options: options)
                // Ownership is transferred: this thread does not use it again.
                nonisolated(unsafe) let made = session
                state.update { state in
                    state.failure = nil
                    state.missing -= 1
                    if !state.isClosed { state.idle.append(made) }
                }
            } catch {
                state.update { $0.failure = error }
                _ = state.wait(upTo: pauseMilliseconds) { $0.isClosed ? true : nil }
            }
        }
    }
}
