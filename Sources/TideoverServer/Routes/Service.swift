import TideoverCore
public import TideoverHTTP
import TideoverJSON
public import TideoverStorage

/// Tideover as one function from request to response. It opens no socket and no database: both are
/// handed in.
public struct Service: Sendable {
    let apps: [String: App]
    let storage: any Storage
    let clock: Clock
    let log: Log
    public let version: String
    /// What was refused or not understood, until it is stored.
    let tallies: TallyBook
    let refusals: RefusalLog
    /// What was counted since the start, for `/metrics`.
    let metrics: Metrics
    let readiness: Readiness
    /// What every notification passes before it is verified.
    package let verifications: Gate
    /// Who sends what is refused again and again.
    let budget: RefusalBudget
    let instruments: Instruments

    public init(
        apps: [App],
        storage: any Storage,
        version: String,
        clock: @escaping Clock,
        log: @escaping Log,
        instruments: Instruments = Instruments(),
        verifications: WorkLimits = WorkLimits(),
        clients: ClientLimits = ClientLimits()
    ) {
        let metrics = Metrics()
        let storage = WatchedStorage(storage, metrics: metrics, uptime: instruments.uptime)
        self.apps = Dictionary(uniqueKeysWithValues: apps.map { ($0.id, $0) })
        self.storage = storage
        self.version = version
        self.clock = clock
        self.log = log
        self.metrics = metrics
        self.instruments = instruments
        self.verifications = Gate(verifications)
        budget = RefusalBudget(clients, uptime: instruments.uptime)
        readiness = Readiness(storage: storage, uptime: instruments.uptime, log: log)
        tallies = TallyBook(storage: storage, log: log)
        refusals = RefusalLog(log)
        for app in apps { metrics.expect(app) }
    }

    /// The handler to put on a socket, or to call as it is. It throws nothing.
    public var handler: Handler {
        { request in await answer(request) }
    }

    /// Stores what has been counted since the last time, and logs what was only counted.
    public func flushTallies() async {
        refusals.flush()
        await tallies.flush()
    }

    /// Stores counts every `interval` until cancelled, then once more.
    public func run(every interval: Duration = .seconds(1)) async {
        while !Task.isCancelled {
            try? await Task.sleep(for: interval)
            await flushTallies()
        }
    }

    // MARK: Routes

    /// Everything that is answered; the OpenAPI document lists the same.
    package static let routes: [Route] = [
        Route("GET", "/healthz") { service, _ in service.health },
        Route("GET", "/readyz") { service, _ in try await service.readiness.respond() },
        Route("GET", "/metrics") { service, _ in MetricsRoute(service).respond() },
        Route("GET", "/openapi.json") { _, call in OpenAPIDocument.respond(to: call.request) },
        Route("GET", "/v1/apps/{app}/customers/{customer}") { service, call in
            try await SnapshotRoute(
                app: service.app(call["app"]),
                storage: service.storage,
                clock: service.clock
            ).respond(to: call.request, customer: call["customer"])
        },
        Route("GET", "/v1/apps/{app}/customers/{customer}/explain") { service, call in
            try await ExplainRoute(
                app: service.app(call["app"]),
                storage: service.storage,
                clock: service.clock
            ).respond(to: call.request, customer: call["customer"])
        },
        Route("POST", "/v1/apps/{app}/notifications/app-store") { service, call in
            try await Ingest(
                app: service.app(call["app"]),
                storage: service.storage,
                clock: service.clock,
                log: service.log(of: call),
                tallies: service.tallies,
                metrics: service.metrics,
                verifications: service.verifications,
                budget: service.budget
            ).respond(to: call.request)
        },
    ]

    func respond(to call: Call) async throws -> Response {
        guard let route = call.route else { throw Problem.notFound }
        guard route.allowedMethods.contains(call.request.method) else {
            throw Problem.methodNotAllowed(allowed: route.allowedMethods)
        }
        do {
            return try await route.respond(self, call)
        } catch let error as StorageError {
            log(of: call)(
                LogLine(.error, "storage failed", code: "storage", detail: error.description)
            )
            throw Problem.storageUnavailable
        }
    }

    private var health: Response {
        .json(["status": "ok", "version": .string(version), "time": .string(clock().rfc3339)])
    }

    private func app(_ id: String) throws -> App {
        guard let app = apps[id] else { throw Problem.unknownApp(id) }
        return app
    }

    /// The log, with the request's id on every line.
    private func log(of call: Call) -> Log {
        { line in
            var line = line
            line.request = call.id
            log(line)
        }
    }
}
