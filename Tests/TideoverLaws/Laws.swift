import TideoverCommandLine
import TideoverLives

/// Checks many more generated lives against the laws of the core than the tests have time for. Not
/// part of any product; `scripts/laws.sh` builds and runs it.
@main
enum Laws {
    static func main() async {
        await program.main()
    }

    static let program = Program(
        "TideoverLaws",
        version: "1",
        summary: "hold generated lives of subscriptions to the laws of the core",
        examples: [
            Example("TideoverLaws try", "20,100 lives, ten schedules each"),
            Example("TideoverLaws try --from 20001 --seeds 100000", "others"),
        ],
        commands: [Try.command, Cases.command, Boundaries.command, Experiments.command]
    )
}
