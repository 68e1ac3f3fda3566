import Glibc
import TideoverCommandLine

/// Starts other programs.
enum Spawn {
    /// A program that the system did not start.
    struct Failure: ReportableFailure {
        let command: [String]
        let code: Int32
        let exitCode = ExitCode.unavailable

        var message: String {
            "cannot run \(command.first ?? ""): \(String(cString: strerror(code)))"
        }
    }

    /// Starts a command whose output replaces a file. It has no blocked and no ignored signals.
    static func start(_ command: [String], log: String) throws(Failure) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        let mode = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log, mode, 0o600)
        posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO)
        var attributes = plainSignals()
        defer { posix_spawnattr_destroy(&attributes) }
        var id: pid_t = 0
        let environment = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "SWIFT_BACKTRACE=enable=no"]
        let code = withStrings(command) { arguments in
            withStrings(environment) { variables in
                posix_spawnp(&id, command.first ?? "", &actions, &attributes, arguments, variables)
            }
        }
        guard code == 0 else { throw Failure(command: command, code: code) }
        Children.add(id)
        return id
    }

    /// Runs a command to its end. Returns its exit code and its output.
    static func run(_ command: [String], log: String) throws(Failure) -> (code: Int32, said: String)
    {
        let id = try start(command, log: log)
        var status: Int32 = 0
        waitpid(id, &status, 0)
        Children.forget(id)
        let said = text(of: log, atMost: 4_096)
        guard case .exited(let code) = ServerProcess.End(status: status) else { return (-1, said) }
        return (code, said)
    }

    private static func plainSignals() -> posix_spawnattr_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        var usual = sigset_t()
        sigemptyset(&usual)
        for number in [SIGINT, SIGTERM, SIGHUP, SIGPIPE] { sigaddset(&usual, number) }
        posix_spawnattr_setsigdefault(&attributes, &usual)
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        posix_spawnattr_setflags(&attributes, Int16(flags))
        return attributes
    }

    private static func withStrings<R>(
        _ strings: [String],
        _ body: ([UnsafeMutablePointer<CChar>?]) -> R
    ) -> R {
        let copies = strings.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies + [nil])
    }
}
