import Foundation
import Testing
import TideoverCore
import TideoverRehearsal
import TideoverSandbox

@testable import TideoverTestServer

/// The project's scenarios in accelerated time, with Tideover on a clock of its own.
@Suite(.timeLimit(.minutes(20))) struct PacedScenarioTests {
    private static func play(_ name: String, month: Int64) async throws -> ScenarioReport {
        let file = ScenarioTests.folder.appending(path: name)
        let scenario = try Scenario(reading: Array(Data(contentsOf: file)))
        return try await Rehearsal.played(
            scenario,
            planting: { rehearsal, target in
                let clock = rehearsal.clock
                clock.now = Instant(millisecondsSince1970: 1_900_000_000_000)
                target.setClock = { _ in }
                target.tellsAccessAlone = true
                target.pace = ScenarioPace(
                    month: month,
                    clock: { clock.now.millisecondsSince1970 },
                    sleep: { clock.now = clock.now + Milliseconds($0) }
                )
            },
            then: { $1 }
        )
    }

    /// RevenueCat's data is dated by the stores' clock alone, so its scenarios are played with
    /// Tideover in the stores' time.
    private static let files = ScenarioTests.files.filter { file in
        !lengths.contains(file) && !file.hasPrefix("revenuecat-")
    }

    /// Scenarios that depend on fixed lengths, which are not compressed with the store's: the
    /// lifetime of Google's keys, and the sixty days during which tokens can be queried.
    private static let lengths = ["google-push-new-key.json5", "google-ended-unheard.json5"]

    /// A month takes five minutes, as in Apple's sandbox.
    // One in three; all are also played at the normal pace.
    @Test(arguments: files.enumerated().filter { $0.offset.isMultiple(of: 3) }.map(\.element))
    func `access is correct in accelerated time`(_ file: String) async throws {
        let report = try await Self.play(file, month: 300_000)
        for failure in report.failures { Issue.record("\(failure)") }
        #expect(!report.verdicts.isEmpty)
    }
}
