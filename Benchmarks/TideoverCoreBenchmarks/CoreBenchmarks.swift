import TideoverCommandLine

/// Measures the core alone: no store, no socket, no storage.
@main
enum CoreBenchmarks {
    static func main() async {
        await program.main()
    }

    static let program = Program(
        "TideoverCoreBenchmarks",
        version: "1",
        summary: "measure what thinking costs: standing, timeline, report",
        examples: [Example("scripts/core-benchmarks.sh", "build and measure everything")],
        commands: [Measure.command, Repeat.command]
    )
}
