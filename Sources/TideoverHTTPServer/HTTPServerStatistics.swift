import Synchronization

/// A server's counters since its start.
package struct HTTPServerStatistics: Hashable, Sendable {
    /// Connections accepted from the listener.
    package var connectionsTaken = 0
    /// Connections closed at once: their address had too many, or memory was short.
    package var connectionsRefused = 0
    /// Connections closed to make room for others, or for their bodies.
    package var connectionsEvicted = 0
    /// Connections open now.
    package var connectionsOpen = 0
    /// Requests that reached the handler.
    package var requests = 0
    /// Requests with a handler that finished on the I/O thread, without suspending.
    package var answeredAtOnce = 0
    /// Requests with a handler that suspended, and the connection with it.
    package var suspended = 0
    /// Requests answered by the server itself because they exceeded a limit or were malformed.
    package var requestsRefused = 0
    /// Connections closed because the client was too slow or silent for too long.
    package var timedOut = 0
    /// Handlers cancelled because their client disconnected.
    package var clientsGone = 0
}

/// The counters behind the statistics.
struct Counters: ~Copyable, Sendable {
    let connectionsTaken = Atomic(0)
    let connectionsRefused = Atomic(0)
    let connectionsEvicted = Atomic(0)
    let requests = Atomic(0)
    let answeredAtOnce = Atomic(0)
    let suspended = Atomic(0)
    let requestsRefused = Atomic(0)
    let timedOut = Atomic(0)
    let clientsGone = Atomic(0)

    func statistics(connectionsOpen: Int) -> HTTPServerStatistics {
        HTTPServerStatistics(
            connectionsTaken: connectionsTaken.load(ordering: .relaxed),
            connectionsRefused: connectionsRefused.load(ordering: .relaxed),
            connectionsEvicted: connectionsEvicted.load(ordering: .relaxed),
            connectionsOpen: connectionsOpen,
            requests: requests.load(ordering: .relaxed),
            answeredAtOnce: answeredAtOnce.load(ordering: .relaxed),
            suspended: suspended.load(ordering: .relaxed),
            requestsRefused: requestsRefused.load(ordering: .relaxed),
            timedOut: timedOut.load(ordering: .relaxed),
            clientsGone: clientsGone.load(ordering: .relaxed)
        )
    }

    static func increment(_ counter: borrowing Atomic<Int>) {
        counter.wrappingAdd(1, ordering: .relaxed)
    }
}
