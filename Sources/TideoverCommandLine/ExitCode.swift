/// How a command ended, as the shell sees it: 0, 1, 2, and `sysexits.h` above 64.
///
/// 64 (`EX_USAGE`) is not used: wrong usage is 2, as for most commands.
public enum ExitCode: Int32, Sendable, Hashable, CaseIterable {
    /// The command did what was asked, and the answer is yes.
    case success = 0
    /// The command did what was asked, and the answer is no: refused, unmet, found wanting.
    case failure = 1
    /// The command line was not understood; nothing was done.
    case usage = 2
    /// The input is not what it should be (`EX_DATAERR`).
    case data = 65
    /// An input is not there (`EX_NOINPUT`).
    case noInput = 66
    /// A service that is needed does not answer (`EX_UNAVAILABLE`).
    case unavailable = 69
    /// Our own fault (`EX_SOFTWARE`).
    case software = 70
    /// An output cannot be created (`EX_CANTCREAT`).
    case cannotCreate = 73
    /// Reading or writing failed midway (`EX_IOERR`).
    case io = 74
    /// The operating system or a server does not allow it (`EX_NOPERM`).
    case noPermission = 77
    /// The configuration is wrong (`EX_CONFIG`).
    case configuration = 78
}

/// An error that knows how to end a command: what to say on standard error, and the exit code.
public protocol ReportableFailure: Error {
    /// How the command ends when nobody catches this error.
    var exitCode: ExitCode { get }
    /// What to tell the person: one sentence without the program's name, further lines as advice.
    var message: String { get }
}

/// A failure that a command words itself.
public struct CommandFailure: ReportableFailure, Hashable {
    /// How the command ends.
    public let exitCode: ExitCode
    /// What to tell the person.
    public let message: String

    /// A failure with its exit code and the sentence that tells it.
    public init(_ exitCode: ExitCode, _ message: String) {
        self.exitCode = exitCode
        self.message = message
    }
}
