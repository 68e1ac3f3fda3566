import TideoverCommandLine
import TideoverHTTPServer
import TideoverJSON
import TideoverRehearsal
import TideoverSandbox

/// `tideover demo`: a subscriber's life, played by the simulated App Store against the real server
/// room, and then served so that the reader can ask for himself.
enum Demo {
    private static let noServe = Parameter.flag("--no-serve", "End after the story")
    private static let json = Parameter.flag("--json", "Write the story as one JSON object")
    private static let listen = Parameter.option(
        "--listen",
        "ADDRESS",
        "Where to serve afterwards",
        as: ValueForm("an address and port such as 127.0.0.1:8080") { ListenAddress($0) },
        default: "127.0.0.1:8080"
    )

    static let command = Command(
        "demo",
        summary: "play a subscriber's life in a simulated store, then serve it",
        examples: [
            Example("tideover demo", "play the story, then answer curl on loopback"),
            Example("tideover demo --no-serve", "play it and end; exit code 0 if all went well"),
        ],
        parameters: [noServe, json, listen],
        notes: [
            "Everything is real but the store: signed notifications, verification, storage and "
                + "answers. No network and no account is needed; nothing is kept."
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let stop = StopSignal()
        let scenario = try Scenario(reading: PackageResources.one_subscribers_life_json5)
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let rehearsal = try Rehearsal(scenario, in: folder)
        let report = try await rehearsal.play()
        if arguments[json] {
            let story = report.json(asOf: rehearsal.clock.now)
            output.write(story.encoded(pretty: true) + [UInt8(ascii: "\n")])
        } else {
            StoryPrinter(output).print(report)
        }
        if !arguments[noServe], !stop.hasArrived {
            let server = try rehearsal.listen(at: arguments[listen])
            if !arguments[json] {
                StoryPrinter(output).printQuestions(
                    report,
                    server.address,
                    asOf: rehearsal.clock.now
                )
            }
            await Serve.serve(rehearsal.service, on: server, until: stop, output)
        }
        await rehearsal.close()
        return report.passed ? .success : .failure
    }
}
