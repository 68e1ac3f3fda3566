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
        "How many seeds, a story each",
        as: ValueForm<Int>.integer(in: 1...1_000_000),
        default: "200"
    )

    static let command = Command(
        "stories",
        summary: "play stories made up from seeds, in which notifications and answers go wrong",
        examples: [
            Example("tideover sandbox stories", "two hundred of them"),
            Example("tideover sandbox stories --from 77 --seeds 1", "one of them"),
        ],
        parameters: [from, seeds],
        notes: [
            "In each a customer acts at random while notifications are lost, late, doubled, out of order or "
                + "spoiled, and the store cannot always be asked. When it is quiet the answer must be what "
                + "the store holds to be so, and while nothing goes wrong nobody may be locked out.",
            "Exit code 0 when every story came out so; 1 when one did not.",
        ]
    ) { arguments, output in
        let first = arguments[from]
        let seeds = first..<first + arguments[seeds]
        let progress = Progress("playing", total: seeds.count, on: output)
        var broken = 0
        for seed in seeds {
            let folder = try TemporaryFolder()
            defer { folder.remove() }
            let rehearsal = try Rehearsal(.generated(seed: UInt64(seed)), in: folder)
            let faults = try await rehearsal.play().storyFaults
            await rehearsal.close()
            if !faults.isEmpty { broken += 1 }
            for fault in faults { output.print("seed \(seed), \(fault)") }
            progress.advance()
        }
        progress.finish()
        let sound = seeds.count - broken
        output.print("\(sound) of \(seeds.count) stories came out as the store says.")
        return broken == 0 ? .success : .failure
    }
}
