import Glibc
import TideoverCommandLine

/// `run`: measures in rounds, with OpenSSL's own benchmark between any two measures.
enum Run {
    private static let names = Parameter.arguments(
        "NAME",
        "What to measure; everything if none is named",
        isRequired: false,
        as: ValueForm<Measure>.choice
    )
    static let tideover = Parameter.requiredOption(
        "--tideover",
        "FILE",
        "The executable to measure"
    )
    private static let folder = Parameter.option(
        "--folder",
        "FOLDER",
        "Where a folder for databases is made: on the disk that is to be measured",
        default: "/tmp"
    )
    private static let rounds = Parameter.option(
        "--rounds",
        "N",
        "How often each is measured",
        as: ValueForm<Int>.integer(in: 1...20),
        default: "3"
    )
    private static let seconds = Parameter.option(
        "--seconds",
        "N",
        "How long one measure runs",
        as: ValueForm<Int>.integer(in: 1...60),
        default: "4"
    )
    private static let postgres = Parameter.option(
        "--postgres",
        "ADDRESS",
        "An otherwise unused PostgreSQL, as in the configuration; without it, it is not measured"
    )
    private static let json = Parameter.flag("--json", "Write the report as one JSON object")

    static let command = Command(
        "run",
        summary: "measure, and report what falls short",
        examples: [Example("TideoverBenchmarks run --tideover .build/release/tideover", "all")],
        parameters: [names, tideover, folder, rounds, seconds, postgres, json],
        notes: [
            "The exit code is 0 whatever the figures are: they are reported, not tested."
        ],
        run: run
    )

    /// How long OpenSSL signs, and then verifies, between two measures.
    private static let yardstickSeconds = 3

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        guard sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1 else {
            throw CommandFailure(.unavailable, "one core is measured and another loads it")
        }
        let folder = try makeFolder(in: arguments[folder])
        defer { Files.removeFolder(folder) }
        let report = try await report(arguments, in: folder, output)
        if arguments[json] {
            output.write(report.json + [UInt8(ascii: "\n")])
        } else {
            report.print(to: output)
        }
        return .success
    }

    private static func report(
        _ arguments: Arguments,
        in folder: String,
        _ output: Output
    ) async throws -> Report {
        let chosen = Set(arguments[names])
        let measures = Measure.allCases.filter { measure in
            guard chosen.isEmpty else { return chosen.contains(measure) }
            return measure != .postgres || arguments[postgres] != nil
        }
        var report = Report(machine: Machine.description(in: folder))
        var verifications = try Yardstick.verifications(in: folder, seconds: yardstickSeconds)
        output.message("minting notifications")
        let stage = try await Stage(
            folder: folder,
            tideover: arguments[tideover],
            itself: CommandLine.arguments[0],
            seconds: arguments[seconds],
            // No server can verify more; the additional quarter covers the variation between two
            // runs.
            notifications: Int(verifications / 3 * 1.25) * arguments[seconds],
            postgres: arguments[postgres]
        )
        report.bodyBytes = stage.corpus.bodyBytes
        for measure in measures {
            output.message("preparing \(measure.rawValue)")
            try await measure.prepare(stage)
        }
        if measures.contains(.scale) { report.files = files(of: stage) }
        for round in 1...arguments[rounds] {
            for measure in measures {
                output.message("round \(round): \(measure.rawValue)")
                let readings = try await measure.round(stage)
                let before = verifications
                verifications = try Yardstick.verifications(in: folder, seconds: yardstickSeconds)
                report.rounds.append(
                    Report.Round(readings: readings, before: before, after: verifications)
                )
            }
        }
        return report
    }

    private static func files(of stage: Stage) -> [(name: String, megabytes: Double)] {
        Measure.Size.allCases.map { size in
            ("database of \(size.rawValue) customers", stage.megabytes(of: size.database))
        }
    }

    static func makeFolder(in parent: String) throws -> String {
        var template = Array("\(parent)/tideover-benchmarks-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else {
            throw CommandFailure(.cannotCreate, "cannot make a folder in \(parent)")
        }
        return String(cString: made)
    }
}
