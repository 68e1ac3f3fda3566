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

    public init(
        apps: [App],
        storage: any Storage,
        version: String,
        clock: @escaping Clock,
        log: @escaping Log
    ) {
        self.apps = Dictionary(uniqueKeysWithValues: apps.map { ($0.id, $0) })
        self.storage = storage
        self.version = version
        self.clock = clock
        self.log = log
        tallies = TallyBook(storage: storage, log: log)
        refusals = RefusalLog(log)
    }

    /// The handler to put on a socket, or to call as it is.
    public var handler: Handler {
        answeringProblems(report: report)(route)
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

    private func report(_ error: any Error, _ request: Request, _ id: String) {
        log(
            LogLine(
                .error,
                "request failed",
                code: "internal",
                detail: String(reflecting: type(of: error)),
                method: request.method,
                request: id
            )
        )
    }

    // MARK: Routes

    private func route(_ request: Request) async throws -> Response {
        guard let segments = request.segments else { throw Problem.notFound }
        do {
            return try await respond(to: request, at: segments)
        } catch let error as StorageError {
            log(LogLine(.error, "storage failed", code: "storage", detail: error.description))
            throw Problem.storageUnavailable
        }
    }

    private func respond(to request: Request, at segments: [String]) async throws -> Response {
        switch segments.count {
        case 1 where segments[0] == "healthz":
            try request.requireMethod("GET", "HEAD")
            return .json([
                "status": "ok", "version": .string(version), "time": .string(clock().rfc3339),
            ])
        case 5 where segments.starts(with: ["v1", "apps"]) && segments[3] == "customers":
            try request.requireMethod("GET", "HEAD")
            let route = SnapshotRoute(app: try app(segments[2]), storage: storage, clock: clock)
            return try await route.respond(to: request, customer: segments[4])
        case 6
        where segments.starts(with: ["v1", "apps"]) && segments[3] == "customers"
            && segments[5] == "explain":
            try request.requireMethod("GET", "HEAD")
            let route = ExplainRoute(app: try app(segments[2]), storage: storage, clock: clock)
            return try await route.respond(to: request, customer: segments[4])
        case 5
        where segments.starts(with: ["v1", "apps"])
            && segments[3...] == ["notifications", "app-store"]:
            try request.requireMethod("POST")
            return try await ingest(into: try app(segments[2])).respond(to: request)
        default:
            throw Problem.notFound
        }
    }

    private func app(_ id: String) throws -> App {
        guard let app = apps[id] else { throw Problem.unknownApp(id) }
        return app
    }

    private func ingest(into app: App) -> Ingest {
        Ingest(
            app: app,
            storage: storage,
            clock: clock,
            log: log,
            tallies: tallies,
            refusals: refusals
        )
    }
}

extension Request {
    fileprivate func requireMethod(_ allowed: String...) throws {
        guard allowed.contains(method) else { throw Problem.methodNotAllowed(allowed: allowed) }
    }
}
