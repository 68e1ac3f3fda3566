import CTideoverTestProcesses
import Foundation
import Glibc

/// A program that a test started.
///
/// Foundation's `Process` is not used: to find the open files it copies 256 bytes of each entry of a
/// directory, however short the entry is, and where many are open that ends the whole run. It also lets a
/// program inherit the test run's own output, which then does not end before the program does.
public final class ChildProcess {
    /// A call of the system's that failed.
    public struct Failure: Error, CustomStringConvertible {
        public let description: String

        init(_ call: String, _ code: Int32) {
            description = "\(call): \(String(cString: strerror(code)))"
        }
    }

    /// A program's end: what it wrote on standard output and standard error, and its exit code, or
    /// minus the number of the signal that ended it.
    public struct Said {
        public let code: Int32
        public let results: String
        public let messages: String
    }

    /// What the program writes on standard output.
    public let results: ChildOutput
    /// What it writes on standard error.
    public let messages: ChildOutput
    private let id: pid_t
    private var end: Int32?

    /// Starts a program: its path, then its arguments. The variables come on top of this process's
    /// own, but for those that begin with `TIDEOVER_`: a program of ours is configured by them, and a test
    /// must not be by what the shell happens to hold. Without input it reads nothing.
    public init(
        _ command: [String],
        variables: [String: String] = [:],
        input: [UInt8] = []
    ) throws {
        let (results, resultsEnd) = try ChildOutput.pipe()
        let (messages, messagesEnd) = try ChildOutput.pipe()
        let source = try Self.file(of: input)
        defer { for file in [resultsEnd, messagesEnd, source] { close(file) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, source, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, resultsEnd, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, messagesEnd, STDERR_FILENO)
        tideover_close_from(&actions, STDERR_FILENO + 1)
        var attributes = Self.plainSignals()
        defer { posix_spawnattr_destroy(&attributes) }
        let environment = ProcessInfo.processInfo.environment
            .filter { !$0.key.hasPrefix("TIDEOVER_") }
            .merging(variables) { $1 }
        var id: pid_t = 0
        let code = Self.withStrings(command) { arguments in
            Self.withStrings(environment.map { "\($0)=\($1)" }) { variables in
                posix_spawn(&id, command[0], &actions, &attributes, arguments, variables)
            }
        }
        guard code == 0 else { throw Failure("posix_spawn of \(command[0])", code) }
        self.id = id
        self.results = results
        self.messages = messages
    }

    deinit {
        guard end == nil else { return }
        terminate()
        _ = wait()
    }

    /// Runs a program to its end. What it says must fit into a pipe, or come on one of the two only.
    public static func run(
        _ command: [String],
        variables: [String: String] = [:],
        input: [UInt8] = []
    ) throws -> Said {
        let process = try ChildProcess(command, variables: variables, input: input)
        let results = process.results.rest()
        let messages = process.messages.rest()
        return Said(
            code: process.wait(),
            results: String(decoding: results, as: UTF8.self),
            messages: String(decoding: messages, as: UTF8.self)
        )
    }

    /// Asks the program to end, unless it has.
    public func terminate() {
        if end == nil { kill(id, SIGTERM) }
    }

    /// Ends the program at once, unless it has ended.
    public func destroy() {
        if end == nil { kill(id, SIGKILL) }
    }

    /// Waits for its end: the exit code, or minus the number of the signal that ended it.
    public func wait() -> Int32 {
        if let end { return end }
        var status: Int32 = 0
        while waitpid(id, &status, 0) == -1 {
            precondition(errno == EINTR, "an unawaited child is gone")
        }
        let signal = status & 0x7F
        let end = signal == 0 ? (status >> 8) & 0xFF : -signal
        self.end = end
        return end
    }

    /// No blocked and no ignored signals, whatever the state of the starting thread.
    private static func plainSignals() -> posix_spawnattr_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for number in [SIGINT, SIGTERM, SIGHUP, SIGPIPE] { sigaddset(&signals, number) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        return attributes
    }

    /// An unnamed file to read from, so that neither process waits for the other.
    private static func file(of bytes: [UInt8]) throws -> Int32 {
        let file = tideover_file_in_memory()
        guard file >= 0 else { throw Failure("memfd_create", errno) }
        guard Glibc.write(file, bytes, bytes.count) == bytes.count, lseek(file, 0, SEEK_SET) == 0
        else { throw Failure("write", errno) }
        return file
    }

    private static func withStrings<Result>(
        _ strings: [String],
        _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = strings.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies + [nil])
    }
}

/// One of the two outputs of a program, to be read.
public final class ChildOutput {
    private let file: Int32

    private init(_ file: Int32) {
        self.file = file
    }

    deinit {
        close(file)
    }

    /// An output, and the end that the program writes to.
    fileprivate static func pipe() throws -> (ChildOutput, writing: Int32) {
        var ends: [Int32] = [0, 0]
        guard tideover_pipe(&ends) == 0 else { throw ChildProcess.Failure("pipe2", errno) }
        return (ChildOutput(ends[0]), ends[1])
    }

    /// What comes next, waited for; nothing at the end.
    public func next() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = Glibc.read(file, &bytes, bytes.count)
            if count >= 0 { return Array(bytes[..<count]) }
            guard errno == EINTR else { return [] }
        }
    }

    /// All that comes until the end.
    public func rest() -> [UInt8] {
        var all: [UInt8] = []
        while true {
            let bytes = next()
            guard !bytes.isEmpty else { return all }
            all += bytes
        }
    }
}
