import TideoverCommandLine

/// `faults [NAME...]`: injects one fault at a time and reports the results.
enum FaultsCommand {
    static let server = Parameter.requiredOption(
        "--server",
        "PROGRAM",
        "The program to test with `serve`"
    )
    private static let short = Parameter.flag(
        "--short",
        "A few seconds each, and no verdict on times: for a machine that others use too"
    )
    private static let mounts = Parameter.flag(
        "--may-mount",
        "This process has mounts of its own, as after unshare --mount"
    )
    private static let names = Parameter.arguments(
        "NAME",
        "The trials to make; all without one",
        isRequired: false,
        as: ValueForm(
            "a trial: " + FaultTrial.all.map(\.name).joined(separator: ", "),
            choices: FaultTrial.all.map(\.name)
        ) { name in FaultTrial.all.first { $0.name == name } }
    )

    static let command = Command(
        "faults",
        summary: "let things go wrong one at a time",
        examples: [
            Example(
                "TideoverTrials faults disk-full --server .build/static/release/tideover",
                "one of them"
            )
        ],
        parameters: [server, short, mounts, names],
        notes: FaultTrial.all.map { "\($0.name): \($0.summary)." } + [
            "Figures: median, 99th percentile and longest of the answers to a prober; memory before, at "
                + "most and afterwards, and its bound.",
            "Exit code 1 if any failed; one that cannot be made here is skipped, and says so.",
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let chosen = arguments[names]
        let ground = Ground(
            server: ServerCommand(program: arguments[server]),
            isShort: arguments[short],
            mayMount: arguments[mounts]
        )
        var table = Table(Finding.columns)
        var failures = 0
        for trial in chosen.isEmpty ? FaultTrial.all : chosen {
            output.message("\(trial.name): \(trial.summary)")
            let finding = Self.finding(of: trial, on: ground)
            for sentence in finding.sentences { output.message("    \(sentence)") }
            failures += finding.isPassed ? 0 : 1
            table.add(finding.row(trial.name))
        }
        output.print(table)
        return failures == 0 ? .success : .failure
    }

    private static func finding(of trial: FaultTrial, on ground: Ground) -> Finding {
        do {
            return try trial.run(ground)
        } catch let failure as Mount.Failure {
            return .skipped(failure.message)
        } catch {
            var finding = Finding()
            finding.faults = [(error as? any ReportableFailure)?.message ?? "\(error)"]
            return finding
        }
    }
}
