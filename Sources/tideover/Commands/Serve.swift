import Glibc
import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverHTTPClient
import TideoverHTTPServer
import TideoverLocks
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

    /// The next pass of a copy would remove what a server adds to its target.
    private static func requireWhole(_ storage: any Storage) async throws {
        let state: CopyState?
        do {
            state = try CopyState(of: storage)
        } catch {
            // Reported by the check of the storage.
            return
        }
        guard state == .begun else { return }
        await storage.close()
        throw CommandFailure(
            .cannotCreate,
            "the storage is an incomplete copy\n"
                + "Run `tideover migrate` again, without --while-serving, until it ends with 0."
        )
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
        try await requireWhole(storage.storage)
        storage.check(log)
        let id = Probes.randomID()
        let replica = try storage.replica(configuration.replica, readBy: id)
        let announcer = ServerAnnouncer(storage, id: id, log: log, replica: replica)
        let system = SystemProbes(
            startedAt: SystemClock.now(),
            log: writer,
            storage: storage,
            announcer: announcer
        )
        let localKey = APIKey(.admin) { .random(in: .min ... .max) }
        let sandbox = try connect(followed, arguments[clock])
        let maker = ServiceMaker(
            path: path,
            storage: storage,
            replica: replica?.reading,
            probes: system.probes,
            clock: followed?.now ?? SystemClock.now,
            // A store's clock can stand still, and a wait by it would not end.
            patience: followed == nil ? .minutes(5) : .zero,
            localKey: localKey,
            trustedProxies: configuration.server.trustedProxies,
            log: log,
            sandbox: sandbox
        )
        let reloader = Reloader(log: log) { former, adopting in
            if let adopting {
                return try maker.make(adopting, succeeding: former, adoptsRules: true)
            }
            let (configuration, settings) = try load(path, arguments, log)
            if followed != nil { try requireSimulated(configuration, path) }
            return try maker.make(configuration, settings: settings, succeeding: former)
        }
        let live: LiveService
        do {
            let served = try maker.make(configuration, settings: settings) {
                await reloader.reload()
            }
            live = LiveService(served.service, on: storage.threads)
        } catch {
            await storage.storage.close()
            throw error
        }
        await reloader.prepare(live.service)
        tellOfKeys(live.service, configuration, path, log)
        let report: FailureReport = { error, _, id in
            let kind = String(reflecting: type(of: error))
            log(LogLine(.error, "answer not sent", detail: kind, request: id))
        }
        let listen = arguments[Self.listen] ?? configuration.server.listen
        let sdkListen = configuration.server.sdkListen
        let threads: TaskThreads
        do {
            threads = try storage.threads ?? TaskThreads(most: Self.mostThreads)
        } catch {
            await storage.storage.close()
            throw CommandFailure(.cannotCreate, "the system has no thread left")
        }
        let server: HTTPServer
        let sdkServer: HTTPServer?
        do {
            func serve(at address: ListenAddress, _ entrance: Service.Entrance) throws -> HTTPServer
            {
                let handler = live.handler(at: entrance)
                return try HTTPServer(
                    address: address.host,
                    port: address.port,
                    limits: HTTPServerLimits(configuration, at: entrance),
                    executor: threads,
                    report: report,
                    rejection: { live.service.rejection($0, of: $1, at: entrance) },
                    handler: followed?.hearing(handler) ?? handler
                )
            }
            sdkServer = try sdkListen.map { try serve(at: $0, .sdk) }
            server = try serve(at: listen, sdkListen == nil ? .all : .withoutSDK)
        } catch {
            await storage.storage.close()
            throw CommandFailure(
                .unavailable,
                "cannot serve: \(error)\n"
                    + "Other addresses can be set as server.listen and server.sdkListen."
            )
        }
        system.watch(server)
        let local = listenLocally(configuration, live, localKey, report, log)
        StopSignal.on(SIGHUP) { Task { _ = await reloader.reload() } }
        await reloader.start(configuration, live)
        // Unlike the workers of a service, these outlive a reload.
        let workers = [
            followed?.worker(log: log), reloader.follower(of: live),
            announcer.worker { await reloader.fingerprint },
        ]
        let standing = Task(executorPreference: live.threads) {
            await live.service.supervise(workers.compactMap(\.self))
        }
        if let sdkServer {
            log(LogLine(.info, "listening for SDKs", detail: "http://\(sdkServer.address)"))
        }
        log(LogLine(.info, "listening", detail: "http://\(server.address)"))
        await stop.arrival()
        await reloader.refuse()
        live.service.beginDraining()
        log(LogLine(.info, "stopping"))
        try? await Task.sleep(for: .milliseconds(configuration.server.drain.count))
        live.service.endReports()
        // At once, because each may wait ten seconds for its last requests.
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await local?.stop() }
            group.addTask { await sdkServer?.stop() }
            group.addTask { await server.stop() }
        }
        standing.cancel()
        await standing.value
        await announcer.withdraw()
        await reloader.stop()
        system.watch(nil)
        await storage.storage.close()
        return .success
    }

    /// The number of threads that handle requests other than reads, unless the storage has its own.
    /// Verifications occupy at most half of them, and other requests do not wait behind those.
    private static let mostThreads = 2 * WorkLimits.processors.running

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

    /// Opens the socket for commands of the same user. Without it, they need the admin key.
    ///
    /// It is beside an SQLite file, which commands cannot open while the server runs. They can open
    /// a PostgreSQL database.
    private static func listenLocally(
        _ configuration: Configuration,
        _ live: LiveService,
        _ key: APIKey,
        _ report: @escaping FailureReport,
        _ log: Log
    ) -> LocalHTTPServer? {
        guard case .sqlite(let database) = configuration.storage else { return nil }
        let path = AdminClient.socket(besides: database)
        do {
            let handler = live.handler()
            return try LocalHTTPServer(socket: path, report: report) { request in
                try await handler(request.presenting(key))
            }
        } catch {
            log(LogLine(.warning, "no local socket", detail: "\(path): \(error)"))
            return nil
        }
    }

    /// Logs a revoked admin key, and each app without a key with the command to create one.
    private static func tellOfKeys(
        _ service: Service,
        _ configuration: Configuration,
        _ path: String,
        _ log: Log
    ) {
        if service.isAdminKeyRevoked {
            log(
                LogLine(
                    .warning,
                    "admin key revoked",
                    detail: "the server does not accept the key in server.adminKeyFile"
                )
            )
        }
        for app in service.appsWithoutKey {
            let command = "tideover keys add --kind secret --app \(app) --config \(path)"
            log(LogLine(.warning, "app without key", app: app, detail: "create one: \(command)"))
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

extension HTTPServerLimits {
    /// A receipt of StoreKit 1 can be larger than other requests.
    private static let receiptBytes = 2 << 20

    /// The configured limits. Addresses of this machine and of trusted proxies have no limit of
    /// their own, because each represents many clients.
    init(_ configuration: Configuration, at entrance: Service.Entrance = .all) {
        self.init()
        let server = configuration.server
        connectionsPerAddress = server.limits.connectionsPerAddress
        sharedNetworks = IPNetwork.loopback + server.trustedProxies.networks
        let hasSDK = configuration.apps.contains { $0.revenueCat?.sdk != nil }
        if hasSDK, entrance != .withoutSDK { bodyBytes = Self.receiptBytes }
    }
}
