import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverRehearsal
import TideoverSandbox
import TideoverServer

/// A scenario file and the result of playing it.
struct PlayedScenario {
    let path: String
    /// The report; nil if the file is not a scenario.
    let report: ScenarioReport?
    /// Why the file is not a scenario.
    let fault: ScenarioError?
    /// The clock's last instant.
    let end: Instant

    var passed: Bool { report?.passed ?? false }
    /// Whether the result differs from the file's expectations.
    var failed: Bool { fault == nil && omission == nil && !passed }

    /// The failures, one per line.
    var troubles: [String] {
        if let fault { return ["\(fault)"] }
        return report?.failures.map(\.trouble) ?? []
    }

    /// Why a valid scenario was skipped.
    let omission: TargetOptions.Omission?

    /// Plays the scenario of a file, against its own server or against a back end elsewhere.
    init(_ bytes: [UInt8], _ path: String, against visitor: TargetOptions?) async throws {
        self.path = path
        let scenario: Scenario
        do {
            scenario = try Scenario(reading: bytes, salt: visitor?.salt(of: path) ?? 0) { file in
                try ScenarioFiles.read(file, beside: path)
            }
        } catch {
            (report, fault, omission, end) = (nil, error, nil, .distantPast)
            return
        }
        fault = nil
        if let visitor {
            omission = visitor.omission(of: scenario)
            guard omission == nil else {
                (report, end) = (nil, .distantPast)
                return
            }
            (report, end) = try await visitor.play(scenario)
            return
        }
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let rehearsal = try Rehearsal(scenario, in: folder)
        report = try await rehearsal.play()
        omission = nil
        end = rehearsal.clock.now
        await rehearsal.close()
    }
}

/// Files that a scenario names, such as an Xcode catalogue.
enum ScenarioFiles {
    /// Reads a file that another file names.
    static func read(_ file: String, beside path: String) throws -> [UInt8] {
        try FileInput.read(Configuration.path(of: file, besides: path), atMost: 8 << 20)
    }
}
