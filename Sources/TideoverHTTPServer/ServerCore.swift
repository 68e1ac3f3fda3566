import CTideoverMicrohttpd
import Glibc
import Synchronization
import TideoverHTTP
import TideoverLocks

/// What the threads of one server share: the I/O thread, the keeper, and those that finish handlers.
final class ServerCore: Sendable {
    let limits: HTTPServerLimits
    /// The handler, with every error turned into an answer.
    let handler: @Sendable (Request) async -> Response
    let counters = Counters()
    /// Wakes the keeper.
    let alarm: Alarm

    private let connections = Locked(OpenConnections())
    /// Sockets whose answer must reach the client before they are closed.
    private let lingering = Locked<[Int32]>([])
    private let draining = Atomic(false)
    private let closing = Atomic(false)
    private let resuming = Atomic(0)

    init(
        limits: HTTPServerLimits,
        alarm: Alarm,
        handler: @escaping @Sendable (Request) async -> Response
    ) {
        self.limits = limits
        self.alarm = alarm
        self.handler = handler
    }

    /// Whether the server takes no new connections and ends those that it has with their next answer.
    var isDraining: Bool { draining.load(ordering: .acquiring) }

    /// Whether no handler may be started any more.
    var isClosing: Bool { closing.load(ordering: .sequentiallyConsistent) }

    func startDraining() { draining.store(true, ordering: .releasing) }

    func startClosing() { closing.store(true, ordering: .sequentiallyConsistent) }

    /// Whether a thread that has finished a handler is about to resume its connection, or does so.
    var isResuming: Bool { resuming.load(ordering: .sequentiallyConsistent) > 0 }

    func willResume() { resuming.add(1, ordering: .sequentiallyConsistent) }

    func didResume() { resuming.subtract(1, ordering: .sequentiallyConsistent) }

    /// The connections open now.
    var openConnections: [Connection] { connections.withLock { Array($0.bySocket.values) } }

    var openConnectionCount: Int { connections.withLock { $0.bySocket.count } }

    /// Takes a connection in; false if its client has as many as it may, and none of them gives way.
    func add(_ connection: Connection, at now: ContinuousClock.Instant) -> Bool {
        let most = limits.connectionsPerAddress
        let others = connections.withLock { $0.add(connection, mostOfClient: most) }
        guard let others else { return true }
        let gone = evict(1, of: others, at: now)
        return connections.withLock { connections in
            // Its place is free before the engine has closed it.
            for other in gone { connections.forgetClient(of: other) }
            return connections.add(connection, mostOfClient: most) == nil
        }
    }

    /// Closes as many of these connections as are to make room, those first that may best be spared.
    /// Returns them.
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

    /// Forgets a connection, unless its socket's number belongs to a newer one already.
    func remove(_ connection: Connection) {
        let wasFull = connections.withLock { connections in
            connections.remove(connection)
                && connections.bySocket.count + 1 >= limits.connections
        }
        if wasFull { alarm.ring() }
    }

    /// Forgets all connections, once the engine is no more.
    func removeAll() { connections.withLock { $0 = OpenConnections() } }

    /// Keeps a connection alive below the engine, which is about to close its socket.
    func linger(_ socket: Int32) {
        let isNew = lingering.withLock { sockets in
            guard sockets.count < Lingering.most else { return false }
            let copy = fcntl(socket, F_DUPFD_CLOEXEC, 0)
            if copy >= 0 { sockets.append(copy) }
            return copy >= 0
        }
        if isNew { alarm.ring() }
    }

    /// Sockets to linger on since the last call; whoever calls must close them.
    func takeLingering() -> [Int32] {
        lingering.withLock { sockets in
            defer { sockets = [] }
            return sockets
        }
    }
}

/// The connections of a server, and which of them count against a client's limit.
private struct OpenConnections {
    private(set) var bySocket: [Int32: Connection] = [:]
    private var byClient: [IPNetwork: [Int32: Connection]] = [:]

    /// Returns the client's other connections if they are as many as it may have, else nil.
    mutating func add(_ connection: Connection, mostOfClient most: Int) -> [Connection]? {
        if let client = connection.client, let others = byClient[client], others.count >= most {
            return Array(others.values)
        }
        // The engine may have closed a socket without a word; its number is then used again.
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

    /// The connection counts against its client's limit no more.
    mutating func forgetClient(of connection: Connection?) {
        guard let connection, let client = connection.client,
            byClient[client]?[connection.socket] === connection
        else { return }
        byClient[client]?[connection.socket] = nil
        if byClient[client]?.isEmpty == true { byClient[client] = nil }
    }
}
