import TideoverCommandLine
import TideoverCore
import TideoverHTTP
import TideoverHTTPClient
import TideoverHTTPServer
import TideoverSQLite
import TideoverServer
import TideoverStorage

/// `tideover serve`: the server, until it is told to stop.
enum Serve {
    private static let clock = Parameter.option(
        "--clock",
        "URL",
        "Follow the clock of a simulated store",
        as: ValueForm("an http or https URL") { try? HTTPURL($0) }
    )

    static let command = Command(
        "serve",
        summary: "take notifications in and answer what customers may use",
        examples: [
            Example("tideover serve --config tideover.json", "serve what the file describes"),
            Example(
                "tideover serve --config tideover.json --clock http://127.0.0.1:9090/clock",
                "rehearse in a simulated store's time"
            ),
        ],
        parameters: [ConfigurationFile.required, clock],
        notes: [
            "Every scalar of the file can also be set as an environment variable: server.listen as "
                + "TIDEOVER_SERVER_LISTEN.",
            "With --clock the server's time is what GET URL answers, as "
                + "{\"now\": \"2026-05-06T10:00:00Z\"}, looked at every second, and what a request says "
                + "as Tideover-Clock; between two looks, and while nobody answers, it stands. Every app must serve the environment simulated "
                + "and no other.",
            "SIGTERM and SIGINT stop it: for server.drain it goes on while /readyz answers 503, running "
                + "requests finish, reports end, everything acknowledged is safe.",
        ],
        run: run
    )

    /// How long stopping waits for the last lines of the log to be written.
    private static let logPatience: Int64 = 1_000

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        // Whatever reads standard error may stall; requests and signals must not wait for it.
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
        let stop = StopSignal()
        let path = arguments[ConfigurationFile.required]
        let configuration = try ConfigurationFile.load(path, arguments, telling: output)
        try ConfigurationFile.requireClosedSecrets(of: configuration)
        let passes = try ConfigurationFile.passes(of: configuration)
        let followed = try await follow(arguments[clock], configuration, path)
        let adminKey = try ConfigurationFile.adminKey(of: configuration)
        let connections = try StoreConnections(
            configuration,
            clock: followed?.now ?? SystemClock.now
        )
        let apps = try configuration.apps.map {
            try App(
                $0,
                googlePlay: connections.googlePlay[$0.id],
                revenueCat: connections.revenueCat[$0.id],
                passes: passes
            )
        }
        for notice in connections.notices { output.message("tideover: \(notice)") }
        let storage = try open(configuration.storage)
        let log: Log = { line in
            output.message(String(decoding: line.json(at: SystemClock.now()), as: UTF8.self))
        }
        log(check(storage))
        let system = SystemInstruments(
            startedAt: SystemClock.now(),
            log: writer,
            storage: storage
        )
        let service: Service
        do {
            service = try Service(
                apps: apps,
                storage: storage,
                version: Tideover.version,
                clock: followed?.now ?? SystemClock.now,
                log: log,
                adminKey: adminKey,
                instruments: system.instruments,
                verifications: .processors,
                clients: ClientLimits(configuration.server),
                access: connections.access,
                copier: storage.copier
            )
        } catch {
            await storage.close()
            throw CommandFailure(.io, "\(error)")
        }
        tellOfKeys(service, configuration, path, output)
        let listen = configuration.server.listen
        let server: HTTPServer
        do {
            server = try HTTPServer(
                address: listen.host,
                port: listen.port,
                limits: HTTPServerLimits(configuration.server),
                report: { error, _, id in
                    let kind = String(reflecting: type(of: error))
                    log(LogLine(.error, "answer not sent", detail: kind, request: id))
                },
                handler: followed?.hearing(service.handler) ?? service.handler
            )
        } catch {
            await storage.close()
            throw CommandFailure(
                .unavailable,
                "cannot serve: \(error)\nAnother address can be set as server.listen."
            )
        }
        system.watch(server)
        let following = Task { await followed?.run(telling: output) }
        let pruning = Task { await service.prune(keeping: configuration.retention) }
        await serve(service, on: server, until: stop, draining: configuration.server.drain, output)
        pruning.cancel()
        await pruning.value
        following.cancel()
        await following.value
        system.watch(nil)
        await storage.close()
        return .success
    }

    /// Says what the keys leave closed, and how to open it.
    private static func tellOfKeys(
        _ service: Service,
        _ configuration: Configuration,
        _ path: String,
        _ output: Output
    ) {
        if service.isAdminKeyRevoked {
            output.message("tideover: the key in server.adminKeyFile was revoked: it opens nothing")
        }
        let apps = service.appsWithoutKey
        for app in apps {
            output.message(
                "tideover: no key opens the app \(app) yet; `tideover keys add --kind secret "
                    + "--app \(app) --config \(path)` makes one"
            )
        }
        if !apps.isEmpty, configuration.server.adminKeyFile == nil {
            output.message(
                "tideover: server.adminKeyFile is not set: keys are made while the server is stopped"
            )
        }
    }

    /// Serves until a signal asks to stop, then for so long as whoever sends it traffic needs to hear of
    /// it, then finishes what was begun.
    static func serve(
        _ service: Service,
        on server: HTTPServer,
        until stop: StopSignal,
        draining: Milliseconds = .zero,
        _ output: Output
    ) async {
        output.message("tideover: listening on http://\(server.address)")
        let counting = Task { await service.run() }
        let meeting = Task { await service.meetDeadlines() }
        let asking = Task { await service.backfill() }
        let keeping = Task { await service.keepUp() }
        let replaying = Task { await service.replay() }
        let listening = Task { await service.watchForSilence() }
        let weighing = Task { await service.watchForLockouts() }
        let pulling = Task { await service.pullNotifications() }
        await stop.arrival()
        service.beginDraining()
        output.message("tideover: stopping")
        try? await Task.sleep(for: .milliseconds(draining.count))
        service.endReports()
        await server.stop()
        counting.cancel()
        meeting.cancel()
        asking.cancel()
        keeping.cancel()
        replaying.cancel()
        listening.cancel()
        weighing.cancel()
        pulling.cancel()
        await counting.value
        await meeting.value
        await asking.value
        await keeping.value
        await replaying.value
        await listening.value
        await weighing.value
        await pulling.value
        await service.flushTallies()
    }

    /// The clock at a URL, if one is given. Nobody's real purchases may be judged by a time that a
    /// store of one's own makes up.
    static func follow(
        _ url: HTTPURL?,
        _ configuration: Configuration,
        _ path: String
    ) async throws(CommandFailure) -> FollowedClock? {
        guard let url else { return nil }
        if let app = configuration.apps.first(where: { $0.environments != [.simulated] }) {
            throw CommandFailure(
                .configuration,
                "--clock is for rehearsals: in \(path) the app \(app.id) serves "
                    + app.environments.map(\.rawValue).joined(separator: ", ")
                    + "\nWith --clock, every app has environments: [\"simulated\"]."
            )
        }
        do {
            return try await FollowedClock(at: url)
        } catch {
            throw CommandFailure(.unavailable, "no clock at \(url): \(error)")
        }
    }

    /// A larger database would keep the server from starting for long: reading it takes seconds.
    private static let mostBytesChecked: Int64 = 256 << 20

    /// Checks the database's structure; what the log says of it. A damaged one is served as far as it
    /// can be read, since some answers are better than none, and not written to: the stores repeat what
    /// is answered 503, and a write could damage more.
    private static func check(_ storage: SQLiteStorage) -> LogLine {
        let bytes = storage.byteCount
        let size = "\(bytes >> 20) MiB"
        guard bytes <= mostBytesChecked else {
            return LogLine(
                .info,
                "database not checked",
                detail: "\(size), more than \(mostBytesChecked >> 20) MiB: it would take long"
            )
        }
        let begin = ContinuousClock.now
        do {
            let problems = try storage.quickProblems()
            let (seconds, attoseconds) = begin.duration(to: .now).components
            let milliseconds = seconds * 1_000 + attoseconds / 1_000_000_000_000_000
            guard let first = problems.first else {
                return LogLine(
                    .info,
                    "database checked",
                    detail: "\(size) in \(milliseconds) ms"
                )
            }
            storage.prohibitWriting(first)
            return LogLine(
                .error,
                "database damaged",
                code: "corrupt",
                detail:
                    "\(first). Nothing is written to it, and notifications are answered 503. Stop "
                    + "the server and restore a backup, or export what can be read and import it "
                    + "into a new database."
            )
        } catch {
            return LogLine(.error, "database not checked", detail: error.description)
        }
    }

    private static func open(_ location: Configuration.StorageLocation) throws -> SQLiteStorage {
        guard case .sqlite(let path) = location else { preconditionFailure("only SQLite is read") }
        do {
            return try SQLiteStorage(path: path)
        } catch {
            throw CommandFailure(.cannotCreate, "\(error)")
        }
    }
}

extension HTTPServerLimits {
    /// The limits of connections as configured. This machine's own addresses stand for its proxy and
    /// back end, and so for all their clients.
    init(_ server: Configuration.Server) {
        self.init()
        connectionsPerAddress = server.limits.connectionsPerAddress
        sharedNetworks = IPNetwork.loopback + server.trustedProxies.networks
    }
}

extension ClientLimits {
    /// The limits of one client's refused notifications as configured.
    init(_ server: Configuration.Server) {
        self.init(
            trustedProxies: server.trustedProxies,
            refusalsPerMinute: server.limits.refusalsPerMinute
        )
    }
}
