import Foundation
import Testing
import TideoverCore
import TideoverRehearsal
import TideoverSandbox

/// Some of the project's scenarios in accelerated time, with Tideover on a clock of its own.
@Suite(.timeLimit(.minutes(20))) struct PacedScenarioTests {
    private static func play(_ name: String, month: Int64) async throws -> ScenarioReport {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Scenarios/\(name)")
        let scenario = try Scenario(reading: Array(Data(contentsOf: folder)))
        return try await Rehearsal.played(
            scenario.askingForAccess,
            planting: { rehearsal, target in
                let clock = rehearsal.clock
                clock.now = Instant(millisecondsSince1970: 1_900_000_000_000)
                target.setClock = { _ in }
                target.pace = ScenarioPace(
                    month: month,
                    clock: { clock.now.millisecondsSince1970 },
                    sleep: { clock.now = clock.now + Milliseconds($0) }
                )
            },
            then: { $1 }
        )
    }

    /// A month takes five minutes, as in Apple's sandbox.
    @Test(
        arguments: [
            "app-store-recovered-in-grace", "app-store-recovered-in-retry",
            "app-store-trial-converted",
            "app-store-grace-then-retry", "app-store-refund-reversed", "app-store-sixty-days",
            "app-store-wire-retried", "app-store-upgrade", "app-store-cancelled-in-retry",
            "google-grace-recovered", "google-hold-recovered", "google-paused-and-resumed",
        ]
    )
    func `access comes out right in accelerated time`(_ name: String) async throws {
        let report = try await Self.play("\(name).json5", month: 300_000)
        for failure in report.failures { Issue.record("\(failure)") }
        #expect(!report.verdicts.isEmpty)
    }
}
