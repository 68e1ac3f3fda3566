import TideoverCommandLine
import TideoverCore
import TideoverLives

/// `cases`: boundaries of generated lives as a conformance table.
enum Cases {
    private static let most = Parameter.option(
        "--most",
        "N",
        "How many cases to write",
        as: ValueForm<Int>.integer(in: 1...10_000),
        default: "408"
    )
    private static let seeds = Parameter.option(
        "--seeds",
        "N",
        "How many seeds to look through at most",
        as: ValueForm<Int>.integer(in: 1...1_000_000),
        default: "2000"
    )

    static let command = Command(
        "cases",
        summary: "write boundaries of generated lives as a conformance table",
        examples: [
            Example(
                "TideoverLaws cases >Conformance/generated-lives.json",
                "the table of the project"
            )
        ],
        parameters: [Try.from, seeds, most],
        notes: [
            "A case is kept when a different rule gives a different answer on each side of the "
                + "boundary, the generator's own truth agrees with the access on both sides, and no "
                + "case before it shows the same from facts that say the same.",
            "Exit code 1 if the seeds yield fewer cases than asked for.",
        ],
        run: run
    )

    /// The largest number of cases for one change of the answer, each from facts with other
    /// content.
    private static let mostAlike = 6

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        var known: Set<String> = []
        var shown: [String: Int] = [:]
        var found: [BoundaryCase.Kind: [BoundaryCase]] = [:]
        // No single kind of life fills the table: each gets a share while it has cases.
        let share =
            (arguments[most] + BoundaryCase.Kind.generated.count - 1)
            / BoundaryCase.Kind.generated.count
        for seed in arguments[Try.from]..<arguments[Try.from] + arguments[seeds] {
            for one in BoundaryCase.cases(seed: UInt64(seed))
            where found[one.kind, default: []].count < share
                && shown[one.change, default: 0] < mostAlike
                && known.insert(one.signature).inserted
            {
                found[one.kind, default: []].append(one)
                shown[one.change, default: 0] += 1
            }
            if BoundaryCase.Kind.generated.allSatisfy({ found[$0]?.count == share }) { break }
        }
        let cases = BoundaryCase.Kind.generated.flatMap { found[$0] ?? [] }.prefix(arguments[most])
        output.write(Array(BoundaryCase.table(of: Array(cases)).utf8))
        for kind in BoundaryCase.Kind.generated {
            output.message("\(kind.rawValue): \(found[kind]?.count ?? 0)")
        }
        return cases.count == arguments[most] ? .success : .failure
    }
}
