import CTideoverCurl
import TideoverHTTP
import TideoverLocks

/// What an exchange ends with.
typealias Outcome = Result<Response, HTTPClientError>

/// One exchange that somebody wants.
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

    /// What tells it from other orders while it exists.
    var id: ObjectIdentifier { ObjectIdentifier(self) }

    /// Whether nobody wants its outcome any more.
    var isCancelled: Bool { cancellation.withLock { $0 } }

    func cancel() { cancellation.withLock { $0 = true } }
}

/// An order and whoever waits for its outcome.
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

/// Where tasks leave their orders for the thread that carries them out.
final class Mailbox: Sendable {
    /// What has been left since the thread last looked.
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

    /// The order may not have been put yet; then its mark says enough.
    func cancel(_ order: Order) {
        order.cancel()
        leave { $0.cancelled.append(order) }
    }

    /// Nobody will put anything any more.
    func close() {
        leave { $0.isClosing = true }
    }

    /// All that has been left, for the thread.
    func take() -> Letters {
        state.withLock { state in
            defer { state.letters = Letters() }
            return state.letters
        }
    }

    /// From now on the thread is not to be woken.
    func forgetThread() { state.withLock { $0.alarm = nil } }

    private func leave(_ change: (inout Letters) -> Void) {
        state.withLock { state in
            guard let alarm = state.alarm else { return }
            change(&state.letters)
            alarm.ring()
        }
    }
}
