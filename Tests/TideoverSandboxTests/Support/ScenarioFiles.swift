import Foundation
import TideoverSandbox

/// The project's scenario files.
enum ScenarioFiles {
    /// Returns the bytes of a file, found from a test file in this target's folder.
    static func read(_ name: String, from test: String = #filePath) throws -> [UInt8] {
        let folder = URL(fileURLWithPath: test).deletingLastPathComponent()
        let file = folder.appending(path: "../../Scenarios/\(name)")
        return Array(try Data(contentsOf: file))
    }
}

/// Returns the report of a scenario played against a system under test, by a store with new keys.
func played(_ scenario: Scenario, against target: ScenarioTarget) async throws -> ScenarioReport {
    try await ScenarioRunner(target: target, authority: SandboxAuthority()).run(scenario)
}
