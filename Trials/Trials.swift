import TideoverCommandLine

/// Trials of the built server from outside: it is killed, starved of space and abused, and then
/// checked for lost data. It also records the data of the simulated stores for verification by
/// other software.
///
/// It is not part of any product. The scripts `kill-test.sh`, `kill-backfill.sh`,
/// `failover-test.sh`, `partition-test.sh`, `pgbouncer-test.sh`, `fault-trials.sh`, `soak.sh`,
/// `verify-apple.sh` and `verify-google.sh` run it.
@main
enum Trials {
    static func main() async {
        Interruption.prepare()
        await program.main()
    }

    static let program = Program(
        "TideoverTrials",
        version: "0.1.0",
        summary: "Kill, starve and abuse a Tideover server, and see what it loses",
        examples: [
            Example(
                "TideoverTrials kill 300 --server .build/static/release/tideover",
                "kill it 300 times under load and look for what was lost"
            ),
            Example(
                "TideoverTrials faults disk-full --server .build/static/release/tideover",
                "take its disk space away and give it back"
            ),
        ],
        commands: [
            KillCommand.command, BackfillCommand.command, FaultsCommand.command,
            OutagesCommand.command, SoakCommand.command, HastyServer.command,
            RecordCommand.command, GoogleCommand.command,
        ]
    )
}
