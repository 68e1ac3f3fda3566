import TideoverCommandLine
import TideoverLives

/// `try`: lives by the number of their seed, each checked against every law.
enum Try {
    static let from = Parameter.option(
        "--from",
        "SEED",
        "The first seed",
        as: ValueForm<Int>.integer(in: 0...Int.max / 4),
        default: "1"
    )
    private static let seeds = Parameter.option(
        "--seeds",
        "N",
        "How many seeds; each generates three lives",
        as: ValueForm<Int>.integer(in: 1...Int.max / 4),
        default: "6700"
    )
    private static let schedules = Parameter.option(
        "--schedules",
        "N",
        "How many orders the facts of each life arrive in",
        as: ValueForm<Int>.integer(in: 1...64),
        default: "10"
    )
    private static let laws = Parameter.arguments(
        "LAW",
        "The laws to check; all without one",
        isRequired: false,
        as: ValueForm(
            "a law: " + Law.all.map(\.name).joined(separator: ", "),
            choices: Law.all.map(\.name)
        ) { name in Law.all.first { $0.name == name } }
    )

    static let command = Command(
        "try",
        summary: "check lives against the laws",
        examples: [
            Example("TideoverLaws try convergence --from 77 --seeds 1", "one life, one law")
        ],
        parameters: [from, seeds, schedules, laws],
        notes: Law.all.map { "\($0.name): \($0.sentence)." } + [
            "A seed generates a life on the App Store, one on Google Play with reads, and one on "
                + "Google Play with bare notifications only.",
            "Exit code 1 if a law is violated: prints the life with the fewest facts that violate it.",
        ],
        run: run
    )

    /// The number of seeds between two checks of the results.
    private static let portion = 64

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let began = ContinuousClock.now
        let chosen = arguments[laws]
        let court = Court(
            laws: chosen.isEmpty ? Law.all : chosen,
            schedules: arguments[schedules]
        )
        let first = arguments[from]
        let seeds = first..<first + arguments[seeds]
        let portions = stride(from: seeds.lowerBound, to: seeds.upperBound, by: portion).map {
            $0..<min($0 + portion, seeds.upperBound)
        }
        let breaches = await breaches(in: portions, court)
        for breach in breaches { output.print(breach.description) }
        let seconds = (ContinuousClock.now - began).components.seconds
        output.print(
            "\(seeds.count) seeds, \(seeds.count * GeneratedLives.kinds) lives, \(court.schedules) "
                + "schedules each, \(court.laws.count) laws: \(breaches.count) breaches, \(seconds) s"
        )
        return breaches.isEmpty ? .success : .failure
    }

    /// Returns the breaches. Stops soon after the first one, because a few are sufficient.
    private static func breaches(in portions: [Range<Int>], _ court: Court) async -> [Breach] {
        await withTaskGroup(of: [Breach].self) { group in
            var waiting = portions.makeIterator()
            for _ in 0..<8 {
                if let portion = waiting.next() { group.addTask { court.breaches(by: portion) } }
            }
            var found: [Breach] = []
            for await breaches in group {
                found += breaches
                if found.isEmpty, let portion = waiting.next() {
                    group.addTask { court.breaches(by: portion) }
                }
            }
            return found.sorted { $0.trial.seed < $1.trial.seed }
        }
    }
}

/// Checks lives by their seeds.
private struct Court: Sendable {
    let laws: [Law]
    let schedules: Int

    /// At most one breach of each law.
    func breaches(by seeds: Range<Int>) -> [Breach] {
        var found: [String: Breach] = [:]
        for seed in seeds {
            let trial = Law.Trial(seed: UInt64(seed), schedules: schedules)
            for life in GeneratedLives.lives(seed: trial.seed) {
                for law in laws where found[law.name] == nil {
                    found[law.name] = law.breach(by: life, trial)
                }
            }
        }
        return Array(found.values)
    }
}
