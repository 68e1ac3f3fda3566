import Dispatch
import Glibc
import TideoverLocks

/// The wish to stop: SIGTERM, SIGINT or SIGHUP unless other signals are named, which from now on no longer
/// end the process.
///
/// It is made before anything that must be finished or cleared away is begun.
final class StopSignal: Sendable {
    private struct State {
        var hasArrived = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Locked(State())

    init(_ numbers: [Int32] = [SIGTERM, SIGINT, SIGHUP]) {
        for number in numbers { Self.on(number) { self.arrive() } }
    }

    /// Calls a handler, on a thread of the system's, at each arrival of a signal.
    static func on(_ number: Int32, _ handler: @escaping @Sendable () -> Void) {
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        // The handler holds the source: it listens for as long as the process lives.
        source.setEventHandler {
            withExtendedLifetime(source) { handler() }
        }
        source.resume()
    }

    var hasArrived: Bool { state.withLock { $0.hasArrived } }

    /// Returns when one has arrived; one caller may wait.
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
