import CTideoverCurl
import TideoverHTTP
import TideoverLocks

/// The result of an exchange.
typealias Outcome = Result<Response, HTTPClientError>

/// One requested exchange.
final class Order: Sendable {
    let request: OutgoingRequest
    let socket: String?
    let addresses: AddressGuard
    let limits: ExchangeLimits
    let deadline: ContinuousClock.Instant
    private let cancellation = Locked(false)

    init(
        request: OutgoingRequest,
        socket: String?,
        addresses: AddressGuard,
        limits: ExchangeLimits,
        deadline: ContinuousClock.Instant
    ) {
        self.request = request
        self.socket = socket
        self.addresses = addresses
        self.limits = limits
        self.deadline = deadline
    }

    /// Identifies the order while it exists.
    var id: ObjectIdentifier { ObjectIdentifier(self) }

    /// Whether its caller was cancelled.
    var isCancelled: Bool { cancellation.withLock { $0 } }

    func cancel() { cancellation.withLock { $0 = true } }
}

/// An order and the continuation that receives its outcome.
struct Commission: Sendable {
    let order: Order
    let continuation: CheckedContinuation<Outcome, Never>

    func end(_ outcome: Outcome) { continuation.resume(returning: outcome) }
}

/// Wakes the thread that sleeps in `curl_multi_poll`.
struct Alarm: @unchecked Sendable {  // libcurl allows this one call from any thread
    private let multi: UnsafeMutableRawPointer

    init(_ multi: UnsafeMutableRawPointer) { self.multi = multi }

    func ring() { curl_multi_wakeup(multi) }
}

/// Passes orders from tasks to the thread that carries them out.
final class Mailbox: Sendable {
    /// The orders since the thread's last look.
    struct Letters: Sendable {
        var commissions: [Commission] = []
        var cancelled: [Order] = []
        var isClosing = false
    }

    private struct State {
        var letters = Letters()
        /// Nil once the thread is about to end.
        var alarm: Alarm?
    }

    private let state: Locked<State>

    init(_ alarm: Alarm) { state = Locked(State(alarm: alarm)) }

    func put(_ order: Order, _ continuation: CheckedContinuation<Outcome, Never>) {
        leave { $0.commissions.append(Commission(order: order, continuation: continuation)) }
    }

    /// The order may not be queued yet; then its flag is sufficient.
    func cancel(_ order: Order) {
        order.cancel()
        leave { $0.cancelled.append(order) }
    }

    /// Ends the queue: no further orders follow.
    func close() {
        leave { $0.isClosing = true }
    }

    /// Returns all pending orders, for the thread.
    func take() -> Letters {
        state.withLock { state in
            defer { state.letters = Letters() }
            return state.letters
        }
    }

    /// Stops waking the thread, which is about to end.
    func forgetThread() { state.withLock { $0.alarm = nil } }

    private func leave(_ change: (inout Letters) -> Void) {
        state.withLock { state in
            guard let alarm = state.alarm else { return }
            change(&state.letters)
            alarm.ring()
        }
    }
}
