import TideoverCommandLine
import TideoverLives

/// `experiments`: simulated years of experiments with a planted effect, and their reports.
enum Experiments {
    private static let seeds = Parameter.option(
        "--seeds",
        "N",
        "How many worlds with and without an effect",
        as: ValueForm<Int>.integer(in: 1...100_000),
        default: "200"
    )
    private static let customers = Parameter.option(
        "--customers",
        "N",
        "How many customers with a failed payment in each world",
        as: ValueForm<Int>.integer(in: 100...1_000_000),
        default: "4000"
    )

    static let command = Command(
        "experiments",
        summary: "compare the reports of experiments with a planted effect",
        examples: [
            Example("TideoverLaws experiments", "200 years with an effect, 200 without")
        ],
        parameters: [seeds, customers],
        notes: [
            "Each world is looked at every week. Exit code 1 if the intervals of more than 5 % of "
                + "the worlds miss the planted difference at any look, or if more than 5 % report "
                + "a difference where there is none, beyond chance."
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        var isRight = true
        for effect in [0, 0.08] {
            var trial = ExperimentTrial()
            for seed in 1...arguments[seeds] {
                let world = ExperimentWorld(
                    seed: UInt64(seed),
                    customers: arguments[customers],
                    effect: effect
                )
                trial.add(world, effect: effect, every: 7)
            }
            output.print(line(trial, effect))
            let most = mostByChance(of: trial.worlds)
            isRight = isRight && trial.missed <= most && trial.silent == 0
            if effect == 0 { isRight = isRight && trial.found <= most }
        }
        return isRight ? .success : .failure
    }

    private static func line(_ trial: ExperimentTrial, _ effect: Double) -> String {
        "effect \(effect): \(trial.worlds) worlds, missed in \(trial.missed), "
            + "difference reported in \(trial.found); "
            + "an ordinary interval misses in \(trial.missedByOrdinary)"
    }

    /// Five of 100, and two standard deviations.
    private static func mostByChance(of worlds: Int) -> Int {
        let mean = 0.05 * Double(worlds)
        return Int(mean + 2 * (mean * 0.95).squareRoot())
    }
}
