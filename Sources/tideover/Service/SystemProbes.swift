import Glibc
import TideoverCommandLine
import TideoverCore
import TideoverHTTPServer
import TideoverLocks
import TideoverServer

/// Measurements of the operating system and the socket server, for `/metrics`.
final class SystemProbes: Sendable {
    private let startedAt: Instant
    private let log: BackgroundWriter
    private let storage: OpenStorage
    private let announcer: ServerAnnouncer
    private let server = Locked<HTTPServer?>(nil)

    init(
        startedAt: Instant,
        log: BackgroundWriter,
        storage: OpenStorage,
        announcer: ServerAnnouncer
    ) {
        self.startedAt = startedAt
        self.log = log
        self.storage = storage
        self.announcer = announcer
    }

    var probes: Probes {
        Probes(
            process: { self.process },
            sockets: { self.server.withLock { $0 }.map { SocketReading($0.statistics) } },
            droppedLogLines: { self.log.droppedCount },
            writeAheadLogBytes: { self.storage.logByteCount },
            transactionRepetitions: { self.storage.repetitionCount },
            commitStatements: { self.storage.statementCount },
            servers: { self.announcer.reading }
        )
    }

    /// Reads a server's counters from now on and retains the server. Nil releases it.
    func watch(_ server: HTTPServer?) {
        self.server.withLock { $0 = server }
    }

    // MARK: The process

    private var process: ProcessReading? {
        guard let pages = Self.residentPages, let descriptors = Self.openFileDescriptors else {
            return nil
        }
        return ProcessReading(
            startedAt: startedAt,
            residentBytes: pages * Int64(sysconf(Int32(_SC_PAGESIZE))),
            openFileDescriptors: descriptors,
            mostFileDescriptors: Self.mostFileDescriptors,
            processorMilliseconds: Self.processorMilliseconds
        )
    }

    /// The second number of `/proc/self/statm`.
    private static var residentPages: Int64? {
        let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = read(file, &bytes, bytes.count)
        guard count > 0 else { return nil }
        let words = bytes[..<count].split(separator: UInt8(ascii: " "))
        return words.count > 1 ? Int64(String(decoding: words[1], as: UTF8.self)) : nil
    }

    /// The number of entries in `/proc/self/fd`, without the one for this reading.
    private static var openFileDescriptors: Int64? {
        guard let folder = opendir("/proc/self/fd") else { return nil }
        defer { closedir(folder) }
        var count: Int64 = 0
        while let entry = readdir(folder) {
            // `.` and `..` are not descriptors.
            if entry.pointee.d_name.0 != CChar(bitPattern: UInt8(ascii: ".")) { count += 1 }
        }
        return count - 1
    }

    private static var mostFileDescriptors: Int64 {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Int64(clamping: limit.rlim_cur)
    }

    private static var processorMilliseconds: Int64 {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return [usage.ru_utime, usage.ru_stime].reduce(0) {
            $0 + Int64($1.tv_sec) * 1_000 + Int64($1.tv_usec) / 1_000
        }
    }
}

extension SocketReading {
    fileprivate init(_ statistics: HTTPServerStatistics) {
        self.init()
        connectionsOpen = statistics.connectionsOpen
        connectionsTaken = statistics.connectionsTaken
        connectionsRefused = statistics.connectionsRefused
        connectionsEvicted = statistics.connectionsEvicted
        connectionsTimedOut = statistics.timedOut
        answeredAtOnce = statistics.answeredAtOnce
        suspended = statistics.suspended
        requestsRefused = statistics.requestsRefused
        clientsGone = statistics.clientsGone
    }
}

extension WorkLimits {
    /// As many concurrent tasks as the machine has processors.
    static var processors: WorkLimits {
        WorkLimits(running: max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    }
}
