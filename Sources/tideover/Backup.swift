import Glibc
import TideoverCommandLine
import TideoverSQLite
import TideoverServer
import TideoverStorage

/// `tideover backup`: a copy of the database, also while the server runs.
enum Backup {
    private static let file = Parameter.argument(
        "FILE",
        "Where to write the copy; a file that is there is left alone"
    )

    static let command = Command(
        "backup",
        summary: "copy the database while the server goes on",
        examples: [
            Example(
                "tideover backup /backups/tideover-$(date +%F).db --config tideover.json",
                "today's copy"
            )
        ],
        parameters: [file, ConfigurationFile.required],
        notes: [
            "The copy is of the instant at which it began. It is checked to its last page before it gets "
                + "its name, only its owner can open it, and it is a database as it is: name it in the "
                + "configuration to serve from it. Keys that sign passes and the configuration are files "
                + "of their own.",
            "The exit code is 65 when the copy does not pass the check, so that the database itself is "
                + "damaged.",
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let configuration = try ConfigurationFile.load(
            arguments[ConfigurationFile.required],
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
                "\(TextLayout.visible(target)) is there already, and a copy replaces nothing\n"
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
