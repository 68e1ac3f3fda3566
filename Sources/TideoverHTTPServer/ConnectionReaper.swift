import Glibc
import TideoverHTTP
import TideoverLocks

/// The thread beside the I/O thread. It accepts connections, applies the time limits, detects
/// clients that disconnect while their handler runs, and stops the engine.
///
/// The engine does none of this while a connection is suspended, and cannot stop listening without
/// a race. So it does not listen; it receives accepted connections.
struct ConnectionReaper: ~Copyable {
    private let core: ServerCore
    /// Nil after the server was asked to stop.
    private var listener: Listener?
    private let engine: Engine
    private let order: StopOrder
    private var lingering = Lingering()
    /// No connection is accepted before then: the machine was out of files or memory.
    private var restsUntil: ContinuousClock.Instant?
    /// No further connection is closed to make room before then, unless one has closed.
    private var evictsFrom = ContinuousClock.Instant.now
    private var nextLook = ContinuousClock.Instant.now

    /// The interval between checks of the connections.
    private static let pace = Duration.milliseconds(100)
    /// The number of connections accepted before the others are checked.
    private static let mostAtOnce = 64
    /// The interval between checks whether a stopping server has finished.
    private static let stoppingPace = Duration.milliseconds(5)

    init(
        core: ServerCore,
        listener: consuming Listener,
        engine: consuming Engine,
        order: StopOrder
    ) {
        self.core = core
        self.listener = consume listener
        self.engine = engine
        self.order = order
    }

    /// Runs until the server is asked to stop, and stops it.
    consuming func run() {
        while true {
            wait()
            let now = ContinuousClock.Instant.now
            for socket in core.takeLingering() { lingering.add(socket, at: now) }
            lingering.drain(at: now)
            if let deadline = order.deadline {
                if isDone(at: now, deadline) { break }
            } else {
                takeConnections(at: now)
                makeRoom(at: now)
            }
            if now >= nextLook { look(at: now) }
        }
        // The engine must not be stopped while a connection is suspended.
        core.startClosing()
        for connection in core.openConnections { connection.abandon() }
        while core.isResuming { sched_yield() }
        _ = consume engine
        core.removeAll()
        for socket in core.takeLingering() { close(socket) }
        order.fulfil()
    }

    // MARK: - Waiting

    private mutating func wait() {
        var entries = [pollfd(fd: core.waker.descriptor, events: Int16(POLLIN), revents: 0)]
        for socket in lingering.sockets {
            entries.append(pollfd(fd: socket, events: Int16(POLLIN), revents: 0))
        }
        if mayTakeConnections || mayMakeRoom(at: .now), let socket = listener?.socket {
            entries.append(pollfd(fd: socket, events: Int16(POLLIN), revents: 0))
        }
        poll(&entries, nfds_t(entries.count), patience)
        if entries[0].revents != 0 { core.waker.silence() }
    }

    /// The milliseconds to wait for an event; -1 for no limit.
    private var patience: Int32 {
        if order.deadline != nil { return Self.stoppingPace.milliseconds }
        let isQuiet = core.openConnectionCount == 0 && lingering.isEmpty && restsUntil == nil
        return isQuiet ? -1 : Self.pace.milliseconds
    }

    // MARK: - Taking connections

    private var mayTakeConnections: Bool {
        restsUntil == nil && core.openConnectionCount < core.limits.connections
    }

    private mutating func takeConnections(at now: ContinuousClock.Instant) {
        if let until = restsUntil, now >= until { restsUntil = nil }
        for _ in 0..<Self.mostAtOnce where mayTakeConnections {
            switch listener?.accept() ?? .none {
            case .none: return
            case .lost: continue
            case .exhausted: restsUntil = now + Self.pace
            case .connection(let socket, var address, let length):
                // The connection closed for this one is gone.
                evictsFrom = now
                take(socket, &address, length)
            }
        }
    }

    private func take(_ socket: Int32, _ address: inout sockaddr_storage, _ length: socklen_t) {
        let connection = Connection(socket: socket, peer: address.address, server: core)
        Counters.increment(core.counters.connectionsTaken)
        guard core.add(connection, at: .now) else {
            Counters.increment(core.counters.connectionsRefused)
            close(socket)
            return
        }
        if !engine.take(socket, &address, length) {
            Counters.increment(core.counters.connectionsRefused)
            core.remove(connection)
        }
    }

    // MARK: - Making room

    private func mayMakeRoom(at now: ContinuousClock.Instant) -> Bool {
        restsUntil == nil && now >= evictsFrom
    }

    /// Closes one connection in 64 if the server is full and another one waits.
    ///
    /// Otherwise clients that send nothing would block all others until their time limit. The path
    /// of a waiting request is not known yet, so no slots can be reserved by path. The engine's
    /// thread closes the socket a little later and wakes this thread. Until then, and while no
    /// connection may be closed, there is a pause.
    private mutating func makeRoom(at now: ContinuousClock.Instant) {
        guard !mayTakeConnections else { return evictsFrom = now }
        guard mayMakeRoom(at: now), listener?.hasWaiting == true else { return }
        evictsFrom = now + Self.pace
        // Several at a time, since finding the first examines all of them. Those that the engine's
        // thread is still closing make room too.
        let open = core.openConnections
        let count = max(1, core.limits.connections / 64) - open.count(where: \.isClosing)
        core.evict(count, of: open, at: now)
    }

    // MARK: - Looking after connections

    private mutating func look(at now: ContinuousClock.Instant) {
        nextLook = now + Self.pace
        for connection in core.openConnections where !connection.keep(at: now) {
            core.remove(connection)
        }
    }

    // MARK: - Stopping

    /// Lets running exchanges finish. At the deadline it cancels them and lets them send a final
    /// response.
    private mutating func isDone(
        at now: ContinuousClock.Instant,
        _ deadline: ContinuousClock.Instant
    ) -> Bool {
        listener = nil
        core.startDraining()
        let busy = core.openConnections.filter(\.isBusy)
        if now >= deadline {
            core.startClosing()
            for connection in busy { connection.cancel() }
        }
        return busy.isEmpty || now >= deadline + core.limits.lastWord
    }
}

/// The request to stop, and the callers that wait for its completion.
final class StopOrder: Sendable {
    private struct State {
        var deadline: ContinuousClock.Instant?
        var isFulfilled = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())
    private let waker: Waker

    init(waker: Waker) { self.waker = waker }

    /// The deadline of the last exchanges; nil while the server runs.
    var deadline: ContinuousClock.Instant? { state.withLock { $0.deadline } }

    /// Requests a stop; of several requests the earliest deadline applies.
    func give(deadline: ContinuousClock.Instant) {
        state.withLock { $0.deadline = $0.deadline.map { min($0, deadline) } ?? deadline }
        waker.ring()
    }

    /// Returns after the server has stopped.
    func fulfilment() async {
        await withCheckedContinuation { continuation in
            let isFulfilled = state.withLock { state in
                if !state.isFulfilled { state.waiting.append(continuation) }
                return state.isFulfilled
            }
            if isFulfilled { continuation.resume() }
        }
    }

    /// Reports that the server has stopped.
    func fulfil() {
        let waiting = state.withLock { state in
            state.isFulfilled = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}

extension Duration {
    fileprivate var milliseconds: Int32 {
        Int32(components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000)
    }
}
