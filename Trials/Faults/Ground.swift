import Glibc
import TideoverCommandLine

/// The environment of fault trials: the server, the duration and the permissions.
struct Ground: Sendable {
    var server: ServerCommand
    /// A few seconds per trial, without verdicts on time, for shared machines.
    let isShort: Bool
    /// Whether the trials have their own mount namespace. There, the system removes every mount
    /// when they end.
    let mayMount: Bool

    /// Why no file system can be mounted here; nil if one can.
    var obstacleToMounts: String? {
        mayMount ? nil : "needs root and a mount namespace, which scripts/fault-trials.sh makes"
    }

    /// Returns the duration in seconds.
    func seconds(_ long: Int, short: Int) -> Int { isShort ? short : long }

    /// Runs a trial in a temporary folder, which is then removed.
    func inFolder(_ body: (String) throws -> Finding) throws -> Finding {
        let folder = try WorkFolder()
        defer { folder.remove() }
        return try body(folder.path)
    }
}

/// A trial with one injected fault.
struct FaultTrial: Sendable {
    let name: String
    /// The fault, in a phrase.
    let summary: String
    let run: @Sendable (Ground) throws -> Finding

    static let all = [
        diskFull, readOnly, secondServer, clock, slowHeads, slowBodies, idleConnections, fewFiles,
        oversize,
        lyingLengths, badSignatures,
    ]
}

// MARK: - File systems

/// A file system for one trial, mounted while `body` runs.
enum Mount {
    /// A failed system command.
    struct Failure: ReportableFailure {
        let message: String
        let exitCode = ExitCode.unavailable
    }

    /// Mounts a memory file system with a size in MiB.
    static func memory(_ mebibytes: Int, at path: String, in folder: String) throws {
        mkdir(path, 0o700)
        try tool(["mount", "-t", "tmpfs", "-o", "size=\(mebibytes)m", "tmpfs", path], folder)
    }

    /// Creates a disk image of 32 MiB with ext4.
    static func makeDisk(_ image: String, in folder: String) throws {
        try tool(["truncate", "--size", "32M", image], folder)
        try tool(["mkfs.ext4", "-q", "-F", image], folder)
    }

    static func disk(_ image: String, at path: String, in folder: String) throws {
        mkdir(path, 0o700)
        try tool(["mount", "-o", "loop", image, path], folder)
    }

    /// Mounts it again with another option, such as `ro`.
    static func change(_ path: String, to option: String, in folder: String) throws {
        try tool(["mount", "-o", "remount,\(option)", path], folder)
    }

    static func remove(_ path: String, in folder: String) throws {
        try tool(["umount", path], folder)
    }

    static func tool(_ command: [String], _ folder: String) throws {
        let (code, said) = try Spawn.run(command, log: "\(folder)/tool.log")
        guard code == 0 else {
            throw Failure(message: "\(command.joined(separator: " ")): \(said)")
        }
    }
}
