import TideoverCommandLine
import TideoverCore
import TideoverHTTP
import TideoverHTTPServer
import TideoverJSON
import TideoverSandbox
import TideoverSignatures

/// `tideover sandbox serve`: a simulated store on loopback, until it is told to stop.
enum SandboxServe {
    private static let stage = Parameter.argument(
        "SCENARIO",
        "A file whose head says what is on sale and who the customers are; its steps are not played"
    )
    private static let listen = Parameter.option(
        "--listen",
        "ADDRESS",
        "Where the store answers",
        as: ValueForm("an address and port such as 127.0.0.1:9090") { ListenAddress($0) },
        default: "127.0.0.1:9090"
    )
    private static let speed = Parameter.option(
        "--speed",
        "FACTOR",
        "Let time pass by itself, this many times as fast as here; else it stands until told",
        as: .integer(in: 1...100_000_000)
    )

    static let command = Command(
        "serve",
        summary: "run a simulated store that a back end of yours is pointed at",
        examples: [
            Example(
                "tideover sandbox serve Examples/store.json5 --target http://127.0.0.1:8080 "
                    + "--authority store",
                "beside `tideover serve --clock http://127.0.0.1:9090/clock`"
            ),
            Example(
                "tideover sandbox serve Examples/store.json5 --target http://127.0.0.1:8090 "
                    + "--deliver /notifications --read-back '/customers/{customer}' --speed 86400",
                "a day a second, for a back end of yours"
            ),
        ],
        parameters: [stage, listen, speed] + BackEndVisit.parameters,
        notes: [
            "Steps are sent with `tideover sandbox control`, or as POST /control with a step of a "
                + "scenario file as the body.",
            "GET /clock answers {\"now\": \"2026-05-06T10:00:00.000Z\"}, GET /customers what the store "
                + "holds to be so, GET /root.der its root certificate. Everything else is asked of the "
                + "App Store Server API.",
            "It is open to whoever reaches the address: leave it on loopback.",
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let stop = StopSignal()
        guard let visit = try BackEndVisit(arguments, output) else {
            throw arguments.usageError(.missingOption("--target", valueName: "URL"))
        }
        let path = arguments[stage]
        let bytes = try FileInput.read(path, atMost: JSONLimits.local.maxBytes)
        let desk: StoreDesk
        do {
            let scene = try Scenario(stage: bytes) { try ScenarioFiles.read($0, beside: path) }
            desk = try await StoreDesk(scene, visit)
        } catch let fault as ScenarioError {
            throw CommandFailure(.data, "\(TextLayout.visible(path)): \(fault)")
        }
        let address = arguments[listen]
        let server: HTTPServer
        do {
            server = try HTTPServer(
                address: address.host,
                port: address.port,
                handler: desk.handler
            )
        } catch {
            throw CommandFailure(
                .unavailable,
                "cannot serve: \(error)\nChoose another with --listen."
            )
        }
        tell(of: desk, at: "http://\(server.address)", visit, output)
        let passing = arguments[speed].map { speed in
            Task { await desk.letTimePass(speed, telling: output) }
        }
        await stop.arrival()
        passing?.cancel()
        await passing?.value
        await server.stop()
        return .success
    }

    private static func tell(
        of desk: StoreDesk,
        at url: String,
        _ visit: BackEndVisit,
        _ output: Output
    ) {
        output.message("tideover: a simulated App Store on \(url)")
        output.message("tideover: its clock is \(url)/clock, its root certificate \(url)/root.der")
        if let folder = visit.folder {
            output.message(
                "tideover: it may be asked with issuer id \(AuthorityFolder.issuerId), key id "
                    + "\(AuthorityFolder.keyId) and the key in \(folder.keyPath)"
            )
        } else {
            output.message("tideover: give --authority FOLDER for a key with which it may be asked")
        }
    }
}
