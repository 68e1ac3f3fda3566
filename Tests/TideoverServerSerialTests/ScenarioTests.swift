import Foundation
import Testing
import TideoverRehearsal
import TideoverSandbox

@testable import TideoverTestServer

/// Complete lives, sent by the simulated store to the real server.
@Suite struct ScenarioTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Scenarios")

    static let files: [String] = {
        let all = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
        return (all ?? []).filter { $0.hasSuffix(".json5") }.sorted()
    }()

    @Test func `the folder contains scenarios`() {
        #expect(!Self.files.isEmpty)
    }

    @Test(arguments: files)
    func `a scenario passes, and the answers match the state of the store`(
        file: String
    ) async throws {
        let bytes = Array(try Data(contentsOf: Self.folder.appending(path: file)))
        let scenario = try Scenario(reading: bytes)
        let report = try await Rehearsal.played(scenario) { $1 }
        for failure in report.failures { Issue.record("\(failure)") }
        #expect(report.passed)
        #expect(!report.verdicts.isEmpty)
        // In these scenarios the first answers are wrong. They rehearse drift, a purchase without a
        // token, outdated store responses, or a missing service account.
        let isWrongAtFirst = [
            "drift-", "app-store-bought-outside", "app-store-family-", "google-store-answers-stale",
            "google-first-answer-stale", "google-no-credentials-",
        ].contains { file.hasPrefix($0) }
        for reading in isWrongAtFirst ? report.readings.suffix(1) : report.readings[...] {
            #expect(reading.mistake(about: "premium") == nil, "at \(reading.at)")
        }
    }

    /// The certificates of the store are valid until 2100, and not before 2000.
    @Test(arguments: [("0000", false), ("2026", true), ("2500", false)])
    func `a scenario may last for centuries`(year: String, passes: Bool) async throws {
        let text = """
            { scenario: "Long", source: "a test",
              app: { id: "cards", bundleId: "com.example.cards" },
              products: { "cards.pro": { entitlements: ["premium"], group: "pro", period: "P1M",
                          price: "9.99 USD" } },
              customers: { anna: {} }, start: "\(year)-05-01T10:00:00Z",
              steps: [
                { do: "subscribe", expect: { premium: { access: true } } },
                { after: "1 d", do: "cancel" },
                { after: "400 years", expect: { premium: { access: false } } },
              ] }
            """
        let scenario = try Scenario(reading: Array(text.utf8))
        let report = try await Rehearsal.played(scenario) { $1 }
        #expect(report.passed == passes)
        #expect(report.verdicts.count == 2)
    }
}
