import CTideoverMicrohttpd
import Glibc
import Synchronization
import TideoverHTTP
import TideoverLocks

/// The shared state of a server's threads: the I/O thread, the reaper, and those that finish
/// handlers.
final class ServerCore: Sendable {
    let limits: HTTPServerLimits
    /// The handler, with every error converted into a response.
    let handler: @Sendable (Request) async -> Response
    /// Runs the tasks of handlers; nil for Swift's pool.
    let executor: (any TaskExecutor)?
    /// Returns the response to a request that the server itself rejects.
    let rejection: HTTPServer.Rejection
    let counters = Counters()
    /// Wakes the reaper.
    let waker: Waker

    private let connections = Locked(OpenConnections())
    /// Sockets with a response that must reach the client before they are closed.
    private let lingering = Locked<[Int32]>([])
    private let draining = Atomic(false)
    private let closing = Atomic(false)
    private let resuming = Atomic(0)
    /// The bytes of all bodies that are being received.
    private let incoming = Atomic(0)

    init(
        limits: HTTPServerLimits,
        waker: Waker,
        executor: (any TaskExecutor)?,
        rejection: @escaping HTTPServer.Rejection,
        handler: @escaping @Sendable (Request) async -> Response
    ) {
        self.limits = limits
        self.waker = waker
        self.executor = executor
        self.rejection = rejection
        self.handler = handler
    }

    /// Whether the server accepts no new connections and closes existing ones with their next
    /// response.
    var isDraining: Bool { draining.load(ordering: .acquiring) }

    /// Whether handlers may no longer be started.
    var isClosing: Bool { closing.load(ordering: .sequentiallyConsistent) }

    func startDraining() { draining.store(true, ordering: .releasing) }

    func startClosing() { closing.store(true, ordering: .sequentiallyConsistent) }

    /// Whether a thread that finished a handler is resuming its connection or about to.
    var isResuming: Bool { resuming.load(ordering: .sequentiallyConsistent) > 0 }

    func willResume() { resuming.add(1, ordering: .sequentiallyConsistent) }

    func didResume() { resuming.subtract(1, ordering: .sequentiallyConsistent) }

    /// Counts further bytes of a body. Returns whether all bodies together are within the limit.
    func receive(_ bytes: Int) -> Bool {
        incoming.add(bytes, ordering: .relaxed).newValue <= limits.incomingBytes
    }

    /// Closes the connection that has been sending its body longest, in favour of another one's
    /// body. Returns false if there is none to close.
    func makeRoom(for connection: Connection) -> Bool {
        let others = openConnections.filter { $0 !== connection && $0.isReceiving }
        return !evict(1, of: others, at: .now).isEmpty
    }

    /// Ends the counting of bytes.
    func forget(_ bytes: Int) { incoming.subtract(bytes, ordering: .relaxed) }

    /// The open connections.
    var openConnections: [Connection] { connections.withLock { Array($0.bySocket.values) } }

    var openConnectionCount: Int { connections.withLock { $0.bySocket.count } }

    /// Adds a connection; returns false if its client has too many, and none of them can be closed.
    func add(_ connection: Connection, at now: ContinuousClock.Instant) -> Bool {
        let most = limits.connectionsPerAddress
        let others = connections.withLock { $0.add(connection, mostOfClient: most) }
        guard let others else { return true }
        let gone = evict(1, of: others, at: now)
        return connections.withLock { connections in
            // Its slot is free before the engine has closed it.
            for other in gone { connections.forgetClient(of: other) }
            return connections.add(connection, mostOfClient: most) == nil
        }
    }

    /// Closes up to `count` of these connections to make room, in the order of their rank. Returns
    /// them.
    @discardableResult func evict(
        _ count: Int,
        of connections: [Connection],
        at now: ContinuousClock.Instant
    ) -> [Connection] {
        let candidates =
            connections
            .compactMap { connection in
                connection.evictionRank(at: now).map { (rank: $0, connection: connection) }
            }
            .sorted { $0.rank < $1.rank }
        var gone: [Connection] = []
        for candidate in candidates where gone.count < count {
            if candidate.connection.evict(at: now) { gone.append(candidate.connection) }
        }
        return gone
    }

    func connection(of socket: Int32) -> Connection? {
        connections.withLock { $0.bySocket[socket] }
    }

    /// Removes a connection, unless its socket's number already belongs to a newer one.
    func remove(_ connection: Connection) {
        let wasFull = connections.withLock { connections in
            connections.remove(connection)
                && connections.bySocket.count + 1 >= limits.connections
        }
        if wasFull { waker.ring() }
    }

    /// Removes all connections, after the engine has stopped.
    func removeAll() { connections.withLock { $0 = OpenConnections() } }

    /// Keeps a socket open that the engine is about to close.
    func linger(_ socket: Int32) {
        let isNew = lingering.withLock { sockets in
            guard sockets.count < Lingering.most else { return false }
            let copy = fcntl(socket, F_DUPFD_CLOEXEC, 0)
            if copy >= 0 { sockets.append(copy) }
            return copy >= 0
        }
        if isNew { waker.ring() }
    }

    /// Returns the sockets to linger on since the last call; the caller must close them.
    func takeLingering() -> [Int32] {
        lingering.withLock { sockets in
            defer { sockets = [] }
            return sockets
        }
    }
}

/// The connections of a server, and those that count against a client's limit.
private struct OpenConnections {
    private(set) var bySocket: [Int32: Connection] = [:]
    private var byClient: [IPNetwork: [Int32: Connection]] = [:]

    /// Adds a connection. If its client has the maximum number, returns the client's other
    /// connections.
    mutating func add(_ connection: Connection, mostOfClient most: Int) -> [Connection]? {
        if let client = connection.client, let others = byClient[client], others.count >= most {
            return Array(others.values)
        }
        // The engine may have closed a socket without a callback; its number is then reused.
        forgetClient(of: bySocket.updateValue(connection, forKey: connection.socket))
        if let client = connection.client {
            byClient[client, default: [:]][connection.socket] = connection
        }
        return nil
    }

    mutating func remove(_ connection: Connection) -> Bool {
        guard bySocket[connection.socket] === connection else { return false }
        forgetClient(of: bySocket.removeValue(forKey: connection.socket))
        return true
    }

    /// Excludes the connection from its client's limit.
    mutating func forgetClient(of connection: Connection?) {
        guard let connection, let client = connection.client,
            byClient[client]?[connection.socket] === connection
        else { return }
        byClient[client]?[connection.socket] = nil
        if byClient[client]?.isEmpty == true { byClient[client] = nil }
    }
}
