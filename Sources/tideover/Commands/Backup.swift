import Glibc
import TideoverCommandLine
import TideoverConfiguration
import TideoverHTTP
import TideoverJSON
import TideoverSQLite
import TideoverServer
import TideoverStorage

/// `tideover backup`: a copy of the database, also while the server runs.
enum Backup {
    private static let file = Parameter.argument(
        "FILE",
        "Where to write the copy; an existing file is never replaced"
    )

    static let command = Command(
        "backup",
        summary: "copy the database, also while the server runs",
        examples: [
            Example(
                "tideover backup /backups/tideover-$(date +%F).db",
                "today's copy"
            )
        ],
        parameters: [file, ConfigurationFile.parameter],
        notes: [
            "The copy contains everything committed before the start. A running server makes it, "
                + "by the socket beside the database or, with the admin key, at server.listen. "
                + "Without both the command reads the file, and the server's write-ahead log grows "
                + "meanwhile. The copy is checked before it gets its name, and only its owner can "
                + "open it. To restore it, name it in the configuration. Copy the configuration and "
                + "the pass keys separately.",
            "The exit code is 65 if the copy does not pass the check: the database is damaged.",
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let configuration = try ConfigurationFile.load(
            try ConfigurationFile.path(arguments),
            arguments,
            telling: output
        )
        guard case .sqlite(let path) = configuration.storage else {
            throw CommandFailure(
                .unavailable,
                "a PostgreSQL database is copied with its own tools, such as pg_dump\n"
                    + "`tideover export` writes the data of one app in a form any storage imports."
            )
        }
        guard access(path, F_OK) == 0 else { throw AdminClient.noDatabase(path) }
        let target = arguments[file]
        guard access(target, F_OK) != 0 else { throw FileOutput.failure(target, EEXIST) }
        StopSignal.removeUnfinishedFiles()
        let progress = MegabyteProgress(output)
        do {
            let bytes: Int64
            let adminClient = AdminClient(
                configuration,
                try ConfigurationFile.path(arguments),
                server: nil,
                output
            )
            if try await isServed(path, configuration, adminClient) {
                let copied = try await copy(of: path, adminClient, progress)
                bytes = try SQLiteBackup.finish(copied, as: target)
            } else {
                bytes = try SQLiteBackup.copy(path, to: target) { progress.reached($0) }
            }
            progress.finish()
            output.print("\(TextLayout.visible(target)): \(bytes >> 10) KiB, checked")
            return .success
        } catch let error as StorageError {
            progress.finish()
            throw CommandFailure(exitCode(error), "\(error)")
        } catch let failure as UnfinishedFile.Failure {
            progress.finish()
            throw FileOutput.failure(failure.path, failure.code)
        } catch {
            progress.finish()
            throw error
        }
    }

    /// Whether a running server can copy the database.
    private static func isServed(
        _ database: String,
        _ configuration: Configuration,
        _ adminClient: AdminClient
    ) async throws -> Bool {
        let isReached =
            configuration.server.adminKeyFile != nil
            || access(AdminClient.socket(besides: database), F_OK) == 0
        guard try isReached && SQLiteBackup.isInUse(database) else { return false }
        // A command that has it open cannot copy it.
        return await adminClient.isServed()
    }

    /// Requests a copy of the database from the running server. Returns the copy's path.
    private static func copy(
        of database: String,
        _ adminClient: AdminClient,
        _ progress: MegabyteProgress
    ) async throws -> String {
        try await adminClient.converse { ask in
            var answer = try await ask(Request(method: "POST", path: "/v1/backup"))
            while answer["copy"]?["state"]?.string == "copying" {
                try await Task.sleep(for: .milliseconds(200))
                answer = try await ask(Request(path: "/v1/backup"))
                progress.reached(answer["copy"]?["bytes"]?.int64 ?? 0)
            }
            guard answer["copy"]?["state"]?.string == "copied",
                let file = answer["copy"]?["file"]?.string, isCopy(file, of: database)
            else {
                let problem = answer["copy"]?["problem"]?.string ?? "it made no copy"
                throw CommandFailure(.io, "the server could not copy its database: \(problem)")
            }
            return file
        }
    }

    /// Whether a file is a copy beside the database. An answer that names any other file is
    /// rejected.
    private static func isCopy(_ file: String, of database: String) -> Bool {
        guard let path = realpath(database, nil) else { return false }
        defer { free(path) }
        let prefix = String(cString: path) + ".copy-"
        return file.hasPrefix(prefix) && !file.dropFirst(prefix.count).contains("/")
    }

    private static func exitCode(_ error: StorageError) -> ExitCode {
        switch error.reason {
        case .corrupt, .notAStorage: .data
        default: .io
        }
    }
}

/// Shows the number of copied megabytes.
private final class MegabyteProgress {
    private let progress: Progress
    private var seen = 0

    init(_ output: Output) { progress = Progress("copying megabytes", on: output) }

    func reached(_ bytes: Int64) {
        let megabytes = Int(bytes >> 20)
        guard megabytes > seen else { return }
        progress.advance(by: megabytes - seen)
        seen = megabytes
    }

    func finish() { progress.finish() }
}
