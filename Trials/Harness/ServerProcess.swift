import Glibc
import TideoverCommandLine
import TideoverLocks

/// A server in a separate process.
final class ServerProcess {
    /// How a process ended.
    enum End: Hashable, CustomStringConvertible {
        case exited(Int32)
        case signalled(Int32)

        init(status: Int32) {
            let signal = status & 0x7F
            self = signal == 0 ? .exited(status >> 8 & 0xFF) : .signalled(signal)
        }

        var description: String {
            switch self {
            case .exited(let code): "exit code \(code)"
            case .signalled(let signal): "signal \(signal)"
            }
        }
    }

    /// The server ended, or logged no `listening`, before it could be used.
    struct DidNotListen: ReportableFailure {
        let end: End?
        let log: String
        let exitCode = ExitCode.unavailable

        var message: String {
            "the server did not listen (\(end?.description ?? "it still runs")): \(log)"
        }
    }

    let id: pid_t
    /// The path of its log, which each start replaces.
    let log: String
    private(set) var end: End?

    /// Starts a command without variables except a search path. Its limit of open files is the
    /// usual default of services.
    init(_ command: [String], log: String) throws {
        self.log = log
        id = try Self.usualFileLimit { try Spawn.start(command, log: log) }
    }

    deinit { kill() }

    /// Waits for the port that the server listens on.
    func port(within patience: Int = 60_000) throws(DidNotListen) -> Int {
        var found: Int?
        _ = waited(upTo: patience) {
            found = Self.port(in: text(of: log, atMost: 4_096))
            return found != nil || hasEnded
        }
        guard let found else { throw DidNotListen(end: end, log: lastWords) }
        return found
    }

    /// Returns the port from a complete line with `listening` and `http://127.0.0.1:PORT` at its
    /// end.
    private static func port(in said: String) -> Int? {
        let lines = said.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        let line = lines.first { $0.contains("listening") && $0.contains("http://") }
        return line?.split(separator: ":").last.flatMap { Int($0.prefix(while: \.isNumber)) }
    }

    /// The end of its log.
    var lastWords: String {
        String(text(of: log, atMost: 1 << 20).suffix(600))
    }

    var hasEnded: Bool {
        look(WNOHANG)
        return end != nil
    }

    /// Kills it without a warning. Returns how it ended, which may differ if it ended first.
    @discardableResult
    func kill() -> End? {
        if end == nil { Glibc.kill(id, SIGKILL) }
        look(0)
        return end
    }

    /// Sends SIGTERM and waits. Returns nil if it does not end in time.
    func stop(within patience: Int = 60_000) -> End? {
        if end == nil { Glibc.kill(id, SIGTERM) }
        _ = waited(upTo: patience) { hasEnded }
        return end
    }

    private func look(_ options: Int32) {
        guard end == nil else { return }
        var status: Int32 = 0
        guard waitpid(id, &status, options) == id else { return }
        Children.forget(id)
        end = End(status: status)
    }

    /// 1,024, unless the system's limit is lower. This process keeps its own limit.
    private static func usualFileLimit<R>(_ body: () throws -> R) rethrows -> R {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var own = rlimit()
        getrlimit(resource, &own)
        var usual = own
        usual.rlim_cur = min(1_024, own.rlim_cur)
        setrlimit(resource, &usual)
        defer { setrlimit(resource, &own) }
        return try body()
    }
}

// MARK: - Measurements of the system

extension ServerProcess {
    /// Current and peak memory, in KiB.
    var memory: (now: Int, peak: Int) {
        let lines = text(of: "/proc/\(id)/status", atMost: 8_192).split(separator: "\n")
        func number(_ name: String) -> Int {
            let line = lines.first { $0.hasPrefix(name) }
            return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        }
        return (number("VmRSS:"), number("VmHWM:"))
    }

    /// The number of open files and sockets.
    var descriptors: Int {
        guard let folder = opendir("/proc/\(id)/fd") else { return 0 }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        return count - 2
    }
}

/// Returns the beginning of a file, or the content of a pipe, as text; empty if it cannot be read.
func text(of path: String, atMost count: Int) -> String {
    let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return "" }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: count)
    var length = 0
    while length < count {
        let more = bytes.withUnsafeMutableBytes {
            read(file, $0.baseAddress.map { $0 + length }, count - length)
        }
        if more <= 0 { break }
        length += more
    }
    return String(decoding: bytes[..<length], as: UTF8.self)
}

/// The running child processes. None may outlive a trial.
enum Children {
    private static let running = Locked<Set<pid_t>>([])

    static func add(_ id: pid_t) { running.withLock { _ = $0.insert(id) } }

    static func forget(_ id: pid_t) { running.withLock { _ = $0.remove(id) } }

    static func killAll() {
        for id in running.withLock({ $0 }) { kill(id, SIGKILL) }
    }
}

/// Ends the trial and all its processes on a signal.
enum Interruption {
    /// Must be called before a second thread exists.
    static func prepare() {
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, number) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        _ = Threads.start(1) { _ in
            var signals = sigset_t()
            sigemptyset(&signals)
            for number in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, number) }
            var arrived: Int32 = 0
            sigwait(&signals, &arrived)
            // Servers are killed last, because the trial would report their end.
            WorkFolder.removeAll()
            Children.killAll()
            _exit(128 + arrived)
        }
    }
}
