import CTideoverMicrohttpd
import Glibc
import TideoverHTTP
import TideoverLocks

/// One connection and its current exchange.
///
/// The I/O thread, the thread that finishes a handler, and the reaper all use it. Their shared
/// state is protected by one lock. The socket may be used under that lock while the connection is
/// open: the engine closes it only after `closed()` has returned.
final class Connection: Sendable {
    let socket: Int32
    /// The client for the connection limit; nil if no limit applies.
    let client: IPNetwork?
    private let peer: String?
    private let server: ServerCore
    private let state: Locked<State>

    private struct State {
        var phase: ConnectionPhase
        var exchange: Exchange?
        var exchangesBegun = 0
        /// The bytes of all requests that were read completely; nil if unknown.
        var bytesOfRequests: Int64? = 0
        /// The bytes of the body that is being received, as the server counts them.
        var incomingBytes = 0
        /// The phase in which the client closed its side without sending a complete request.
        var endedIn: ConnectionPhase?
        /// Whether closing now loses nothing: the last request was read and answered completely.
        var isClean = false
        /// Whether the last response rejected the client's key, signature, or request rate.
        var isRefused = false
        var isOpen = true

        mutating func reply(with response: Response) {
            phase = ConnectionPhase(.replying, at: .now)
            isRefused = [401, 403, 429].contains(response.status)
        }
    }

    private struct Exchange {
        var number: Int
        var engine: EngineConnection
        var target: Target
        var course = ExchangeCourse()
        var hasHead = false
        /// Whether the request was read completely.
        var isRead = false
        /// Whether no further bytes may be read as another request. The engine is lenient with the
        /// lines between chunks, which a proxy may parse differently. If they disagree on the end
        /// of a body, the next request could be smuggled past the proxy (RFC 9112, 11.2).
        var isLast = false
        /// The request, from its head until the handler receives it.
        var request: Request?
        /// The response sent instead of calling the handler, after the request was read.
        var refusal: Problem?
        var task: Task<Void, Never>?
    }

    /// The request target and its address in memory.
    private struct Target {
        var text: String
        var address: UInt
        var length: Int
    }

    init(socket: Int32, peer: IPAddress?, server: ServerCore) {
        self.socket = socket
        self.peer = peer?.description
        client = peer.flatMap(server.limits.client)
        self.server = server
        state = Locked(State(phase: ConnectionPhase(.joining, at: .now)))
    }

    /// Whether a request is being read, handled or answered.
    var isBusy: Bool { state.withLock { $0.exchange != nil } }

    /// Whether a part of a body is in memory that is not complete yet.
    var isReceiving: Bool { state.withLock { $0.incomingBytes > 0 } }

    /// Whether the connection was asked to close.
    var isClosing: Bool { state.withLock { $0.phase.kind == .closing } }
}

// MARK: - The I/O thread

extension Connection {
    /// The engine has accepted the connection.
    func joined() {
        state.withLock { $0.phase = ConnectionPhase(.idle, at: .now) }
    }

    /// A request line has arrived.
    func began(target: UnsafePointer<CChar>, engine: EngineConnection) {
        let place = Target(
            text: String(cString: target),
            address: UInt(bitPattern: target),
            length: strlen(target)
        )
        tideover_mhd_hide_query(target)
        state.withLock { state in
            state.exchangesBegun += 1
            var exchange = Exchange(number: state.exchangesBegun, engine: engine, target: place)
            if state.phase.kind == .closing { exchange.course.settle() }
            if state.phase.kind == .idle { state.phase = ConnectionPhase(.head, at: .now) }
            state.exchange = exchange
            state.isClean = false
        }
    }

    /// Handles the head, a part of the body, or the end of the request. Returns false to close.
    func proceed(
        engine: EngineConnection,
        method: UnsafePointer<CChar>,
        version: UnsafePointer<CChar>,
        part: UnsafeRawBufferPointer
    ) -> Bool {
        let (target, hasHead) = state.withLock { ($0.exchange?.target, $0.exchange?.hasHead) }
        guard let target, hasHead == false else {
            return part.isEmpty ? requestArrived(engine) : bodyArrived(part)
        }
        let head = RequestHead(
            engine: engine,
            method: method,
            version: version,
            target: target.text,
            targetAddress: target.address,
            targetLength: target.length,
            mostFields: server.limits.headFields
        )
        switch head.body(within: server.limits) {
        case .failure(let problem):
            return refuse(server.rejection(problem, target.text), engine)
        case .success(let body): return headArrived(head, body)
        }
    }

    private func headArrived(_ head: RequestHead, _ body: RequestHead.Body) -> Bool {
        let target = RequestTarget(head.target)
        // The engine omits the body of a response to HEAD (RFC 9110, 9.3.2).
        let request = Request(
            method: head.method == "HEAD" ? "GET" : head.method,
            path: target?.path ?? "",
            query: target?.query ?? [],
            headers: head.headers,
            peer: peer
        )
        return state.withLock { state in
            guard state.exchange?.course.stage == .receiving else { return false }
            state.exchange?.hasHead = true
            state.exchange?.request = request
            if target == nil { state.exchange?.refusal = .malformedTarget }
            if case .length(let length) = body {
                state.bytesOfRequests? += Int64(head.bytes + length)
                state.exchange?.request?.body.reserveCapacity(length)
            } else {
                state.bytesOfRequests = nil
                state.exchange?.isLast = true
            }
            if body != .length(0) { state.phase = ConnectionPhase(.body, at: .now) }
            return true
        }
    }

    private func bodyArrived(_ part: UnsafeRawBufferPointer) -> Bool {
        let limit = server.limits.bodyBytes
        let (isTaken, isWithin) = state.withLock { state -> (Bool, Bool) in
            guard state.exchange?.course.stage == .receiving,
                let count = state.exchange?.request?.body.count
            else { return (false, true) }
            guard count + part.count <= limit else {
                Counters.increment(server.counters.requestsRefused)
                answerPastEngine(.bodyTooLarge(limit: limit), state)
                return (false, true)
            }
            state.incomingBytes += part.count
            state.exchange?.request?.body.append(contentsOf: part)
            return (true, server.receive(part.count))
        }
        guard isTaken, !isWithin, !server.makeRoom(for: self) else { return isTaken }
        Counters.increment(server.counters.requestsRefused)
        return false
    }

    /// Ends the counting of a body, which is complete or given up.
    private func forgetBody(_ state: inout State) {
        server.forget(state.incomingBytes)
        state.incomingBytes = 0
    }

    private func requestArrived(_ engine: EngineConnection) -> Bool {
        enum Next { case handle(Request, number: Int), refuse(Response, closing: Bool), close }
        let next: Next = state.withLock { state in
            forgetBody(&state)
            guard !server.isClosing, let request = state.exchange?.request.take(),
                state.exchange?.course.requestArrived() == .startHandler
            else { return .close }
            state.exchange?.isRead = true
            if let refusal = state.exchange?.refusal {
                state.exchange?.course.settle()
                state.phase = ConnectionPhase(.replying, at: .now)
                let response = server.rejection(refusal, state.exchange?.target.text ?? "")
                return .refuse(response, closing: state.exchange?.isLast == true)
            }
            state.phase = ConnectionPhase(.answering, at: .now)
            return .handle(request, number: state.exchangesBegun)
        }
        switch next {
        case .handle(let request, let number): return handle(request, number, engine)
        case .refuse(let response, let closing):
            Counters.increment(server.counters.requestsRefused)
            return engine.send(response, closing: closing)
        case .close: return false
        }
    }

    private func handle(_ request: Request, _ number: Int, _ engine: EngineConnection) -> Bool {
        Counters.increment(server.counters.requests)
        let task = start(request, number)
        let (next, isLast) = state.withLock { state in
            let next = state.exchange?.course.startReturned() ?? .close
            switch next {
            case .send(let response): state.reply(with: response)
            case .suspend:
                state.exchange?.task = task
                engine.suspend()
            case .close: break
            }
            return (next, state.exchange?.isLast == true)
        }
        switch next {
        case .send(let response):
            Counters.increment(server.counters.answeredAtOnce)
            return engine.send(response, closing: isLast || server.isDraining)
        case .suspend:
            Counters.increment(server.counters.suspended)
            return true
        case .close:
            task.cancel()
            return false
        }
    }

    /// Starts the handler: for a read on this thread, otherwise on the executor.
    private func start(_ request: Request, _ number: Int) -> Task<Void, Never> {
        let handler = server.handler
        guard request.method == "GET" else {
            return Task(executorPreference: server.executor) {
                self.finish(await handler(request), number)
            }
        }
        return Task.immediate(executorPreference: server.executor) {
            self.finish(await handler(request), number)
        }
    }

    /// Responds before the request was read, and closes.
    private func refuse(_ response: Response, _ engine: EngineConnection) -> Bool {
        Counters.increment(server.counters.requestsRefused)
        state.withLock { state in
            state.exchange?.course.settle()
            state.phase = ConnectionPhase(.replying, at: .now)
        }
        return engine.send(response, closing: true)
    }

    /// Ends the exchange: the response has been sent, or never will be.
    func completed(isWhole: Bool) {
        let task = state.withLock { state in
            forgetBody(&state)
            let exchange = state.exchange.take()
            if state.phase.kind != .closing { state.phase = ConnectionPhase(.idle, at: .now) }
            state.isClean = isWhole && exchange?.isRead == true && exchange?.isLast == false
            return exchange?.task
        }
        task?.cancel()
    }

    /// The engine is about to close the socket. Returns whether the client's remaining bytes must
    /// be read first: closing a socket with unread bytes discards the response (RFC 9112, 9.6).
    func closed() -> Bool {
        let (task, mustLinger) = state.withLock { state in
            state.isOpen = false
            forgetBody(&state)
            return (state.exchange.take()?.task, !state.isClean && !Self.hasHungUp(socket))
        }
        task?.cancel()
        return mustLinger
    }
}

// MARK: - The thread that finishes a handler

extension Connection {
    private func finish(_ response: Response, _ number: Int) {
        let engine: EngineConnection? = state.withLock { state in
            guard let exchange = state.exchange, exchange.number == number,
                state.exchange?.course.finish(response) == .sendAndResume
            else { return nil }
            state.exchange?.task = nil
            state.reply(with: response)
            // Without a response the engine calls back, is refused, and closes.
            _ = exchange.engine.send(response, closing: exchange.isLast || server.isDraining)
            server.willResume()
            return exchange.engine
        }
        // Outside the lock: the I/O thread wakes at once, and would only wait for it.
        engine?.resume()
        if engine != nil { server.didResume() }
    }
}

// MARK: - The reaper

extension Connection {
    /// Applies the time limits to the connection. Returns false after it has closed.
    func keep(at now: ContinuousClock.Instant) -> Bool {
        let (isKnown, cancelled) = state.withLock { state -> (Bool, Task<Void, Never>?) in
            guard state.isOpen else { return (false, nil) }
            switch state.phase.kind {
            case .idle, .head, .body:
                if state.phase.kind == .idle { noticeFirstByte(&state, at: now) }
                noticeEnd(&state, at: now)
            case .answering: return (true, abandonIfHungUp(&state))
            case .closing: shutdown(socket, Int32(SHUT_RDWR))
            case .joining, .replying: break
            }
            guard state.phase.isOverdue(at: now, server.limits) else { return (true, nil) }
            return (expire(&state, at: now), nil)
        }
        cancelled?.cancel()
        return isKnown
    }

    /// The priority for closing the connection to make room for a new one; nil if it must stay
    /// open.
    func evictionRank(at now: ContinuousClock.Instant) -> EvictionRank? {
        state.withLock { Self.evictionRank($0, at: now) }
    }

    private static func evictionRank(
        _ state: borrowing State,
        at now: ContinuousClock.Instant
    ) -> EvictionRank? {
        guard state.isOpen else { return nil }
        return state.phase.evictionRank(at: now, afterRefusal: state.isRefused)
    }

    /// Closes the connection to make room for a new one. Returns false if it must stay open,
    /// because bytes of a request have just arrived.
    func evict(at now: ContinuousClock.Instant) -> Bool {
        state.withLock { state in
            if state.phase.kind == .idle { noticeFirstByte(&state, at: now) }
            guard Self.evictionRank(state, at: now) != nil else { return false }
            Counters.increment(server.counters.connectionsEvicted)
            hangUp(&state, at: now)
            return true
        }
    }

    /// Cancels the handler. Its response is still sent if it returns one.
    func cancel() {
        state.withLock { $0.exchange?.task }?.cancel()
    }

    /// Cancels the handler and resumes the connection, so that the engine can be stopped.
    func abandon() {
        let task = state.withLock { state in
            state.isOpen ? Self.giveUp(&state) : nil
        }
        task?.cancel()
    }

    /// The engine does not report the start of a request, so the kernel's byte count is used.
    private func noticeFirstByte(_ state: inout State, at now: ContinuousClock.Instant) {
        let received = tideover_tcp_bytes_received(socket)
        guard received >= 0 else { return }
        guard let read = state.bytesOfRequests else { return state.bytesOfRequests = received }
        if received > read { state.phase = ConnectionPhase(.head, at: now) }
    }

    /// Detects an end of stream that arrives together with the preceding bytes, which the engine
    /// misses. If it is found twice in one phase, with no byte unread, the request will never be
    /// complete.
    private func noticeEnd(_ state: inout State, at now: ContinuousClock.Instant) {
        var byte: UInt8 = 0
        guard recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) == 0 else { return }
        if state.endedIn == state.phase { hangUp(&state, at: now) }
        state.endedIn = state.phase
    }

    private func abandonIfHungUp(_ state: inout State) -> Task<Void, Never>? {
        guard state.exchange?.course.stage == .suspended, Self.hasHungUp(socket) else { return nil }
        Counters.increment(server.counters.clientsGone)
        return Self.giveUp(&state)
    }

    private static func giveUp(_ state: inout State) -> Task<Void, Never>? {
        guard let exchange = state.exchange,
            state.exchange?.course.giveUp() == .cancelAndResume
        else { return nil }
        state.exchange?.task = nil
        exchange.engine.resume()
        return exchange.task
    }

    private func expire(_ state: inout State, at now: ContinuousClock.Instant) -> Bool {
        let kind = state.phase.kind
        // The engine did not accept this connection, and has closed it.
        if kind == .joining { return false }
        Counters.increment(server.counters.timedOut)
        switch kind {
        case .head: answerPastEngine(.requestTooSlow("head"), state)
        case .body: answerPastEngine(.requestTooSlow("body"), state)
        case .joining, .idle, .answering, .replying, .closing: break
        }
        hangUp(&state, at: now)
        return true
    }

    private func hangUp(_ state: inout State, at now: ContinuousClock.Instant) {
        forgetBody(&state)
        state.exchange?.course.settle()
        state.phase = ConnectionPhase(.closing, at: now)
        shutdown(socket, Int32(SHUT_RDWR))
    }

    /// Responds while the engine reads a request and accepts no response. A rejection is small and
    /// the socket's buffer is empty, so this does not block. A client that does not read receives
    /// nothing.
    private func answerPastEngine(_ problem: Problem, _ state: borrowing State) {
        let target = state.exchange?.target.text ?? ""
        let bytes = Reply.bytes(of: server.rejection(problem, target))
        let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)
        Glibc.send(socket, bytes, bytes.count, flags)
    }

    /// Whether the client has closed its side of the connection, or the whole connection.
    private static func hasHungUp(_ socket: Int32) -> Bool {
        let events = Int16(tideover_poll_hung_up)
        var entry = pollfd(fd: socket, events: events, revents: 0)
        guard poll(&entry, 1, 0) > 0 else { return false }
        return entry.revents & (events | Int16(POLLHUP) | Int16(POLLERR)) != 0
    }
}

extension Problem {
    fileprivate static let malformedTarget = Problem.malformedRequest(
        "Path or query are not well-formed, percent-encoded UTF-8."
    )
}
