/// The exit code of a command: 0, 1, 2, or a code of `sysexits.h` above 64.
///
/// 64 (`EX_USAGE`) is not used: wrong usage is 2, as for most commands.
package enum ExitCode: Int32, Sendable, Hashable, CaseIterable {
    /// The command succeeded, and the answer is yes.
    case success = 0
    /// The command ran, and the answer is no: rejected, or a check failed.
    case failure = 1
    /// The command line is invalid; nothing was done.
    case usage = 2
    /// The input is invalid (`EX_DATAERR`).
    case data = 65
    /// An input does not exist (`EX_NOINPUT`).
    case noInput = 66
    /// A required service does not answer (`EX_UNAVAILABLE`).
    case unavailable = 69
    /// An internal error of the program (`EX_SOFTWARE`).
    case software = 70
    /// An output cannot be created (`EX_CANTCREAT`).
    case cannotCreate = 73
    /// Reading or writing failed midway (`EX_IOERR`).
    case io = 74
    /// The operating system or a server denies permission (`EX_NOPERM`).
    case noPermission = 77
    /// The configuration is invalid (`EX_CONFIG`).
    case configuration = 78
}

/// An error that ends a command, with its message for standard error and its exit code.
package protocol ReportableFailure: Error {
    /// The exit code if no code catches this error.
    var exitCode: ExitCode { get }
    /// The message: one sentence without the program's name, then optional lines of advice.
    var message: String { get }
}

/// A failure with a message of the command.
package struct CommandFailure: ReportableFailure, Hashable {
    /// The exit code.
    package let exitCode: ExitCode
    /// The message.
    package let message: String

    /// Creates a failure from its exit code and message.
    package init(_ exitCode: ExitCode, _ message: String) {
        self.exitCode = exitCode
        self.message = message
    }
}
