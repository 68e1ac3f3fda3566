import Foundation
import Testing
import TideoverRehearsal
import TideoverSandbox

/// Complete lives, sent by the simulated stores to a server on PostgreSQL.
// One after another: each server has several connections.
@Suite(.onPostgreSQL, .serialized) struct `A server on PostgreSQL` {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Scenarios")

    private static let files: [String] = {
        let all = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
        return (all ?? []).filter { $0.hasSuffix(".json5") }.sorted()
    }()

    @Test(arguments: files)
    func `gives the answers that a scenario expects`(file: String) async throws {
        let bytes = Array(try Data(contentsOf: Self.folder.appending(path: file)))
        let scenario = try Scenario(reading: bytes)
        let database = try TestDatabase()
        let rehearsal = try Rehearsal(scenario, on: await database.open(), version: "test")
        let report = try await rehearsal.play()
        await rehearsal.close()
        for failure in report.failures { Issue.record("\(failure)") }
        #expect(report.passed)
        #expect(!report.verdicts.isEmpty)
    }
}
