import CTideoverBuild
import TideoverCommandLine

/// The one executable: a file per subcommand, wiring only.
@main
enum Tideover {
    static let version = "0.2.0"

    /// The version, with the commit of the build if it is known.
    static let build: String = {
        let commit = String(cString: tideover_build_commit()).prefix(12)
        return commit.isEmpty ? version : "\(version) (\(commit))"
    }()

    static func main() async {
        await program.main()
    }

    static let program: Program = Program(
        "tideover",
        version: build,
        summary: "May this customer use this right now, until when, and why?",
        examples: [
            Example(
                "tideover demo",
                "watch a year of subscribers, and where an expiry check is wrong"
            ),
            Example("tideover serve", "answer notifications and apps"),
            Example(
                "tideover inspect body.json",
                "decode one signed notification"
            ),
        ],
        commands: [
            Init.command, Demo.command, Sandbox.command, Serve.command, ReloadCommand.command,
            Inspect.command,
            Explain.command, CustomerLife.command, Customers.command, Lookup.command,
            Unclaimed.command, Events.command, GiveAccess.command, MovePurchase.command,
            Refresh.command,
            StoreActions.command,
            Erase.command, Backfill.command, Replay.command, Export.command, Import.command,
            Backup.command, Migrate.command, Report.command, PolicyTrial.command,
            Webhooks.command,
            Keys.command, Config.command, Doctor.command, Conformance.command,
            Completions.command, ManPages.command, Version.command,
        ]
    )
}
