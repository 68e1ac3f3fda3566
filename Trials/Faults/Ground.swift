import Glibc
import TideoverCommandLine

/// Where fault trials are made: which server, how long, and with what rights.
struct Ground: Sendable {
    var server: ServerCommand
    /// On a machine that others use too: a few seconds each, and no verdict on time.
    let isShort: Bool
    /// Whether whoever started the trials gave them a mount namespace of their own: there the system
    /// itself takes every mount away again, however they end.
    let mayMount: Bool

    /// Why no file system can be mounted here; nil if one can.
    var obstacleToMounts: String? {
        mayMount ? nil : "needs root and a mount namespace, which scripts/fault-trials.sh makes"
    }

    /// A length of time in seconds.
    func seconds(_ long: Int, short: Int) -> Int { isShort ? short : long }

    /// Runs a trial in a folder of its own, which is removed afterwards.
    func inFolder(_ body: (String) throws -> Finding) throws -> Finding {
        let folder = try WorkFolder()
        defer { folder.remove() }
        return try body(folder.path)
    }
}

/// A trial that makes one thing go wrong.
struct FaultTrial: Sendable {
    let name: String
    /// What it does, in a phrase.
    let summary: String
    let run: @Sendable (Ground) throws -> Finding

    static let all = [
        diskFull, readOnly, secondServer, clock, slowHeads, slowBodies, idleConnections, fewFiles,
        oversize,
        lyingLengths, badSignatures,
    ]
}

// MARK: - File systems

/// A file system of a trial's own, mounted for as long as `body` runs.
enum Mount {
    /// What a program of the system did not do.
    struct Failure: ReportableFailure {
        let message: String
        let exitCode = ExitCode.unavailable
    }

    /// A folder in memory of a size in MiB.
    static func memory(_ mebibytes: Int, at path: String, in folder: String) throws {
        mkdir(path, 0o700)
        try tool(["mount", "-t", "tmpfs", "-o", "size=\(mebibytes)m", "tmpfs", path], folder)
    }

    /// A disk of 32 MiB in a file, with ext4.
    static func makeDisk(_ image: String, in folder: String) throws {
        try tool(["truncate", "--size", "32M", image], folder)
        try tool(["mkfs.ext4", "-q", "-F", image], folder)
    }

    static func disk(_ image: String, at path: String, in folder: String) throws {
        mkdir(path, 0o700)
        try tool(["mount", "-o", "loop", image, path], folder)
    }

    /// Mounts it again in another way, such as `ro`.
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
