import Glibc
import TideoverCommandLine
import TideoverHTTP
import TideoverServer

/// `smoke`: runs every part of the measures once, so that they keep working. It measures nothing,
/// and needs neither OpenSSL's command nor wrk.
enum Smoke {
    static let command = Command(
        "smoke",
        summary: "try the parts of the benchmarks, in about a second",
        examples: [Example("TideoverBenchmarks smoke", "exit code 0 if everything works")],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let folder = try Run.makeFolder(in: "/tmp")
        defer { Files.removeFolder(folder) }
        let stage = try await Stage(
            folder: folder,
            tideover: "",
            itself: "",
            seconds: 1,
            notifications: 100
        )
        guard (18_000...20_500).contains(stage.corpus.bodyBytes) else {
            throw CommandFailure(.failure, "a body has \(stage.corpus.bodyBytes) bytes")
        }
        for reading in try InProcess.measure(in: folder, nanoseconds: 50_000_000) {
            output.print("\(reading.processorMicroseconds.written) us in process")
        }
        let committed = try await Committing(folder: folder).measure(count: 50)
        output.print("\(committed.processorMicroseconds.written) us committed")
        try await commit(to: "\(folder)/smoke.db", stage)
        output.print("50 customers committed")
        output.print(try await DashboardPages(stage: stage, count: 20).smoke())
        for line in try await DeviceWork.smoke(in: folder) { output.print(line) }
        output.print(try SimulationWork.smoke())
        return .success
    }

    private static func commit(to database: String, _ stage: Stage) async throws {
        let configured = try Setting.load("\(stage.folder)/\(Stage.configuration)")
        try await Loading(
            path: database,
            app: try App(configured),
            store: stage.store,
            now: stage.now
        ).load(1..<51)
    }
}
