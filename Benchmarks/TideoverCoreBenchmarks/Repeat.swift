import CTideoverAllocations
import TideoverCommandLine

/// `repeat`: makes one call many times, for a profiler that counts instructions.
enum Repeat {
    private enum Call: String, CaseIterable, Sendable {
        case derive, read
    }

    private static let call = Parameter.argument(
        "CALL",
        "`derive`: 12 facts to answer and events. `read`: 12 stored facts",
        as: ValueForm<Call>.choice
    )
    private static let times = Parameter.option(
        "--times",
        "N",
        "How often",
        as: ValueForm<Int>.integer(in: 1...1_000_000),
        default: "1000"
    )

    static let command = Command(
        "repeat",
        summary: "make one call many times, for a profiler",
        examples: [
            Example(
                "valgrind --tool=callgrind TideoverCoreBenchmarks repeat derive",
                "count its instructions"
            )
        ],
        parameters: [call, times],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let derivation = Derivation()
        let allocated = tideover_allocation_count()
        let (chosen, count) = (arguments[call], arguments[times])
        var sum = 0
        for _ in 0..<count {
            switch chosen {
            case .derive: sum += derivation.answerAndEvents()
            case .read: sum += derivation.read()
            }
        }
        let each = (tideover_allocation_count() - allocated) / UInt64(count)
        output.print("\(each) allocations a call, checksum \(sum)")
        return .success
    }
}
