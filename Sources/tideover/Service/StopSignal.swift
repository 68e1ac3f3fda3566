import Dispatch
import Glibc
import TideoverLocks
import TideoverSQLite

/// Waits for SIGTERM, SIGINT or SIGHUP, or for other named signals. These no longer end the
/// process.
///
/// Create it before any work that must be finished or cleaned up.
final class StopSignal: Sendable {
    private struct State {
        var hasArrived = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Locked(State())

    init(_ numbers: [Int32] = [SIGTERM, SIGINT, SIGHUP]) {
        for number in numbers { Self.on(number) { self.arrive() } }
    }

    /// Calls a handler on a system thread whenever a signal arrives.
    static func on(_ number: Int32, _ handler: @escaping @Sendable () -> Void) {
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        // The handler retains the source, so it lasts as long as the process.
        source.setEventHandler {
            withExtendedLifetime(source) { handler() }
        }
        source.resume()
    }

    /// Removes unfinished files before SIGTERM or SIGINT ends the process.
    static func removeUnfinishedFiles() {
        for number in [SIGTERM, SIGINT] {
            on(number) {
                UnfinishedFile.removeAll()
                signal(number, SIG_DFL)
                kill(getpid(), number)
            }
        }
    }

    var hasArrived: Bool { state.withLock { $0.hasArrived } }

    /// Returns when a signal has arrived. Only one caller may wait.
    func arrival() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if !state.hasArrived { state.waiting = continuation }
                return state.hasArrived
            }
            if isOver { continuation.resume() }
        }
    }

    private func arrive() {
        let waiting = state.withLock { state in
            defer { state.waiting = nil }
            state.hasArrived = true
            return state.waiting
        }
        waiting?.resume()
    }
}
