import TideoverCommandLine
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSandbox

/// `tideover sandbox serve`: serves simulated stores on loopback until a signal.
enum SandboxServe {
    private static let file = Parameter.argument(
        "SCENARIO",
        "A file with products and customers; its steps are not played"
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
        "Run time this many times faster; without it, time stops between steps",
        as: .integer(in: 1...100_000_000)
    )
    private static let clock = Parameter.option(
        "--clock",
        "CLOCK",
        "Use the store's clock, or the machine's, which the store then never passes",
        as: ValueForm<StoreClockChoice>.choice
    )

    private static let salt = Parameter.option(
        "--salt",
        "NUMBER",
        "Create the same customers and purchases as an earlier start, which printed its number",
        as: .integer(in: 0...Int(Int32.max))
    )

    static let command = Command(
        "serve",
        summary: "run simulated stores for your back end",
        examples: [
            Example(
                "tideover sandbox serve Examples/store.json5 --target http://127.0.0.1:8080 "
                    + "--authority store",
                "beside `tideover serve --clock http://127.0.0.1:9090/clock`"
            ),
            Example(
                "tideover sandbox serve Examples/store.json5 --target http://127.0.0.1:8080 "
                    + "--authority store --state store/state.json",
                "continue tomorrow where you end today"
            ),
            Example(
                "tideover sandbox serve Examples/store.json5 --target http://127.0.0.1:8090 "
                    + "--deliver /notifications --read-back '/customers/{customer}' --speed 86400",
                "a day a second, for a back end that uses the store's time"
            ),
            Example(
                "tideover sandbox serve Examples/store.json5 --target http://127.0.0.1:8090 "
                    + "--deliver /notifications --read-back '/customers/{customer}' --month 5min",
                "from today on, for one that uses its own clock"
            ),
        ],
        parameters: [file, listen, speed, clock, StateFile.option, salt]
            + TargetOptions.neededParameters,
        notes: [
            "Send steps with `tideover sandbox control`, or as POST /control with a step of "
                + "a scenario file as the body.",
            "GET /clock answers {\"now\": \"2026-05-06T10:00:00.000Z\"}, GET /customers the "
                + "store's state, GET /root.der the App Store's root certificate. All other paths "
                + "are those of the App Store Server API and of Google: tokens at /token, the keys "
                + "of pushes at /oauth2/v3/certs, the Play Developer API and Pub/Sub.",
            "Each start creates new ids for customers and purchases, so that a back end can "
                + "keep its data. With --salt they are those of an earlier start, with --state "
                + "those in the state file. Ids in the scenario file stay as they are.",
            "The file of --state contains no key; use --authority to keep the stores' keys. "
                + "It is written after each step, every few seconds and at the end.",
            "With --month the store begins today, and its dates follow the machine's clock. "
                + "With --clock wall and a file that begins in the past, its dates stay as "
                + "written, and --speed ends at now. No event is ever ahead of the clock.",
            "If the back end rejects a message while time passes by itself, standard error "
                + "reports each kind once, and the counts at the end. `sandbox control` prints the "
                + "results of a step.",
            "It has no authorization: keep it on loopback.",
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let stop = StopSignal()
        guard var targetOptions = try TargetOptions(arguments, output) else {
            throw arguments.usageError(.missingOption("--target", valueName: "URL"))
        }
        let path = arguments[file]
        let bytes = try FileInput.read(path, atMost: JSONLimits.local.maxBytes)
        let stage: Scenario
        let state = arguments[StateFile.option].map { StateFile(path: $0) }
        do {
            stage = try self.stage(in: bytes, of: path, kept: try state?.read(), arguments, output)
        } catch let error as ScenarioError {
            throw CommandFailure(.data, "\(TextLayout.visible(path)): \(error)")
        }
        guard stage.revenueCat == nil else {
            throw CommandFailure(
                .data,
                "\(TextLayout.visible(path)): RevenueCat is simulated by `tideover sandbox run` alone"
            )
        }
        try setClock(of: &targetOptions, for: stage, arguments, output)
        try targetOptions.listen(at: arguments[listen], orWith: "--listen")
        let controlServer = try await ControlServer(
            stage,
            targetOptions,
            speed: Int64(arguments[speed] ?? 0),
            state: state
        )
        // Saves once before serving, so that a failure is reported before any state is lost.
        try await controlServer.keep()
        let passing = Task { await controlServer.letTimePass(telling: output) }
        let keeping = Task { await controlServer.keepNowAndThen(telling: output) }
        await stop.arrival()
        passing.cancel()
        keeping.cancel()
        await passing.value
        await keeping.value
        await targetOptions.storeServer.close()
        try await controlServer.keep()
        return .success
    }

    /// Returns the scenario of a file: a saved state, or a new one with random ids.
    private static func stage(
        in bytes: [UInt8],
        of path: String,
        kept: [UInt8]?,
        _ arguments: Arguments,
        _ output: Output
    ) throws -> Scenario {
        func drawn(with salt: UInt64) throws(ScenarioError) -> Scenario {
            try Scenario(stage: bytes, salt: salt) { try ScenarioFiles.read($0, beside: path) }
        }
        if let kept, arguments[salt] == nil {
            let written = try drawn(with: 0).seed
            return try drawn(with: written ^ (ScenarioSession.seed(of: kept) ?? written))
        }
        let number = arguments[salt] ?? Int.random(in: 0...Int(Int32.max))
        let stage = try drawn(with: UInt64(number))
        if let kept, let seed = ScenarioSession.seed(of: kept), seed != stage.seed {
            throw CommandFailure(
                .data,
                "the file of --state was created with another salt; remove --salt, or name another "
                    + "file to start again"
            )
        }
        output.message("tideover: customers and purchases are created with --salt \(number)")
        return stage
    }

    /// Switches the stores to the machine's clock if the command line requests it.
    private static func setClock(
        of targetOptions: inout TargetOptions,
        for stage: Scenario,
        _ arguments: Arguments,
        _ output: Output
    ) throws {
        if arguments[WallPace.month] != nil {
            if arguments[speed] != nil {
                throw arguments.usageError(.conflict("--month", "--speed"))
            }
            if arguments[StateFile.option] != nil {
                throw CommandFailure(
                    .usage,
                    "with --month a store begins now at each start, so its state cannot be stored; "
                        + "remove --state, or use --speed instead of --month"
                )
            }
            if arguments[clock] == .store {
                throw arguments.usageError(.conflict("--month", "--clock store"))
            }
            return
        }
        guard arguments[clock] == .wall else { return }
        guard stage.start <= SystemClock.now().millisecondsSince1970 else {
            throw CommandFailure(
                .data,
                "the file begins in the future, which --clock wall does not allow; use --month, "
                    + "which begins now, or an earlier `start`"
            )
        }
        targetOptions.pace = WallPace.pace(month: nil, output)
    }
}
