import TideoverCommandLine
import TideoverCore
import TideoverRehearsal
import TideoverSandbox
import TideoverServer

/// A file of a scenario, and what came of playing it.
struct PlayedScenario {
    let path: String
    /// What happened; nil where the file is no scenario.
    let report: ScenarioReport?
    /// Why the file is no scenario.
    let fault: ScenarioError?
    /// Where the clock stood when it was over.
    let end: Instant

    var passed: Bool { report?.passed ?? false }
    /// Whether it came out otherwise than its file says.
    var failed: Bool { fault == nil && omission == nil && !passed }

    /// What went wrong, each in a line.
    var troubles: [String] {
        if let fault { return ["\(fault)"] }
        return report?.failures.map(\.trouble) ?? []
    }

    /// Why it was not played, although it is a scenario.
    let omission: BackEndVisit.Omission?

    /// Plays the scenario in a file: against a server of its own, or against a back end somewhere else.
    init(_ bytes: [UInt8], _ path: String, against visitor: BackEndVisit?) async throws {
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

/// Files that a scenario names, such as a catalogue of Xcode's.
enum ScenarioFiles {
    /// The bytes of a file that is named in another.
    static func read(_ file: String, beside path: String) throws -> [UInt8] {
        try FileInput.read(Configuration.path(of: file, besides: path), atMost: 8 << 20)
    }
}
