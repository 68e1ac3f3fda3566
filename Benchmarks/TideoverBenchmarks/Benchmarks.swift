import TideoverCommandLine

/// Measures the cost of notifications and reads, relative to this machine's maximum.
@main
enum Benchmarks {
    static func main() async {
        await program.main()
    }

    static let program = Program(
        "TideoverBenchmarks",
        version: "1",
        summary: "measure Tideover against the limits of this machine",
        examples: [
            Example("scripts/benchmarks.sh", "build everything and measure everything"),
            Example("scripts/benchmarks.sh in-process read", "measure two things"),
        ],
        notes: [
            "`run` starts the other commands, each on a core of its own; docs/performance.md says "
                + "what is measured and how to read it."
        ],
        commands: [
            Run.command, DeviceWork.command, SimulationWork.command, Growth.command,
            VacuumWork.command, Smoke.command, Prepare.command, InProcess.command,
            Committing.command, Host.command,
        ]
    )
}
