public import TideoverCore
import TideoverHTTP

/// What the service is watched with, handed in by whoever runs it.
public struct Instruments: Sendable {
    /// Nanoseconds by a clock that never goes back, since any instant.
    public var uptime: @Sendable () -> Int64
    /// A new id for a request, of letters and digits.
    public var requestID: @Sendable () -> String
    /// What the operating system says of the process; nil where nobody asks it.
    public var process: @Sendable () -> ProcessReading?
    /// What the socket server has counted; nil while there is none.
    public var sockets: @Sendable () -> SocketReading?
    /// How many lines of the log were dropped because writing them stalled.
    public var droppedLogLines: @Sendable () -> Int
    /// Bytes of the database's write-ahead log; nil where there is none.
    public var writeAheadLogBytes: @Sendable () -> Int64?

    public init(
        uptime: @escaping @Sendable () -> Int64 = Self.runtimeClock,
        requestID: @escaping @Sendable () -> String = randomID,
        process: @escaping @Sendable () -> ProcessReading? = { nil },
        sockets: @escaping @Sendable () -> SocketReading? = { nil },
        droppedLogLines: @escaping @Sendable () -> Int = { 0 },
        writeAheadLogBytes: @escaping @Sendable () -> Int64? = { nil }
    ) {
        self.uptime = uptime
        self.requestID = requestID
        self.process = process
        self.sockets = sockets
        self.droppedLogLines = droppedLogLines
        self.writeAheadLogBytes = writeAheadLogBytes
    }

    /// The clock of Swift's own runtime, from the first time it was asked.
    public static let runtimeClock: @Sendable () -> Int64 = {
        let elapsed = origin.duration(to: .now).components
        return elapsed.seconds * 1_000_000_000 + elapsed.attoseconds / 1_000_000_000
    }

    /// Sixteen random hexadecimal digits.
    public static let randomID: @Sendable () -> String = { randomRequestID() }

    private static let origin = ContinuousClock.now
}

/// What the operating system says of the process.
public struct ProcessReading: Hashable, Sendable {
    public var startedAt: Instant
    public var residentBytes: Int64
    public var openFileDescriptors: Int64
    /// How many may be open.
    public var mostFileDescriptors: Int64
    /// Processor time of all threads, in user and system.
    public var processorMilliseconds: Int64

    public init(
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

/// What a socket server has counted since its start.
public struct SocketReading: Hashable, Sendable {
    /// Connections open now.
    public var connectionsOpen = 0
    /// Connections taken from the listener.
    public var connectionsTaken = 0
    /// Connections closed at once: their address had too many, or memory was short.
    public var connectionsRefused = 0
    /// Connections closed to make room for new ones.
    public var connectionsEvicted = 0
    /// Connections closed because the client was too slow or silent for too long.
    public var connectionsTimedOut = 0
    /// Requests answered without suspending.
    public var answeredAtOnce = 0
    /// Requests that waited for something.
    public var suspended = 0
    /// Requests refused before any route, for their form or a limit.
    public var requestsRefused = 0
    /// Requests given up because their client had gone.
    public var clientsGone = 0

    public init() {}
}
