package import TideoverCore
import TideoverHTTP
package import TideoverStorage

/// The system readings for monitoring, which the service's caller provides.
package struct Probes: Sendable {
    /// A monotonic clock in nanoseconds, with any origin.
    package var uptime: @Sendable () -> Int64
    /// The clock by which sessions of the dashboard end, in nanoseconds with any origin.
    package var sessionTime: @Sendable () -> Int64
    /// Returns a new request id of letters and digits.
    package var requestID: @Sendable () -> String
    /// The operating system's reading of the process; nil if not available.
    package var process: @Sendable () -> ProcessReading?
    /// The socket server's counters; nil while there is none.
    package var sockets: @Sendable () -> SocketReading?
    /// The number of log lines dropped because writing stalled.
    package var droppedLogLines: @Sendable () -> Int
    /// The size of the database's write-ahead log in bytes; nil if there is none.
    package var writeAheadLogBytes: @Sendable () -> Int64?
    /// The number of transactions that the database ended in favour of others and that were
    /// repeated; nil if it never ends any.
    package var transactionRepetitions: @Sendable () -> Int?
    /// The number of SQL statements that commits ran; nil if they are not counted.
    package var commitStatements: @Sendable () -> Int?
    /// The servers on the same storage; nil if there can be only one.
    package var servers: @Sendable () -> ServersReading?

    package init(
        uptime: @escaping @Sendable () -> Int64 = Self.runtimeClock,
        sessionTime: (@Sendable () -> Int64)? = nil,
        requestID: @escaping @Sendable () -> String = randomID,
        process: @escaping @Sendable () -> ProcessReading? = { nil },
        sockets: @escaping @Sendable () -> SocketReading? = { nil },
        droppedLogLines: @escaping @Sendable () -> Int = { 0 },
        writeAheadLogBytes: @escaping @Sendable () -> Int64? = { nil },
        transactionRepetitions: @escaping @Sendable () -> Int? = { nil },
        commitStatements: @escaping @Sendable () -> Int? = { nil },
        servers: @escaping @Sendable () -> ServersReading? = { nil }
    ) {
        self.uptime = uptime
        self.sessionTime = sessionTime ?? uptime
        self.requestID = requestID
        self.process = process
        self.sockets = sockets
        self.droppedLogLines = droppedLogLines
        self.writeAheadLogBytes = writeAheadLogBytes
        self.transactionRepetitions = transactionRepetitions
        self.commitStatements = commitStatements
        self.servers = servers
    }

    /// The monotonic clock of the Swift runtime, starting at its first use.
    package static let runtimeClock: @Sendable () -> Int64 = {
        let elapsed = origin.duration(to: .now).components
        return elapsed.seconds * 1_000_000_000 + elapsed.attoseconds / 1_000_000_000
    }

    /// Returns sixteen random hexadecimal digits.
    package static let randomID: @Sendable () -> String = { randomRequestID() }

    private static let origin = ContinuousClock.now
}

/// The servers on one storage, as one of them sees them.
package struct ServersReading: Hashable, Sendable {
    /// The id of the one that looks.
    package let id: String
    /// The ids of the others that run.
    package let others: Set<String>
    /// Those that run, with the one that looks.
    package let running: Int
    /// Those with another configuration than the one that looks.
    package let differing: Int

    package init(
        running: Int,
        differing: Int,
        id: String = "",
        others: Set<String> = []
    ) {
        self.id = id
        self.others = others
        self.running = running
        self.differing = differing
    }

    package init(_ servers: [ServerRecord], seenBy server: ServerRecord) {
        id = server.id
        others = Set(servers.map(\.id)).subtracting([server.id])
        running = servers.count
        differing = servers.count { $0.configuration != server.configuration }
    }
}

/// The operating system's reading of the process.
package struct ProcessReading: Hashable, Sendable {
    package var startedAt: Instant
    package var residentBytes: Int64
    package var openFileDescriptors: Int64
    /// The maximum number of open file descriptors.
    package var mostFileDescriptors: Int64
    /// The processor time of all threads, in user and system mode.
    package var processorMilliseconds: Int64

    package init(
        startedAt: Instant,
        residentBytes: Int64,
        openFileDescriptors: Int64,
        mostFileDescriptors: Int64,
        processorMilliseconds: Int64
    ) {
        self.startedAt = startedAt
        self.residentBytes = residentBytes
        self.openFileDescriptors = openFileDescriptors
        self.mostFileDescriptors = mostFileDescriptors
        self.processorMilliseconds = processorMilliseconds
    }
}

/// The counters of a socket server since its start.
package struct SocketReading: Hashable, Sendable {
    /// Connections open now.
    package var connectionsOpen = 0
    /// Connections accepted from the listener.
    package var connectionsTaken = 0
    /// Connections closed at once, because their address had too many or memory was short.
    package var connectionsRefused = 0
    /// Connections closed to make room for others, or for their bodies.
    package var connectionsEvicted = 0
    /// Connections closed because the client was too slow or idle for too long.
    package var connectionsTimedOut = 0
    /// Requests answered without suspending.
    package var answeredAtOnce = 0
    /// Requests that suspended.
    package var suspended = 0
    /// Requests rejected before routing, for their form or a limit.
    package var requestsRefused = 0
    /// Requests abandoned because their client disconnected.
    package var clientsGone = 0

    package init() {}
}
