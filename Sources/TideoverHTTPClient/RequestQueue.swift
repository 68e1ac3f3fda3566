import CTideoverCurl
import TideoverHTTP
import TideoverLocks

/// The result of an exchange.
typealias Outcome = Result<Response, HTTPClientError>

/// One requested exchange.
final class PendingRequest: Sendable {
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

    /// Identifies the request while it exists.
    var id: ObjectIdentifier { ObjectIdentifier(self) }

    /// Whether its caller was cancelled.
    var isCancelled: Bool { cancellation.withLock { $0 } }

    func cancel() { cancellation.withLock { $0 = true } }
}

/// A request and the continuation that receives its outcome.
struct PendingResponse: Sendable {
    let pendingRequest: PendingRequest
    let continuation: CheckedContinuation<Outcome, Never>

    func end(_ outcome: Outcome) { continuation.resume(returning: outcome) }
}

/// Wakes the thread that sleeps in `curl_multi_poll`.
struct Waker: @unchecked Sendable {  // libcurl allows this one call from any thread
    private let multi: UnsafeMutableRawPointer

    init(_ multi: UnsafeMutableRawPointer) { self.multi = multi }

    func ring() { curl_multi_wakeup(multi) }
}

/// Passes requests from tasks to the thread that carries them out.
final class RequestQueue: Sendable {
    /// The requests since the thread's last look.
    struct QueuedWork: Sendable {
        var pendingResponses: [PendingResponse] = []
        var cancelled: [PendingRequest] = []
        var isClosing = false
    }

    private struct State {
        var queuedWork = QueuedWork()
        /// Nil once the thread is about to end.
        var waker: Waker?
    }

    private let state: Locked<State>

    init(_ waker: Waker) { state = Locked(State(waker: waker)) }

    func put(_ pendingRequest: PendingRequest, _ continuation: CheckedContinuation<Outcome, Never>)
    {
        leave {
            $0.pendingResponses.append(
                PendingResponse(pendingRequest: pendingRequest, continuation: continuation)
            )
        }
    }

    /// The request may not be queued yet; then its flag is sufficient.
    func cancel(_ pendingRequest: PendingRequest) {
        pendingRequest.cancel()
        leave { $0.cancelled.append(pendingRequest) }
    }

    /// Ends the queue: no further orders follow.
    func close() {
        leave { $0.isClosing = true }
    }

    /// Returns all pending orders, for the thread.
    func take() -> QueuedWork {
        state.withLock { state in
            defer { state.queuedWork = QueuedWork() }
            return state.queuedWork
        }
    }

    /// Stops waking the thread, which is about to end.
    func forgetThread() { state.withLock { $0.waker = nil } }

    private func leave(_ change: (inout QueuedWork) -> Void) {
        state.withLock { state in
            guard let waker = state.waker else { return }
            change(&state.queuedWork)
            waker.ring()
        }
    }
}
