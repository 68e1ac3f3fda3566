import TideoverCommandLine
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSandbox

/// `tideover sandbox run`: plays complete scenarios.
enum SandboxRun {
    private static let files = Parameter.arguments(
        "SCENARIO",
        "Scenario files as Scenarios/README.md describes them, or - for standard input"
    )
    private static let story = Parameter.flag("--story", "Print each event in order")
    private static let junit = Parameter.option(
        "--junit",
        "FILE",
        "Also write the result as JUnit XML, for CI; replaces only such a file"
    )
    private static let json = Parameter.flag("--json", "Write one JSON object")
    private static let storeListen = Parameter.option(
        "--store-listen",
        "ADDRESS",
        "With --target: the address of the stores; by default they listen only for Google "
            + "Play's scenarios, on \(defaultAddress)",
        as: ValueForm("an address and port such as 127.0.0.1:9090") { ListenAddress($0) }
    )
    private static let salt = Parameter.option(
        "--salt",
        "NUMBER",
        "With --target: create the same customers as an earlier run, which printed its number",
        as: .integer(in: 0...Int(Int32.max))
    )
    private static let defaultAddress = "127.0.0.1:9090"

    static let command = Command(
        "run",
        summary: "play scenarios in a simulated store, against Tideover or any other back end",
        examples: [
            Example("tideover sandbox run Scenarios/*.json5", "every rehearsal of the project"),
            Example("tideover sandbox run my-case.json5 --story", "one of yours, event by event"),
            Example("tideover sandbox run *.json5 --junit rehearsals.xml", "for a CI system"),
            Example(
                "tideover sandbox run Scenarios/app-store-*.json5 --target http://127.0.0.1:8090 "
                    + "--deliver /notifications --read-back '/customers/{customer}' --access premium",
                "against your back end, and check only access"
            ),
            Example(
                "tideover sandbox run Scenarios/google-*.json5 --target http://127.0.0.1:8080 "
                    + "--authority store",
                "against one that queries Google with the key file store/service-account.json"
            ),
            Example(
                "tideover sandbox run my-case.json5 --target http://127.0.0.1:8090 "
                    + "--deliver /notifications --read-back '/customers/{customer}' --access premium "
                    + "--month 30s",
                "against one that uses its own clock"
            ),
        ],
        parameters: [files, story, junit, json] + TargetOptions.parameters + [storeListen, salt],
        notes: [
            "Each file is played with a new store, a new server and its own clock, without a "
                + "port or network.",
            "With --target the store's messages and the requests go to a back end over HTTP. "
                + "Each request has the store's time as Tideover-Clock: 2026-05-06T10:00:00.000Z; "
                + "a build of the back end for rehearsals should use it as its clock. Only "
                + "Tideover can play a device's actions.",
            "Use --month for a back end with its machine's clock: the case begins now, a "
                + "month takes as long as you set, and no date is ahead of the clock. An hour of "
                + "the store should last longer than a request: with a month of 30s it is 42 ms.",
            "A back end must query Google Play about its notifications. So the stores listen "
                + "during the scenarios, at one address for all of Google and the App Store Server "
                + "API. With --authority FOLDER they keep their keys there: root.der and "
                + "AuthKey_REHEARSAL1.p8 for the App Store, service-account.json for Google.",
            "A run stops early with the scenarios of a store if the back end accepts none of its "
                + "notifications. It prints what to check.",
            "Exit code 0 if every expectation of every file holds; 1 if one fails; 65 if a "
                + "file is not a scenario, and the others are still played; 66 if a file does not "
                + "exist; 73 if the file of --junit cannot be written, checked before the start; 2 "
                + "for a malformed command line.",
        ]
    ) { arguments, output in
        if arguments[json], arguments[story] {
            throw arguments.usageError(.conflict("--json", "--story"))
        }
        if let path = arguments[junit] {
            try FileOutput.check(path, replacing: JUnitReport.beginning)
        }
        let visitor = try visitor(arguments, output)
        // A missing file is reported before any scenario is played.
        let texts = try arguments[files].map { path in
            (path, try FileInput.read(path, atMost: JSONLimits.local.maxBytes))
        }
        let progress = Progress("playing", total: texts.count, on: output)
        var played: [PlayedScenario] = []
        for (path, bytes) in texts {
            played.append(try await PlayedScenario(bytes, path, against: visitor))
            progress.advance()
        }
        progress.finish()
        await visitor?.storeServer.close()
        visitor?.reviewAnswers()
        if arguments[json] {
            output.write(json(of: played).encoded(pretty: true) + [UInt8(ascii: "\n")])
        } else {
            print(played, tellingStories: arguments[story], output)
        }
        if let path = arguments[junit] { try JUnitReport(played).write(to: path) }
        if played.contains(where: { $0.fault != nil }) { return .data }
        return played.contains(where: \.failed) ? .failure : .success
    }

    /// Returns the back end under rehearsal; nil if it is Tideover itself.
    private static func visitor(
        _ arguments: Arguments,
        _ output: Output
    ) throws -> TargetOptions? {
        let address = arguments[storeListen]
        guard var visitor = try TargetOptions(arguments, output) else {
            guard address == nil else {
                throw arguments.usageError(.needs("--store-listen", other: "--target"))
            }
            guard arguments[salt] == nil else {
                throw arguments.usageError(.needs("--salt", other: "--target"))
            }
            return nil
        }
        let drawn = arguments[salt] ?? Int.random(in: 0...Int(Int32.max))
        output.message("tideover: customers are created with --salt \(drawn)")
        visitor.salt = UInt64(drawn)
        if let address {
            try visitor.listen(at: address, orWith: "--store-listen")
        } else {
            visitor.address = ListenAddress(defaultAddress)
        }
        return visitor
    }

    // MARK: For people

    /// Limits the printed failures. Stores retry a message for a week if it is never accepted.
    private static let mostTroubles = 12

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
            } else if scenario.fault != nil || scenario.failed {
                let path = TextLayout.visible(scenario.path)
                output.print(output.resultTerminal.styled(path, .strong))
                let troubles = scenario.troubles
                for trouble in troubles.prefix(mostTroubles) {
                    output.print("  \(TextLayout.visible(trouble))")
                }
                if troubles.count > mostTroubles {
                    output.print(
                        "  ... and \(troubles.count - mostTroubles) more; see --story"
                    )
                }
                output.print()
            }
        }
        // A narrow terminal shortens the last column.
        var table = Table([
            .init("held", .trailing), .init("of", .trailing), .init("naive lockouts", .trailing),
            .init("naive gifts", .trailing), .init("scenario"),
        ])
        for scenario in played { table.add(row(scenario, printer)) }
        output.print(table)
        let passed = played.count(where: \.passed)
        let tried = played.count { $0.omission == nil }
        output.print("\n\(passed) of \(TextLayout.counted(tried, "scenario")) passed.")
        for omission in TargetOptions.Omission.allCases {
            let omitted = played.count { $0.omission == omission }
            guard omitted > 0 else { continue }
            let verb = omitted == 1 ? "was" : "were"
            output.print("\(omitted) \(verb) not played: \(omission.words).")
        }
        output.print(
            "\"naive\" counts the moments at which a check of the expiry date would lock out an "
                + "entitled customer, or serve another."
        )
    }

    private static func row(
        _ scenario: PlayedScenario,
        _ printer: StoryPrinter
    ) -> [Table.Cell] {
        guard let report = scenario.report else {
            let cell: Table.Cell =
                scenario.omission == nil ? .init("no scenario", .bad) : "not played"
            return [cell, "", "", "", .init(scenario.path)]
        }
        let mistakes = printer.naiveMistakes(in: report)
        let held = "\(report.verdicts.count(where: \.holds))"
        return [
            scenario.passed ? .init(held) : .init(held, .bad),
            .init("\(report.verdicts.count)"), .init("\(mistakes.count { $0 == .lockedOut })"),
            .init("\(mistakes.count { $0 == .servedUnpaid })"), .init(report.scenario.name),
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
                        "notPlayed": scenario.omission.map { .string($0.words) } ?? .null,
                        "story": scenario.report?.json(asOf: scenario.end) ?? .null,
                    ]
                }
            ),
        ]
    }
}
