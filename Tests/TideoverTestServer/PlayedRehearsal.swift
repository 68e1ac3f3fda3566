import Foundation
import TideoverConfiguration
import TideoverHTTP
import TideoverJSON
import TideoverRehearsal
import TideoverSandbox
import TideoverServer

extension Rehearsal {
    /// Plays a scenario in a temporary folder, and passes its result to `then`.
    static func played<Result>(
        _ scenario: Scenario,
        keepsUp: Bool = false,
        revenueCatSDK: RevenueCatSDK? = nil,
        planting: (Rehearsal, inout ScenarioTarget) -> Void = { _, _ in },
        then: (Rehearsal, ScenarioReport) async throws -> Result
    ) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "tideover-scenario-\(UUID().uuidString)"
        )
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let rehearsal = try Rehearsal(
            scenario,
            in: folder.path,
            version: "test",
            revenueCatSDK: revenueCatSDK
        )
        let report = try await rehearsal.play(keepsUp: keepsUp) { planting(rehearsal, &$0) }
        let result = try await then(rehearsal, report)
        await rehearsal.close()
        return result
    }

    /// Returns a route's response to the admin key.
    func get(_ target: String) async throws -> JSONValue {
        try await service.get(target, credentials)
    }
}
