import TideoverCommandLine
import TideoverHTTP
import TideoverHTTPServer
import TideoverJSON
import TideoverRehearsal
import TideoverSandbox
import TideoverServer

/// `tideover demo`: plays a year of several customers against the real server code. It draws the
/// result, then serves it for the reader's own requests.
enum Demo {
    private static let noServe = Parameter.flag("--no-serve", "End after the story")
    private static let story = Parameter.flag("--story", "Print each event in order")
    private static let json = Parameter.flag("--json", "Write the story as one JSON object")
    private static let html = Parameter.option(
        "--html",
        "FILE",
        "Also write the year as a page for a browser; replaces only such a file"
    )
    private static let listen = Parameter.option(
        "--listen",
        "ADDRESS",
        "Where to serve afterwards",
        as: ValueForm("an address and port such as 127.0.0.1:8080") { ListenAddress($0) },
        default: "127.0.0.1:8080"
    )

    static let command = Command(
        "demo",
        summary: "play a year of subscribers in simulated stores, then serve it",
        examples: [
            Example("tideover demo", "draw the year, then answer curl on loopback"),
            Example(
                "tideover demo --no-serve",
                "draw it and end; exit code 0 if everything was right"
            ),
            Example("tideover demo --no-serve --html year.html", "and draw it for a browser"),
        ],
        parameters: [noServe, story, json, html, listen],
        notes: [
            "Only the stores are simulated; signed notifications, verification, storage and "
                + "answers are real. It needs no network and no account, and removes its data.",
            "Afterwards the dashboard's page of the stores continues the year: its buttons let "
                + "customers buy, fail to pay or be refunded, and its clock moves on.",
            "Each column of the picture is a few days, and shows the most serious event of "
                + "them. A wider terminal shows more columns. NO_COLOR turns colours off.",
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        if arguments[json], arguments[story] {
            throw arguments.usageError(.conflict("--json", "--story"))
        }
        if let path = arguments[html] {
            try FileOutput.check(path, replacing: RehearsalReportDrawing.beginning)
        }
        let stop = StopSignal()
        let scenario = try Scenario(reading: PackageResources.a_year_of_subscribers_json5)
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let rehearsal = try Rehearsal(scenario, in: folder, dashboard: true)
        let start = ContinuousClock.now
        let (report, session) = try await rehearsal.playIntoSession()
        let took = ContinuousClock.now - start
        let rehearsalReport = try await RehearsalReport(
            report,
            until: rehearsal.clock.now,
            took: took,
            asking: rehearsal.service.handler
        )
        if arguments[json] {
            write(report, rehearsalReport, output)
        } else if arguments[story] {
            StoryPrinter(output).print(report)
        } else {
            try await tell(rehearsalReport, report, rehearsal, output)
        }
        if let path = arguments[html] {
            try FileOutput.write(Array(RehearsalReportDrawing(rehearsalReport).page.utf8), to: path)
            output.message("tideover: the year is drawn in \(TextLayout.visible(path))")
        }
        if !arguments[noServe], !stop.hasArrived {
            let server = try rehearsal.listen(at: arguments[listen])
            if !arguments[json] {
                RehearsalReportWriter(rehearsalReport, output)
                    .tellQuestions(server.address, app: scenario.app.id)
            }
            let controlServer = await attach(session, to: rehearsal)
            if let link = rehearsal.service.makeDashboardLink() {
                let dashboard = "http://\(server.address)/dashboard"
                let sandbox = "\(dashboard)/apps/\(scenario.app.id)/sandbox"
                output.message("tideover: the dashboard is at \(dashboard)")
                output.message("tideover: continue the year by buttons at \(sandbox)")
                output.message("tideover: sign in once with http://\(server.address)\(link)")
            }
            let passing = Task { await controlServer.letTimePass(telling: output) }
            await Serve.serve(rehearsal.service, on: server, until: stop, output)
            passing.cancel()
            await passing.value
        }
        await rehearsal.close()
        return report.passed ? .success : .failure
    }

    /// Lets the page of the simulated stores drive the story's own. The server listens nowhere.
    static func attach(
        _ session: ScenarioSession,
        to rehearsal: Rehearsal
    ) async -> ControlServer {
        let storeServer = StoreServer(root: rehearsal.authority.root)
        let controlServer = await ControlServer(session, on: storeServer)
        rehearsal.attach(storeServer.handler)
        return controlServer
    }

    private static func write(
        _ report: ScenarioReport,
        _ rehearsalReport: RehearsalReport,
        _ output: Output
    ) {
        var story = report.json(asOf: rehearsalReport.until).object ?? [:]
        story["chronicle"] = .object(rehearsalReport.json)
        output.write(JSONValue.object(story).encoded(pretty: true) + [UInt8(ascii: "\n")])
    }

    private static func tell(
        _ rehearsalReport: RehearsalReport,
        _ report: ScenarioReport,
        _ rehearsal: Rehearsal,
        _ output: Output
    ) async throws {
        let teller = RehearsalReportWriter(rehearsalReport, output)
        teller.tell()
        StoryPrinter(output).printTroubles(report)
        guard let track = rehearsalReport.protagonist else { return }
        let (app, server) = (report.scenario.app.id, rehearsal.service.handler)
        teller.tell(
            why: try await RehearsalReport.answer("explain", of: track.person, app, server),
            of: track
        )
    }
}
