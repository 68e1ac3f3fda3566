import TideoverCore
import TideoverLocks
import TideoverStorage

/// Stops experiments of an app with an arm that does harm.
///
/// A stop is recorded as a version of the policy. So every server follows it, it survives a
/// restart, and an answer as of an earlier instant does not include it.
struct ExperimentWorker: Sendable {
    let context: AppContext
    let environment: Environment
    let service: Service

    private var app: App { context.app }

    /// The interval of the checks; each reads all customers.
    static let interval = Duration.seconds(3_600)

    var worker: Worker {
        Worker(.experiments, app: app.id, environment: environment, every: Self.interval) {
            let stops = try await stops()
            if !stops.isEmpty { try await record(stops) }
        }
    }

    /// Returns the stops that the customers of the environment call for, by experiment.
    private func stops() async throws -> [String: Experiment.Stop] {
        let now = context.clock()
        let running = app.policy.experiments.filter { $0.phase(at: now) == .running }
        guard !running.isEmpty else { return [:] }
        let rows = try await onQuietThread { read in
            try PurchaseWalk(context, environment, until: now, read).experiments(running)
        }
        var stops: [String: Experiment.Stop] = [:]
        for report in rows.reports { stops[report.experiment.id] = report.neededStop }
        return stops
    }

    /// Records stops in each environment, because they share the policy. A service without the
    /// newest policy leaves them to the service that replaces it.
    private func record(_ stops: [String: Experiment.Stop]) async throws {
        guard try !service.hasOutdatedRules() else { return }
        let now = context.clock()
        let dated = stops.mapValues { Experiment.Stop(at: now, reason: $0.reason, arm: $0.arm) }
        let version = PolicyVersion(app.rules.stopping(dated), at: now)
        var isRecorded = false
        for each in app.environments {
            let isNew = try await context.storage.record(version, in: AppScope(app.id, each))
            isRecorded = isRecorded || isNew
        }
        guard isRecorded else { return }
        service.recordedRules.withLock { $0 = true }
        for (name, stop) in stops.sorted(by: { $0.key < $1.key }) {
            let why = "\(stop.reason.rawValue) rise with the arm \(stop.arm)"
            try await audit("The experiment \(name) was stopped: \(why).", name, now)
            context.log(
                .error,
                "experiment stopped",
                in: environment,
                code: "experiments",
                detail: "\(name): \(why)"
            )
        }
    }

    private func audit(
        _ why: String,
        _ experiment: String,
        _ now: Instant
    ) async throws(StorageError) {
        let entry = AuditEntry(
            .experimentStopped,
            customer: nil,
            actor: .server,
            why: why,
            at: now,
            name: "experiment\n\(experiment)"
        )
        let commitRequest = CommitRequest(
            app: app.id,
            environment: environment,
            audit: [entry],
            now: now
        )
        _ = try await context.commit(commitRequest)
    }
}

extension Service {
    /// Those of apps with experiments. Customers of a sandbox decide only for an app without
    /// production.
    var experimentWorkers: [ExperimentWorker] {
        eachPlace { context, environment in
            let app = context.app
            let decides = environment == .production || !app.environments.contains(.production)
            guard decides, !app.policy.experiments.isEmpty else { return nil }
            return ExperimentWorker(context: context, environment: environment, service: self)
        }
    }
}
