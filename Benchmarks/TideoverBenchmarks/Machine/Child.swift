import Glibc
import TideoverCommandLine

/// A child process with its output in files.
final class Child {
    let pid: pid_t
    let said: String
    let told: String
    private var code: Int32?

    /// Starts a program from the PATH or a path, bound to one processor if one is given. `name`
    /// names the files of its standard output and standard error.
    init(_ words: [String], on core: Int?, name: String, in folder: String) throws {
        said = "\(folder)/\(name).out"
        told = "\(folder)/\(name).err"
        let all = (core.map { ["taskset", "--cpu-list", "\($0)"] } ?? []) + words
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (descriptor, path) in [(STDOUT_FILENO, said), (STDERR_FILENO, told)] {
            let flags = O_WRONLY | O_CREAT | O_TRUNC
            posix_spawn_file_actions_addopen(&actions, descriptor, path, flags, 0o600)
        }
        var attributes = Self.attributes()
        defer { posix_spawnattr_destroy(&attributes) }
        var arguments = all.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var pid = pid_t()
        let code = posix_spawnp(&pid, all[0], &actions, &attributes, &arguments, environ)
        guard code == 0 else {
            throw CommandFailure(.unavailable, "cannot start \(all[0])")
        }
        self.pid = pid
    }

    deinit { stop() }

    /// Threads of Swift's tasks block signals, and a child would inherit that. It could then
    /// neither be stopped nor receive its own alarm.
    private static func attributes() -> posix_spawnattr_t {
        var attributes = posix_spawnattr_t()
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_init(&attributes)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        posix_spawnattr_setflags(&attributes, Int16(flags))
        return attributes
    }

    /// Runs a program to its end.
    ///
    /// - Returns: its standard output.
    static func run(
        _ words: [String],
        on core: Int?,
        name: String,
        in folder: String
    ) throws -> String {
        let child = try Child(words, on: core, name: name, in: folder)
        let code = child.wait()
        guard code == 0 else {
            let reason = "\(words.joined(separator: " ")) ended with \(code)"
            throw CommandFailure(.unavailable, "\(reason)\n\(Files.text(child.told))")
        }
        return Files.text(child.said)
    }

    /// Waits for its end. Returns its exit code, or 128 and more if a signal ended it.
    @discardableResult
    func wait() -> Int32 {
        if let code { return code }
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7F
        let ended = signal == 0 ? status >> 8 & 0xFF : 128 + signal
        code = ended
        return ended
    }

    /// Sends SIGTERM and waits for its end.
    func stop() {
        guard code == nil else { return }
        kill(pid, SIGTERM)
        wait()
    }

    // MARK: Resource usage

    /// The processor time of all its threads in seconds, to a hundredth.
    var processorSeconds: Double {
        // The name before the numbers ends with a parenthesis and may contain blanks.
        let fields = Files.text("/proc/\(pid)/stat").split(separator: ")").last?
            .split(separator: " ")
        guard let fields, fields.count > 12, let user = Double(fields[11]),
            let system = Double(fields[12])
        else { return 0 }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// The peak memory usage, in megabytes.
    var peakMegabytes: Double {
        let line = Files.text("/proc/\(pid)/status").split(separator: "\n")
            .first { $0.hasPrefix("VmHWM:") }
        return line.flatMap { $0.split(separator: " ").dropFirst().first }
            .flatMap { Double($0) }.map { $0 / 1024 } ?? 0
    }
}
