import Glibc
import TideoverCommandLine
import TideoverLocks

/// A server in a process of its own.
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

    /// It ended, or said nothing of listening, before it could be used.
    struct DidNotListen: ReportableFailure {
        let end: End?
        let log: String
        let exitCode = ExitCode.unavailable

        var message: String {
            "the server did not listen (\(end?.description ?? "it still runs")): \(log)"
        }
    }

    let id: pid_t
    /// Where it writes what it says; begun anew at each start.
    let log: String
    private(set) var end: End?

    /// Starts a command, which gets no variables but a search path, and as many open files as most
    /// systems allow a service by default.
    init(_ command: [String], log: String) throws {
        self.log = log
        id = try Self.usualFileLimit { try Spawn.start(command, log: log) }
    }

    deinit { kill() }

    /// The port it listens on, waited for.
    func port(within patience: Int = 10_000) throws(DidNotListen) -> Int {
        var found: Int?
        _ = waited(upTo: patience) {
            found = Self.port(in: text(of: log, atMost: 4_096))
            return found != nil || hasEnded
        }
        guard let found else { throw DidNotListen(end: end, log: lastWords) }
        return found
    }

    /// A whole line that tells of `listening`, with `http://127.0.0.1:PORT` at its end.
    private static func port(in said: String) -> Int? {
        let lines = said.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        let line = lines.first { $0.contains("listening") && $0.contains("http://") }
        return line?.split(separator: ":").last.flatMap { Int($0.prefix(while: \.isNumber)) }
    }

    /// The end of what it said.
    var lastWords: String {
        String(text(of: log, atMost: 1 << 20).suffix(600))
    }

    var hasEnded: Bool {
        look(WNOHANG)
        return end != nil
    }

    /// Kills it as the system would, without a warning; returns how it ended, which may be another way
    /// if it was quicker.
    @discardableResult
    func kill() -> End? {
        if end == nil { Glibc.kill(id, SIGKILL) }
        look(0)
        return end
    }

    /// Asks it to stop and waits; nil if it has not ended in time.
    func stop(within patience: Int = 20_000) -> End? {
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

    /// 1,024, unless the system allows even less; this process keeps what it has.
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

// MARK: - What the system says of it

extension ServerProcess {
    /// Memory held now and at most so far, in KiB.
    var memory: (now: Int, peak: Int) {
        let lines = text(of: "/proc/\(id)/status", atMost: 8_192).split(separator: "\n")
        func number(_ name: String) -> Int {
            let line = lines.first { $0.hasPrefix(name) }
            return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        }
        return (number("VmRSS:"), number("VmHWM:"))
    }

    /// How many files and sockets it has open.
    var descriptors: Int {
        guard let folder = opendir("/proc/\(id)/fd") else { return 0 }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        return count - 2
    }
}

/// The beginning of a file, or what is in a pipe, as text; empty if it cannot be read.
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

/// The processes started and not yet ended: nothing of a trial may outlive it.
enum Children {
    private static let running = Locked<Set<pid_t>>([])

    static func add(_ id: pid_t) { running.withLock { _ = $0.insert(id) } }

    static func forget(_ id: pid_t) { running.withLock { _ = $0.remove(id) } }

    static func killAll() {
        for id in running.withLock({ $0 }) { kill(id, SIGKILL) }
    }
}

/// Ends the trial and all that it started when somebody wishes so.
enum Interruption {
    /// To be called before there is a second thread.
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
            // The servers last: the trial would go on to tell of their end.
            WorkFolder.removeAll()
            Children.killAll()
            _exit(128 + arrived)
        }
    }
}
