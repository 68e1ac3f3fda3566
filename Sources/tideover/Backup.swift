import Glibc
import TideoverCommandLine
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
            "The copy contains everything that was committed before it started. It is checked before it "
                + "gets its name, and only its owner can open it. To restore it, name it in the "
                + "configuration. Copy the configuration and the pass keys separately.",
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
            preconditionFailure("only SQLite is read")
        }
        guard access(path, F_OK) == 0 else { throw Errand.noDatabase(path) }
        let target = arguments[file]
        guard access(target, F_OK) != 0 else {
            throw CommandFailure(
                .cannotCreate,
                "\(TextLayout.visible(target)) exists already\n"
                    + "Name another file, or remove that one."
            )
        }
        let progress = Progress("copying megabytes", on: output)
        var seen = 0
        do {
            let bytes = try SQLiteBackup.copy(path, to: target) { copied in
                let megabytes = Int(copied >> 20)
                progress.advance(by: megabytes - seen)
                seen = megabytes
            }
            progress.finish()
            output.print("\(TextLayout.visible(target)): \(bytes >> 10) KiB, checked")
            return .success
        } catch {
            progress.finish()
            throw CommandFailure(exitCode(error), "\(error)")
        }
    }

    private static func exitCode(_ error: StorageError) -> ExitCode {
        switch error.reason {
        case .corrupt, .notAStorage: .data
        case .refused: .cannotCreate
        default: .io
        }
    }
}
