import TideoverCommandLine
import TideoverJSON
import TideoverRehearsal
import TideoverSandbox

/// `tideover sandbox stories`: plays stories that a seed generates, with injected faults.
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
        "The store of the stories",
        as: ValueForm<Stores>.choice,
        default: "both"
    )

    private static let json = Parameter.flag("--json", "Write one JSON object")

    /// The stores that stories cover.
    private enum Stores: String, CaseIterable, Sendable {
        case appStore, googlePlay, mixed, both

        /// Returns the kinds of stories for a seed. `both` adds one of a customer with both stores
        /// to every fourth seed.
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
        summary: "play stories generated from seeds, with faults in messages and answers",
        examples: [
            Example("tideover sandbox stories", "two hundred seeds of both stores"),
            Example("tideover sandbox stories --from 77 --seeds 1", "one seed"),
            Example("tideover sandbox stories --store googlePlay", "of Google Play alone"),
            Example("tideover sandbox stories --store mixed", "of a customer who buys in both"),
        ],
        parameters: [from, seeds, store, json],
        notes: [
            "In each, customers act at random while messages are lost, late, repeated, "
                + "reordered or damaged, and the store is sometimes unreachable. At quiet points "
                + "the answer must match the store's state, and without faults no customer may be "
                + "locked out.",
            "With both stores each seed makes a story of each, and every fourth seed one of "
                + "a customer who buys in both.",
            "A failing story is reduced to the fewest steps that still fail.",
            "Exit code 0 if every story matches the store's state, else 1.",
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let first = arguments[from]
        let seeds = first..<first + arguments[seeds]
        let stories = seeds.flatMap { seed in
            arguments[store].kinds(of: seed).map { (seed: seed, kind: $0) }
        }
        let progress = Progress("playing", total: stories.count, on: output)
        var tallies: [StoryKind: StoryTally] = [:]
        var broken: [BrokenStory] = []
        for story in stories {
            let scenario = Scenario.generated(seed: UInt64(story.seed), of: story.kind)
            let verdict = try await play(scenario).storyOracle
            tallies[story.kind, default: StoryTally()].add(verdict)
            if !verdict.faults.isEmpty {
                let story = BrokenStory(
                    seed: story.seed,
                    kind: story.kind,
                    faults: verdict.faults,
                    shortest: try await shortest(scenario)
                )
                if arguments[json] { broken.append(story) } else { story.show(on: output) }
            }
            progress.advance()
        }
        progress.finish()
        if arguments[json] {
            let document = document(tallies, broken)
            output.write(document.encoded(pretty: true) + [UInt8(ascii: "\n")])
        } else {
            for kind in StoryKind.allCases { tallies[kind]?.show(kind.words, on: output) }
        }
        return tallies.values.allSatisfy { $0.broken == 0 } ? .success : .failure
    }

    private static func document(
        _ tallies: [StoryKind: StoryTally],
        _ broken: [BrokenStory]
    ) -> JSONValue {
        let stories = tallies.values.reduce(0) { $0 + $1.stories }
        let sums = tallies.map { ($0.key.rawValue, $0.value.json) }
        return [
            "stories": .integer(Int64(stories)),
            "passed": .integer(Int64(stories - broken.count)),
            "kinds": .object(sums.reduce(into: JSONObject()) { $0[$1.0] = $1.1 }),
            "broken": .array(broken.map(\.json)),
        ]
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

    /// Returns the report of the shortest story that still fails.
    private static func shortest(_ scenario: Scenario) async throws -> ScenarioReport {
        let shrunk = try await scenario.shrunk { shorter in
            try await !play(shorter).storyOracle.faults.isEmpty
        }
        return try await play(shrunk)
    }
}
