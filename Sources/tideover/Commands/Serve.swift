import Glibc
import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverHTTPClient
import TideoverHTTPServer
import TideoverPostgreSQL
import TideoverServer
import TideoverStorage

/// `tideover serve`: runs the server until a signal.
enum Serve {
    private static let clock = Parameter.option(
        "--clock",
        "URL",
        "Use the clock of a simulated store",
        as: ValueForm("an http or https URL") { try? HTTPURL($0) }
    )

    private static let listen = Parameter.option(
        "--listen",
        "ADDRESS",
        "Where to listen, instead of server.listen",
        as: ValueForm("an address such as localhost:8080") { ListenAddress($0) }
    )

    static let command = Command(
        "serve",
        summary: "receive notifications and answer what customers may use",
        examples: [
            Example("tideover serve", "serve the apps of the configuration file"),
            Example(
                "tideover serve --clock http://127.0.0.1:9090/clock",
                "rehearse in a simulated store's time"
            ),
        ],
        parameters: [ConfigurationFile.parameter, listen, clock],
        notes: [
            "Most scalars of the file can also be set as an environment variable: server.listen as "
                + "TIDEOVER_SERVER_LISTEN.",
            "With --clock the server reads its time from the URL each second, as {\"now\": "
                + "\"2026-05-06T10:00:00Z\"}, and from Tideover-Clock of each request. In between, "
                + "and if the URL does not answer, the time stops. Every app must serve only the "
                + "environment simulated.",
            "SIGTERM and SIGINT stop it: /readyz answers 503 for server.drain, running "
                + "requests finish, reports end, and everything acknowledged is stored. SIGHUP "
                + "reloads the configuration like `tideover reload`.",
            "It creates a socket beside the database, with .sock added to the name. Commands "
                + "of the same user connect to it without a key.",
            "Exit code 0 after SIGTERM or SIGINT; 66 if the configuration does not exist; 69 if "
                + "the address is in use; 73 if the database cannot be opened, also because "
                + "another process has it open; 78 if the configuration is invalid.",
        ],
        run: run
    )

    /// How long, in milliseconds, shutdown waits for the last lines of the log.
    private static let logPatience: Int64 = 1_000

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        // The reader of standard error may stall. Requests and signals must not wait for it.
        let writer = try BackgroundWriter(to: output.messages) { count in
            let line = LogLine(.warning, "log lines dropped", detail: "\(count)")
            return line.json(at: SystemClock.now()) + [UInt8(ascii: "\n")]
        }
        defer { writer.finish(within: logPatience) }
        let output = Output(
            results: output.results,
            messages: Sink(writer),
            resultTerminal: output.resultTerminal,
            messageTerminal: output.messageTerminal
        )
        return try await run(arguments, output, writer)
    }

    private static func run(
        _ arguments: Arguments,
        _ output: Output,
        _ writer: BackgroundWriter
    ) async throws -> ExitCode {
        let stop = StopSignal([SIGTERM, SIGINT])
        let path = try ConfigurationFile.path(arguments)
        let log: Log = { line in
            output.message(String(decoding: line.json(at: SystemClock.now()), as: UTF8.self))
        }
        let (configuration, settings) = try load(path, arguments, log)
        let followed = try await follow(arguments[clock], configuration, path)
        let storage = try await OpenStorage(configuration.storage)
        let start = Start(
            path: path,
            arguments: arguments,
            configuration: configuration,
            settings: settings,
            followed: followed,
            storage: storage,
            log: log,
            writer: writer
        )
        do {
            try await serve(start, until: stop)
        } catch {
            await storage.storage.close()
            throw error
        }
        await storage.storage.close()
        return .success
    }

    /// What is read and opened before the server starts.
    private struct Start {
        let path: String
        let arguments: Arguments
        let configuration: Configuration
        let settings: [Configuration.Setting]
        let followed: FollowedClock?
        let storage: OpenStorage
        let log: Log
        let writer: BackgroundWriter
    }

    private static func serve(_ start: Start, until stop: StopSignal) async throws {
        let (configuration, storage, log) = (start.configuration, start.storage, start.log)
        try await requireWhole(storage.storage)
        storage.check(log)
        let id = Probes.randomID()
        let replica = try storage.replica(configuration.replica, readBy: id)
        let announcer = ServerAnnouncer(storage, id: id, log: log, replica: replica)
        let system = SystemProbes(
            startedAt: SystemClock.now(),
            log: start.writer,
            storage: storage,
            announcer: announcer
        )
        let localKey = APIKey(.admin) { .random(in: .min ... .max) }
        let maker = try maker(start, system.probes, replica: replica?.reading, localKey)
        let reloader = reloader(start, maker)
        let served = try maker.make(configuration, settings: start.settings) {
            await reloader.reload()
        }
        let live = LiveService(served.service, on: storage.threads)
        await reloader.prepare(live.service)
        logKeys(of: live.service, start)
        let sockets = try ServerSockets(
            live,
            configuration,
            listen: start.arguments[listen] ?? configuration.server.listen,
            followed: start.followed,
            localKey: localKey,
            log: log
        )
        system.watch(sockets.server)
        StopSignal.on(SIGHUP) { Task { _ = await reloader.reload() } }
        await reloader.start(configuration, live)
        // Unlike the workers of a service, these outlive a reload.
        let workers = [
            start.followed?.worker(log: log), reloader.follower(of: live),
            announcer.worker { await reloader.fingerprint },
        ]
        let supervision = Task(executorPreference: live.threads) {
            await live.service.supervise(workers.compactMap(\.self))
        }
        sockets.logAddresses(log)
        await stop.arrival()
        await reloader.refuse()
        live.service.beginDraining()
        log(LogLine(.info, "stopping"))
        try? await Task.sleep(for: .milliseconds(configuration.server.drain.count))
        live.service.endReports()
        await sockets.stop()
        supervision.cancel()
        await supervision.value
        await announcer.withdraw()
        await reloader.stop()
        system.watch(nil)
    }

    /// The next pass of a copy would remove what a server adds to its target.
    private static func requireWhole(_ storage: any Storage) async throws(CommandFailure) {
        // A failed read is reported by the check of the storage.
        guard let state = try? CopyState(of: storage), state == .begun else { return }
        throw CommandFailure(
            .cannotCreate,
            "the storage is an incomplete copy\n"
                + "Run `tideover migrate` again, without --while-serving, until it ends with 0."
        )
    }

    private static func maker(
        _ start: Start,
        _ probes: Probes,
        replica: ReplicaReading?,
        _ localKey: APIKey
    ) throws -> ServiceMaker {
        ServiceMaker(
            path: start.path,
            storage: start.storage,
            replica: replica,
            probes: probes,
            clock: start.followed?.now ?? SystemClock.now,
            // A store's clock can stand still, and a wait by it would not end.
            patience: start.followed == nil ? .minutes(5) : .zero,
            localKey: localKey,
            trustedProxies: start.configuration.server.trustedProxies,
            log: start.log,
            sandbox: try connect(start.followed, start.arguments[clock])
        )
    }

    private static func reloader(_ start: Start, _ maker: ServiceMaker) -> Reloader {
        Reloader(log: start.log) { former, adopting in
            if let adopting {
                return try maker.make(adopting, succeeding: former, adoptsRules: true)
            }
            let (configuration, settings) = try load(start.path, start.arguments, start.log)
            if start.followed != nil { try requireSimulated(configuration, start.path) }
            return try maker.make(configuration, settings: settings, succeeding: former)
        }
    }

    /// Loads the configuration. Rejects secret files that other users can read, and logs notices.
    private static func load(
        _ path: String,
        _ arguments: Arguments,
        _ log: Log
    ) throws -> (configuration: Configuration, settings: [Configuration.Setting]) {
        let (configuration, settings) = try ConfigurationFile.loadWithSettings(path, arguments)
        try ConfigurationFile.requireClosedSecrets(of: configuration)
        for notice in configuration.notices {
            log(LogLine(.warning, "configuration", detail: notice))
        }
        return (configuration, settings)
    }

    /// Logs a revoked admin key, and each app without a key with the command to create one.
    private static func logKeys(of service: Service, _ start: Start) {
        if service.isAdminKeyRevoked {
            start.log(
                LogLine(
                    .warning,
                    "admin key revoked",
                    detail: "the server does not accept the key in server.adminKeyFile"
                )
            )
        }
        for app in service.appsWithoutKey {
            let command = "tideover keys add --kind secret --app \(app) --config \(start.path)"
            start.log(
                LogLine(.warning, "app without key", app: app, detail: "create one: \(command)")
            )
        }
    }

    /// Serves until a signal arrives, then finishes running requests.
    static func serve(
        _ service: Service,
        on server: HTTPServer,
        until stop: StopSignal,
        _ output: Output
    ) async {
        output.message("tideover: listening on http://\(server.address)")
        let work = ServiceWork(service)
        await stop.arrival()
        service.beginDraining()
        output.message("tideover: stopping")
        service.endReports()
        await server.stop()
        await work.stop()
    }

    /// Returns the clock at a URL, if one is given. Real purchases must not be judged by a
    /// simulated store's clock.
    static func follow(
        _ url: HTTPURL?,
        _ configuration: Configuration,
        _ path: String
    ) async throws(CommandFailure) -> FollowedClock? {
        guard let url else { return nil }
        try requireSimulated(configuration, path)
        do {
            return try await FollowedClock(at: url)
        } catch {
            throw CommandFailure(.unavailable, "no clock at \(url): \(error)")
        }
    }

    private static func connect(
        _ clock: FollowedClock?,
        _ url: HTTPURL?
    ) throws(CommandFailure) -> SandboxConnection? {
        guard let clock, let url else { return nil }
        do {
            return try SandboxConnection(clock, at: url)
        } catch {
            throw CommandFailure(.unavailable, "no connection to \(url): \(error)")
        }
    }

    private static func requireSimulated(
        _ configuration: Configuration,
        _ path: String
    ) throws(CommandFailure) {
        guard let app = configuration.apps.first(where: { $0.environments != [.simulated] }) else {
            return
        }
        throw CommandFailure(
            .configuration,
            "--clock is for rehearsals: in \(path) the app \(app.id) serves "
                + app.environments.map(\.rawValue).joined(separator: ", ")
                + "\nWith --clock, every app has environments: [\"simulated\"]."
        )
    }
}
