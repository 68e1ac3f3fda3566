import TideoverCommandLine
import TideoverRehearsal
import TideoverSandbox

/// `tideover sandbox stories`: stories that a seed tells, with things going wrong on the way.
enum SandboxStories {
    private static let from = Parameter.option(
        "--from",
        "SEED",
        "The first seed",
        as: ValueForm<Int>.integer(in: 0...Int.max / 4),
        default: "1"
    )
    private static let seeds = Parameter.option(
        "--seeds",
        "N",
        "How many seeds, for each a story of each store",
        as: ValueForm<Int>.integer(in: 1...1_000_000),
        default: "200"
    )
    private static let store = Parameter.option(
        "--store",
        "STORE",
        "Where the stories take place",
        as: ValueForm<Stores>.choice,
        default: "both"
    )

    /// Of which stores there are stories.
    private enum Stores: String, CaseIterable, Sendable {
        case appStore, googlePlay, mixed, both

        /// The stories of a seed: of both stores one each, and for every fourth seed one of a customer who
        /// buys in both.
        func kinds(of seed: Int) -> [StoryKind] {
            switch self {
            case .appStore: [.appStore]
            case .googlePlay: [.googlePlay]
            case .mixed: [.mixed]
            case .both: [.appStore, .googlePlay] + (seed.isMultiple(of: 4) ? [.mixed] : [])
            }
        }
    }

    static let command = Command(
        "stories",
        summary: "play stories made up from seeds, in which messages and answers go wrong",
        examples: [
            Example("tideover sandbox stories", "two hundred seeds of both stores"),
            Example("tideover sandbox stories --from 77 --seeds 1", "one seed"),
            Example("tideover sandbox stories --store googlePlay", "of Google Play alone"),
            Example("tideover sandbox stories --store mixed", "of a customer who buys in both"),
        ],
        parameters: [from, seeds, store],
        notes: [
            "In each, customers act at random while messages are lost, late, doubled, out of order or "
                + "spoiled, and the store cannot always be asked. When it is quiet the answer must be what "
                + "the store holds to be so, and while nothing goes wrong nobody may be locked out.",
            "With both stores each seed tells a story of each, and every fourth one more, of a customer "
                + "who buys in both.",
            "A story that comes out otherwise is told again with as few steps as it needs for that.",
            "Exit code 0 when every story came out as the store says; 1 when one did not.",
        ]
    ) { arguments, output in
        let first = arguments[from]
        let seeds = first..<first + arguments[seeds]
        let stories = seeds.flatMap { seed in
            arguments[store].kinds(of: seed).map { (seed: seed, kind: $0) }
        }
        let progress = Progress("playing", total: stories.count, on: output)
        var tallies: [StoryKind: StoryTally] = [:]
        for story in stories {
            let scenario = Scenario.generated(seed: UInt64(story.seed), of: story.kind)
            let verdict = try await play(scenario).storyVerdict
            tallies[story.kind, default: StoryTally()].add(verdict)
            if !verdict.faults.isEmpty {
                output.print("seed \(story.seed), \(story.kind.words):")
                for fault in verdict.faults { output.print("  \(fault)") }
                try await tell(scenario, output)
            }
            progress.advance()
        }
        progress.finish()
        for kind in StoryKind.allCases {
            if let tally = tallies[kind] { tally.show(kind.words, on: output) }
        }
        return tallies.values.allSatisfy { $0.broken == 0 } ? .success : .failure
    }

    private static func play(_ scenario: Scenario) async throws -> ScenarioReport {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let rehearsal = try Rehearsal(scenario, in: folder)
        do {
            let report = try await rehearsal.play(keepsUp: true)
            await rehearsal.close()
            return report
        } catch {
            await rehearsal.close()
            throw error
        }
    }

    /// Tells the shortest story that goes wrong as well.
    private static func tell(_ scenario: Scenario, _ output: Output) async throws {
        let shrunk = try await scenario.shrunk { shorter in
            try await !play(shorter).storyVerdict.faults.isEmpty
        }
        let report = try await play(shrunk)
        output.print("  It goes wrong with these steps alone:")
        for moment in report.moments { output.print("    \(moment.storyLine)") }
        for fault in report.storyVerdict.faults { output.print("  \(fault)") }
    }
}
