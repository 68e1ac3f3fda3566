import Glibc

/// A program with subcommands: parses a command line, runs its command, and reports errors.
package struct Program: Sendable {
    /// The program's name.
    package let name: String
    /// The version, such as "0.1.0".
    package let version: String
    let root: Command

    /// Creates a program with its commands in the order of the help text.
    package init(
        _ name: String,
        version: String,
        summary: String,
        examples: [Example] = [],
        notes: [String] = [],
        commands: [Command]
    ) {
        self.name = name
        self.version = version
        root = Command(
            name,
            summary: summary,
            examples: examples,
            notes: notes,
            subcommands: commands
        )
    }

    /// Runs the process's own command line and ends the process.
    package func main() async -> Never {
        StandardStreams.prepare()
        let code = await run(
            Array(CommandLine.arguments.dropFirst()),
            variables: ProcessVariables.all(),
            output: .standard()
        )
        exit(code.rawValue)
    }

    /// Runs a command line without the program's name, with these environment variables. Errors are
    /// reported on `output`.
    package func run(
        _ arguments: [String],
        variables: [String: String] = [:],
        output: Output
    ) async -> ExitCode {
        do {
            switch try Interpreter(root: root).interpret(arguments) {
            case .help(let path):
                output.print(helpText(for: path, on: output.resultTerminal))
                return output.settled(.success)
            case .version:
                output.print("\(name) \(version)")
                return output.settled(.success)
            case .run(let action, var arguments):
                arguments.variables = variables
                return output.settled(try await action(arguments, output))
            }
        } catch {
            return report(error, on: output)
        }
    }

    /// Returns the help text of the command with these names, including the program's. If some do
    /// not exist, returns that of the last existing command.
    package func helpText(for path: [String], on terminal: Terminal = .plain) -> String {
        Help(program: self, terminal: terminal).text(for: path)
    }

    func command(at path: [String]) -> Command {
        path.dropFirst().reduce(root) { command, word in
            command.subcommands.first { $0.name == word } ?? command
        }
    }

    private func report(_ error: any Error, on output: Output) -> ExitCode {
        let prefix = output.messageTerminal.styled("\(name):", .bad)
        switch error {
        case let error as UsageError where error.reason == .missingCommand:
            output.message(helpText(for: error.command, on: output.messageTerminal))
            return .usage
        case let error as UsageError:
            output.message("\(prefix) \(Words.sentence(for: error.reason))")
            for line in advice(error.command, output.messageTerminal) { output.message(line) }
            return .usage
        case let failure as any ReportableFailure:
            output.message("\(prefix) \(failure.message)")
            return failure.exitCode
        default:
            output.message("\(prefix) unexpected error: \(error)")
            return .software
        }
    }

    private func advice(_ path: [String], _ terminal: Terminal) -> [String] {
        let usage = Help(program: self, terminal: terminal).usage(path, command(at: path))
        return usage.enumerated().map { ($0 == 0 ? "usage: " : "       ") + $1 }
            + ["`\(path.joined(separator: " ")) --help` has more."]
    }
}

/// The three standard streams of a process, made safe before any other file is opened.
enum StandardStreams {
    static func prepare() {
        // A closed reader is reported by `write`, not by a signal that ends the process.
        signal(SIGPIPE, SIG_IGN)
        // A stream that the caller closed leaves its number to the next opened file: results would
        // be written into the database. It is opened in the opposite direction, so that its use
        // still fails.
        keepTaken(STDIN_FILENO, O_WRONLY)
        keepTaken(STDOUT_FILENO, O_RDONLY)
        keepTaken(STDERR_FILENO, O_RDONLY)
    }

    private static func keepTaken(_ descriptor: Int32, _ mode: Int32) {
        guard fcntl(descriptor, F_GETFD) == -1 else { return }
        _ = open("/dev/null", mode)
    }
}
