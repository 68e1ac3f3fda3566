import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverStorage

/// The state of the readiness check, and when it must be repeated.
///
/// Times are nanoseconds of a monotonic clock.
package struct ReadinessState {
    /// How long a result is valid, so that requests cause at most one write a second.
    package static let freshness: Int64 = 1_000_000_000
    /// How long a check may take before it counts as failed. Load balancers wait 1 to 5 seconds.
    package static let patience: Int64 = 2_000_000_000
    /// How long a commit that did not fit on the disk counts more than a check: the small write of
    /// the check can still fit.
    package static let fullness: Int64 = 30_000_000_000

    /// Whether the server is about to stop; then results are ignored.
    package private(set) var isDraining = false
    private var finding: (isReady: Bool, at: Int64)?
    private var checkBegan: Int64?
    private var isFullUntil: Int64?

    package init() {}

    /// The action for a readiness request.
    package enum Asked: Hashable { case answer(isReady: Bool), check }

    package mutating func asked(at now: Int64) -> Asked {
        if let isFullUntil, now < isFullUntil { return .answer(isReady: false) }
        if let checkBegan {
            // Without any result the server is not known to be ready.
            let isPatient = now - checkBegan < Self.patience
            return .answer(isReady: isPatient && finding?.isReady == true)
        }
        if let finding, now - finding.at < Self.freshness {
            return .answer(isReady: finding.isReady)
        }
        checkBegan = now
        return .check
    }

    package mutating func beginDraining() { isDraining = true }

    /// Records a failed commit that is likely to fail again: not ready until a check succeeds. If
    /// it did not fit on the disk, not ready until a commit succeeds, or for `fullness`: a balancer
    /// that sends nothing more must not wait for a commit.
    package mutating func commitFailed(at now: Int64, isFull: Bool = false) {
        finding = (false, now)
        if isFull { isFullUntil = now + Self.fullness }
    }

    package mutating func committed() { isFullUntil = nil }

    package mutating func checked(isReady: Bool, at now: Int64) {
        finding = (isReady, now)
        checkBegan = nil
    }
}

/// Answers `GET /readyz`: whether the storage can be written and read, checked at most once a
/// second by one request at a time. It also reports that the server is about to stop.
///
/// A server is ready although other servers on the storage have another configuration, or a worker
/// fails or is stuck: it could answer. The response has these findings.
final class Readiness: Sendable {
    private let storage: any Storage
    private let uptime: @Sendable () -> Int64
    private let log: Log
    private let servers: @Sendable () -> ServersReading?
    private let workers: WorkerWatch
    private let state: Locked<ReadinessState>
    private let threads: TaskThreads?

    /// No app can have this id, so the checks are not part of any app's counts.
    private static let place = "_readiness"
    private static let check = Tally(environment: nil, kind: "readiness", name: "checks")

    init(
        _ state: Locked<ReadinessState>,
        storage: any Storage,
        uptime: @escaping @Sendable () -> Int64,
        servers: @escaping @Sendable () -> ServersReading?,
        workers: WorkerWatch,
        threads: TaskThreads?,
        log: @escaping Log
    ) {
        self.state = state
        self.threads = threads
        self.servers = servers
        self.workers = workers
        self.storage = storage
        self.uptime = uptime
        self.log = log
    }

    /// Reports from now on that the server is about to stop.
    func beginDraining() { state.withLock { $0.beginDraining() } }

    func respond() async throws -> Response {
        if state.withLock({ $0.isDraining }) { throw Problem.draining }
        guard await isReady() else { throw Problem.notReady }
        var checks: JSONObject = ["storage": "ok"]
        if let servers = servers() {
            checks["configuration"] = servers.differing == 0 ? "same" : "differs"
        }
        var body: JSONObject = ["status": "ready"]
        let workers = workers.readings(at: uptime())
        let findings = workers.filter { $0.condition != .running }
        if !workers.isEmpty { checks["workers"] = findings.isEmpty ? "ok" : "failing" }
        body["checks"] = .object(checks)
        if !findings.isEmpty { body["workers"] = .array(findings.map(\.json)) }
        return .json(.object(body), headers: ["Cache-Control": "no-store"])
    }

    private func isReady() async -> Bool {
        switch state.withLock({ $0.asked(at: uptime()) }) {
        case .answer(let isReady): return isReady
        case .check: return await isReady(within: .nanoseconds(ReadinessState.patience))
        }
    }

    /// Checks the storage. A database that hangs answers no sooner if the task is cancelled, so the
    /// check has a task of its own, which continues after the response.
    private func isReady(within limit: Duration) async -> Bool {
        let (results, result) = AsyncStream.makeStream(of: Bool.self)
        Task(executorPreference: threads) { [self] in
            let isReady = await works()
            state.withLock { $0.checked(isReady: isReady, at: uptime()) }
            result.yield(isReady)
        }
        let end = Task {
            try await Task.sleep(for: limit)
            let waited = "no answer within \(limit.components.seconds) s"
            log(LogLine(.error, "not ready", code: "storage", detail: waited))
            result.yield(false)
        }
        defer { end.cancel() }
        return await results.first { _ in true } ?? false
    }

    private func works() async -> Bool {
        do {
            try await storage.add([Self.check: 1], app: Self.place)
            return try storage.counts(app: Self.place)[Self.check] != nil
        } catch {
            log(LogLine(.error, "not ready", code: "storage", detail: error.description))
            return false
        }
    }
}
