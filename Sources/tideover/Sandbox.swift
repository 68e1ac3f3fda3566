import TideoverCommandLine
import TideoverCore
import TideoverJSON
import TideoverSandbox

/// `tideover sandbox`: a store on one's own desk.
enum Sandbox {
    private static let files = Parameter.arguments(
        "SCENARIO",
        "Scenario files as Scenarios/README.md describes them, or - for standard input"
    )
    private static let story = Parameter.flag("--story", "Tell what happened, moment by moment")
    private static let junit = Parameter.option(
        "--junit",
        "FILE",
        "Write the outcome as JUnit XML too, for CI"
    )
    private static let json = Parameter.flag("--json", "Write one JSON object")

    static let command = Command(
        "sandbox",
        summary: "rehearse what can happen to a subscription",
        examples: [
            Example("tideover sandbox run Scenarios/*.json5", "every rehearsal of the project")
        ],
        subcommands: [run]
    )

    private static let run = Command(
        "run",
        summary: "play scenarios in a simulated store, against the server's own rooms",
        examples: [
            Example("tideover sandbox run Scenarios/*.json5", "every rehearsal of the project"),
            Example("tideover sandbox run my-case.json5 --story", "one of yours, as it happened"),
            Example("tideover sandbox run *.json5 --junit rehearsals.xml", "for a CI system"),
        ],
        parameters: [files, story, junit, json],
        notes: [
            "Each file is played by itself: a new store, a new server, a clock of its own, no port "
                + "and no network.",
            "Exit code 0 when every expectation of every file held; 1 when one did not; 65 when a "
                + "file is no scenario. That does not keep the others from being played.",
        ]
    ) { arguments, output in
        if arguments[json], arguments[story] {
            throw arguments.usageError(.conflict("--json", "--story"))
        }
        let progress = Progress("playing", total: arguments[files].count, on: output)
        var played: [PlayedScenario] = []
        for path in arguments[files] {
            let bytes = try FileInput.read(path, atMost: JSONLimits.local.maxBytes)
            played.append(try await PlayedScenario(bytes, path))
            progress.advance()
        }
        progress.finish()
        if arguments[json] {
            output.write(json(of: played).encoded(pretty: true) + [UInt8(ascii: "\n")])
        } else {
            print(played, tellingStories: arguments[story], output)
        }
        if let path = arguments[junit] { try JUnitReport(played).write(to: path) }
        if played.contains(where: { $0.fault != nil }) { return .data }
        return played.allSatisfy(\.passed) ? .success : .failure
    }

    // MARK: For people

    private static func print(
        _ played: [PlayedScenario],
        tellingStories: Bool,
        _ output: Output
    ) {
        let printer = StoryPrinter(output)
        for scenario in played {
            if let report = scenario.report, tellingStories {
                printer.print(report)
                output.print()
            } else if !scenario.passed {
                let path = TextLayout.visible(scenario.path)
                output.print(output.resultTerminal.styled(path, .strong))
                for trouble in scenario.troubles {
                    output.print("  \(TextLayout.visible(trouble))")
                }
                output.print()
            }
        }
        var table = Table([
            .init("scenario"), .init("held", .trailing), .init("of", .trailing),
            .init("naive lockouts", .trailing), .init("naive gifts", .trailing),
        ])
        for scenario in played { table.add(row(scenario, printer)) }
        output.print(table)
        let passed = played.count(where: \.passed)
        output.print("\n\(passed) of \(played.count) scenarios passed.")
        output.print("\"naive\" counts the moments at which a check of the expiry date would err.")
    }

    private static func row(
        _ scenario: PlayedScenario,
        _ printer: StoryPrinter
    ) -> [Table.Cell] {
        guard let report = scenario.report else {
            return [.init(scenario.path), .init("no scenario", .bad), "", "", ""]
        }
        let mistakes = printer.naiveMistakes(in: report)
        let held = "\(report.verdicts.count(where: \.holds))"
        return [
            .init(report.scenario.name), scenario.passed ? .init(held) : .init(held, .bad),
            .init("\(report.verdicts.count)"), .init("\(mistakes.count { $0 == .lockedOut })"),
            .init("\(mistakes.count { $0 == .servedUnpaid })"),
        ]
    }

    // MARK: For machines

    private static func json(of played: [PlayedScenario]) -> JSONValue {
        [
            "passed": .integer(Int64(played.count(where: \.passed))),
            "scenarios": .array(
                played.map { scenario in
                    [
                        "file": .string(scenario.path),
                        "passed": .bool(scenario.passed),
                        "fault": scenario.fault.map { .string("\($0)") } ?? .null,
                        "story": scenario.report?.json(asOf: scenario.end) ?? .null,
                    ]
                }
            ),
        ]
    }
}

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

    /// What went wrong, each in a line.
    var troubles: [String] {
        if let fault { return ["\(fault)"] }
        return report?.failures.map(\.trouble) ?? []
    }

    /// Plays the scenario in a file against a server of its own.
    init(_ bytes: [UInt8], _ path: String) async throws {
        self.path = path
        let scenario: Scenario
        do {
            scenario = try Scenario(reading: bytes)
        } catch {
            report = nil
            fault = error
            end = .distantPast
            return
        }
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let rehearsal = try Rehearsal(scenario, folder)
        report = try await rehearsal.play()
        fault = nil
        end = rehearsal.clock.now()
        await rehearsal.close()
    }
}
